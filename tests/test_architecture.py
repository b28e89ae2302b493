"""The rules of ARCHITECTURE.md: imports, the size of files, and what importing costs."""

import ast
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("corpora", "impls", "harness", "reports")
SOURCES = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
ALLOWED = {
    "corpora": {"corpora"},
    "impls": {"impls", "corpora.vocabularies"},
    "harness": {"harness", "impls", "corpora"},
    "reports": {
        "reports",
        "harness.events",
        "harness.verdict",
        "harness.checks",
        "harness.ledger.models",
        "harness.ledger.trends",
        "harness.studies.certify.results",
        "harness.studies.compare.results",
        "harness.studies.forced.counterexamples",
        "harness.studies.selftest.events",
        "harness.studies.worst.results",
        "impls",
        "corpora",
    },
}
HARNESS = (
    "core",
    "events",
    "verdict",
    "confinement",
    "cluster",
    "workers",
    "checks",
    "findings",
    "engine",
    "ledger",
    "studies",
    "cli",
)
"""The rooms of ``harness``: each may import those before it."""
LONGEST = 520
"""Lines: about 500, so that a file is read in one sitting."""


@cache
def parsed(source):
    """The syntax tree of a file's text."""
    return ast.parse(source)


def imported(path):
    """Full names of what a file imports, wherever in it."""
    for node in ast.walk(parsed(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def breaches(path):
    """Imports of our own packages that the rule forbids to this file."""
    name = path.relative_to(ROOT)
    allowed = set(ALLOWED[name.parts[0]])
    if name.parts[:2] == ("harness", "cli"):
        allowed.add("reports")
    found = []
    for module in imported(path):
        parts = module.split(".")
        prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
        # `from corpora import vocabularies` names the package on the way to what is allowed.
        on_the_way = any(rule.startswith(f"{module}.") for rule in allowed)
        if parts[0] in PACKAGES and not prefixes & allowed and not on_the_way:
            found.append(module)
    return found


def test_imports_run_one_way():
    assert {str(path): found for path in SOURCES if (found := breaches(path))} == {}


def module_name(path):
    """The dotted name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules():
    """All modules, each with those that it imports: a name in a module stands for the module."""
    names = {module_name(path): path for path in SOURCES}
    graph = {}
    for name, path in names.items():
        found = {one for one in imported(path) if one in names}
        # `from package import module` names the package on the way, and does not depend on it.
        on_the_way = {one.rpartition(".")[0] for one in found}
        graph[name] = found - on_the_way - {name}
    return graph


def circles(graph):
    """The sets of two and more that reach one another."""
    reached = {}
    for start in graph:
        seen = set()
        ahead = [*graph[start]]
        while ahead:
            one = ahead.pop()
            if one not in seen:
                seen.add(one)
                ahead += graph.get(one, ())
        reached[start] = seen
    together = {
        frozenset({one, *(other for other in reached[one] if one in reached.get(other, ()))})
        for one in graph
        if one in reached[one]
    }
    return [set(found) for found in together]


def rooms(graph, room):
    """The graph of rooms: a room imports what its files import."""
    found = {}
    for name, targets in graph.items():
        found.setdefault(room(name), set()).update(map(room, targets))
    return {name: targets - {name} for name, targets in found.items()}


def folder(name):
    """The room of a module: its folder; a file beside folders is a room of its own."""
    return name if (ROOT / name.replace(".", "/")).is_dir() else ".".join(name.split(".")[:-1])


def top(name):
    """The folder of ``harness``, ``impls`` and so on that a module is in."""
    parts = name.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 or folder(name) == name else name


def test_no_module_imports_itself_by_a_detour():
    assert circles(modules()) == []


def test_imports_run_one_way_between_rooms():
    assert circles(rooms(modules(), top)) == []


def test_the_rooms_of_the_harness_stand_in_order():
    place = {f"harness.{name}": number for number, name in enumerate(HARNESS)}
    wrong = {
        (room, other)
        for room, others in rooms(modules(), top).items()
        for other in others
        if room in place and place.get(other, -1) > place[room]
    }
    assert wrong == set()
    present = {
        path.name for path in (ROOT / "harness").iterdir() if (path / "__init__.py").exists()
    }
    assert present == set(HARNESS)


def test_a_file_is_read_in_one_sitting():
    lengths = {str(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def consoles(path):
    """Lines of a file that make a console of Rich's own, which shows text as it came."""
    return [
        node.lineno
        for node in ast.walk(parsed(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Console"
    ]


def test_all_that_is_printed_is_printed_on_a_display():
    assert {str(path): lines for path in SOURCES if (lines := consoles(path))} == {}


NAMED = {"mkdtemp", "mkstemp", "TemporaryDirectory", "NamedTemporaryFile", "mktemp"}
"""What makes temporary files that have a name, and so stay when their maker is killed."""

NAMING = {Path("corpora/vocabularies/scratch.py")}
"""The one place, whose files are swept."""


def named_temporaries(path):
    """The calls by which a file makes temporary files with names."""
    calls = (node for node in ast.walk(parsed(path.read_text())) if isinstance(node, ast.Call))
    return {ast.unparse(one.func).rpartition(".")[2] for one in calls} & NAMED


def test_temporary_files_are_made_where_they_are_swept():
    named = {path.relative_to(ROOT) for path in SOURCES if named_temporaries(path)}
    assert named == NAMING


RUNNING = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "multiprocessing"}
"""Modules whose data runs code when it is read, or whose pipes carry such data."""

UNPICKLING = {
    Path("harness/workers/wire.py"): ["pickle.loads"],  # in a worker, what the harness wrote
    Path("harness/workers/server.py"): ["pickle.loads"],  # likewise: the vocabulary
    Path("harness/workers/nursery.py"): ["pickle.load"],  # likewise: the worker to be begun
}
"""Where the harness's code reads a pickle: nowhere in the harness itself."""

READERS = {"harness", "reports"}
"""The packages that run in the harness's own process."""


def unpickling(path):
    """What a file does by which data from elsewhere might run, wherever in it."""
    found = []
    for node in ast.walk(parsed(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in RUNNING:
            found.append(f"from {node.module}")
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found += [n for n in names if n.split(".")[0] in RUNNING - {"pickle"}]
            found += [alias.name for alias in node.names if alias.name == "pickle" and alias.asname]
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            found.append("allow_pickle")
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pickle":
            harmless = node.attr.startswith(("dump", "HIGHEST"))
            found += [] if harmless else [f"pickle.{node.attr}"]
    return found


def test_nothing_that_comes_from_elsewhere_is_unpickled():
    named = {path.relative_to(ROOT): path for path in SOURCES}
    reading = {name: unpickling(path) for name, path in named.items() if name.parts[0] in READERS}
    assert {name: found for name, found in reading.items() if found} == UNPICKLING


@pytest.mark.parametrize(
    ("rule", "line", "found"),
    [
        (breaches, "import json\nfrom harness import cli\nimport corpora.generators.base",
         ["harness", "harness.cli", "corpora.generators.base"]),
        (consoles, "import rich\nrich.console.Console(stderr=True).print('x')", [2]),
        (named_temporaries, "def f() -> tempfile.TemporaryDirectory: ...", set()),
        (named_temporaries, "mkdtemp()\ntempfile.NamedTemporaryFile()",
         {"mkdtemp", "NamedTemporaryFile"}),
        (unpickling, "import pickle, marshal\npickle.dumps(1)\npickle.loads(b'')",
         ["marshal", "pickle.loads"]),
        (unpickling, "import pickle as p\nfrom multiprocessing import connection",
         ["pickle", "from multiprocessing"]),
        (unpickling, "pickle.Unpickler\nnumpy.load('x', allow_pickle=True)",
         ["pickle.Unpickler", "allow_pickle"]),
    ],
)  # fmt: skip
def test_each_rule_can_be_broken(
    rule,
    line,
    found,
    tmp_path,
    monkeypatch,
):
    wrong = tmp_path / "impls" / "wrong.py"
    wrong.parent.mkdir()
    wrong.write_text(line)
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert rule(wrong) == found
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]


def test_importing_compiles_nothing():
    code = (
        "import sys, harness.cli.application, harness.studies.default, impls.registry as r;"
        "import harness.testing;"
        "[r.resolve(name).about for name in r.registered()];"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


FAST = "impls.fast"
"""The room of all that is there for speed alone (rule 8 of the design)."""


def test_only_the_rows_of_the_roster_lead_to_what_is_fast():
    """The rows name their modules as text, so that no import leads there."""
    found = {
        name: fast
        for name, targets in modules().items()
        if not name.startswith(FAST) and (fast := {one for one in targets if one.startswith(FAST)})
    }
    assert found == {}


HEALING = """
from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies.sources import resolve
from impls.forced.exact import Exact
from impls.forced.interface import Context
from impls.forced.piece_tokenizer import PieceTokenizer
from impls.forced.tokenizer import Tokenizer
for name in ("toy_bytes", "tekken_240911", "mistral_v1", "unigram_nfkc"):
    vocabulary = resolve(name)
    tokenizer = (PieceTokenizer if vocabulary.pieces else Tokenizer)(vocabulary)
    context = Context(b"the ", tokenizer.encode(b"the "))
    grammar = FiniteLanguage([b"Id", b"Name 1"])
    healed = Exact(tokenizer).heal(context, b"order", grammar)
    print(name, healed.ids, healed.leftover)
"""
"""Lets the exact policy decide something."""

RUNNING_ALONE = """
import sys
from harness.cli.application import main
sys.argv[1:] = "run --vocab toy_bytes --check equivalence --budget 200cases --out out".split()
main()
"""


@pytest.mark.thorough  # programs that compile what they use
def test_without_what_is_fast_everything_is_what_it_is(tmp_path):
    """A copy of the tree without the room: nothing fails but what names it."""
    for name in (*PACKAGES, "tests"):
        skipped = shutil.ignore_patterns("__pycache__", "fast" if name == "impls" else "")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=skipped)
    assert not (tmp_path / "impls" / "fast").exists()

    def printed(code, tree):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tree)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr
        return done.stdout

    printed(RUNNING_ALONE, tmp_path)
    healed = printed(HEALING, tmp_path)
    assert len(healed.splitlines()) == 4
    assert healed == printed(f"import sys; sys.path.remove('')\n{HEALING}", ROOT)
