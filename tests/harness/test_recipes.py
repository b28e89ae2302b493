"""What an implementation says of itself cannot become code of a reproducer, or leave its folder."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.partition import Part
from harness.findings.folder import RunFolder
from harness.findings.recipes import Unsound, plain_name, sound
from impls.errors import ImplementationError
from impls.interface import About, Mode, Recipe
from tests.harness.hostile_plugin import HOSTILE
from tests.harness.samples import contract, participant

GOOD = Recipe(("tiktoken>=0.12",), "def encode(data):\n    return [1]\n", "v.tiktoken", b"abc")

BREAKING = (
    '"""\nimport os; os.mkdir("injected")\n"""'
    "'''\nimport os; os.mkdir('injected')\n'''"
    '")\nimport os; os.mkdir("injected")\n#\\'
    "{data}\x00\r\nimport os\n" + HOSTILE
)
"""Ends of every kind of string and of lines, and what would run after them."""


def test_a_sound_recipe_stays_as_it_is() -> None:
    assert sound(GOOD) == GOOD


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("requirements", ("x; import os",)),
        ("requirements", ("tiktoken\nimport os",)),
        ("requirements", ('x"""\nimport os',)),
        ("requirements", ("x @ https://example.org/\u202ea",)),
        ("requirements", ("--index-url=https://example.org",)),
        ("requirements", (1,)),
        ("requirements", "tiktoken"),
        ("code", ""),
        ("code", b"x = 1"),
        ("code", "x = ("),
        ("code", 'x = """'),
        ("code", "if True:"),
        ("code", "x = 1 \\"),
        # A form feed sets Python's count of the indentation to nought.
        ("code", "x = 1\n\fimport os"),
        ("code", "x = 1\r\nimport os"),
        ("code", "x = 1 # \u202e"),
        ("code", "x = 1 # \u2028"),
        ("code", "x = '\x00'"),
        ("artifact_name", 7),
        ("artifact", "text"),
    ],
)
def test_what_is_not_sound_is_refused(field: str, value: Any) -> None:
    with pytest.raises(Unsound) as raised:
        sound(replace(GOOD, **{field: value}))
    assert str(raised.value).isprintable()
    with pytest.raises(Unsound):
        sound(None)


def test_requirements_are_as_pep_508_writes_them() -> None:
    given = ("tokenizers >= 0.21 , < 1", "a@https://example.org/a.whl")
    written = ("tokenizers<1,>=0.21", "a @ https://example.org/a.whl")
    assert sound(replace(GOOD, requirements=given)).requirements == written


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("o200k.tiktoken", "o200k.tiktoken"),
        ("", ""),
        ("../../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("..", "vocabulary"),
        (".", "vocabulary"),
        ("a/", "vocabulary"),
        (".bashrc", "bashrc"),
        ("C:\\boot.ini", "boot.ini"),
        ("a\x00b\nc\u202ed", "a_b_c_d"),
        ("-rf", "rf"),
    ],
)
def test_a_name_is_a_plain_file_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_a_name_is_not_too_long() -> None:
    assert plain_name("a" * 1000 + ".model").endswith("aaa.model")
    assert len(plain_name("a" * 1000 + ".model")) == 100


class Hostile:
    """An implementation of which everything is hostile that it may say."""

    def __init__(self, name: str, recipe: Recipe | BaseException) -> None:
        self.about = About(name=name, version=BREAKING, homepage=BREAKING)
        self._recipe = recipe

    def supports(self, vocabulary: object, mode: Mode) -> str | None:
        return None

    def load(self, vocabulary: object) -> Any:
        raise NotImplementedError

    def recipe(self, vocabulary: object, mode: Mode) -> Recipe:
        if isinstance(self._recipe, BaseException):
            raise self._recipe
        return self._recipe


def terms(*implementations: Hostile, vocabulary: str | None = None) -> Contract:
    made = contract("toy_bytes", "tiktoken")
    few = tuple(
        replace(participant("tiktoken"), name=one.about.name, about=one.about, implementation=one)
        for one in implementations
    )
    changed = made.vocabulary if vocabulary is None else replace(made.vocabulary, id=vocabulary)
    return replace(made, participants=(*made.participants, *few), vocabulary=changed)


def found(*names: str) -> Violation:
    parts = (
        Part(("tiktoken",), Encoded((97,))),
        *(Part((name,), Failed(Status.ERRORED, BREAKING)) for name in names[:1]),
        *(Part((name,), Encoded((1,))) for name in names[1:]),
    )
    return Violation("equivalence", 0, b"a", parts, names, None)


def saved(out: Path, one: Violation, agreed: Contract, name: str = "f-1") -> Path:
    folder = RunFolder(out)
    path = folder.save_finding(name, one, agreed)
    folder.close()
    assert path is not None
    return out / path


def load_name(name: str) -> str:
    return f"wrong{name}{BREAKING}"


def test_a_script_has_nothing_but_what_it_should(tmp_path: Path) -> None:
    sly = replace(
        GOOD,
        artifact_name="../../../escaped",
        requirements=("x[a]>1; os_name=='\"'", 'y @ file:///$(touch`a`)\'"""'),
    )
    bad = replace(GOOD, requirements=('x"""\nimport os',))
    ones = [
        Hostile(load_name("1"), sly),
        Hostile(load_name("2"), bad),
        Hostile(load_name("3"), GOOD),
        Hostile("wrong-3", GOOD),
        Hostile("wrong.3", GOOD),
        Hostile(load_name("4"), SystemExit(BREAKING)),
    ]
    names = [one.about.name for one in ones]
    hostile = terms(*ones, vocabulary=f"../../{BREAKING}")
    path = saved(tmp_path / "out", found(*names), hostile)
    source = path.read_text(encoding="utf-8")

    assert source.isascii()
    assert all(char.isprintable() or char == "\n" for char in source)
    tree = ast.parse(source)
    kinds = [type(node).__name__ for node in tree.body]
    assert kinds[0] == "Expr"
    assert isinstance(tree.body[0], ast.Expr)
    assert isinstance(tree.body[0].value, ast.Constant)
    assert [ast.unparse(node) for node in tree.body if "Import" in type(node).__name__] == [
        "import os",
        "import pickle",
        "import signal",
        "import sys",
        "from pathlib import Path",
    ]
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) == len(set(functions))
    loaders = [name for name in functions if name.startswith("load_")]
    assert len(loaders) == len(names) + 1  # tokgate runs those whose recipes are not sound
    assert sorted(set(functions) - set(loaders)) == ["apart", "ask", "main", "shown"]
    assigned = [
        node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    assert assigned == ["HERE", "INPUT", "SECONDS", "RECORDED", "LIBRARIES"]
    assert kinds[-1] == "If"
    assert len(kinds) == 1 + 5 + len(functions) + len(assigned) + 1

    recorded = next(
        node.value for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RECORDED"
    )  # fmt: skip
    assert set(ast.literal_eval(recorded)) == {"tiktoken", *names}
    assert "it cannot be used (InvalidRequirement)" in source
    assert "failed to give a recipe: SystemExit" in source
    everything = {one.resolve() for one in tmp_path.rglob("*")}
    assert all((tmp_path / "out").resolve() in [one, *one.parents] for one in everything)
    assert not (tmp_path / "injected").exists()


def test_a_script_of_hostile_names_runs(tmp_path: Path) -> None:
    one, other = Hostile(load_name("1"), GOOD), Hostile(load_name("2"), GOOD)
    names = (one.about.name, other.about.name)
    path = saved(tmp_path / "out", found(*names), terms(one, other))
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1, done.stderr
    assert not (tmp_path / "injected").exists()


def test_alike_names_are_two_libraries(tmp_path: Path) -> None:
    one = Hostile("a-b", GOOD)
    other = Hostile("a.b", replace(GOOD, code="def encode(data):\n    return [2]\n"))
    path = saved(tmp_path / "out", found("a-b", "a.b"), terms(one, other))
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "a-b: [1]" in done.stdout
    assert "a.b: [2]" in done.stdout


def test_where_no_recipe_is_sound_tokgate_runs_it(tmp_path: Path) -> None:
    bad = Hostile("bad", replace(GOOD, code="x = ("))
    worse = Hostile("worse", RuntimeError(BREAKING))
    one = replace(found("bad", "worse"), check="survival", parts=found("bad", "worse").parts[1:])
    source = saved(tmp_path / "out", one, terms(bad, worse)).read_text(encoding="utf-8")
    assert source.count("registry.resolve('tiktoken')") == 2


@pytest.mark.thorough  # it loads every implementation
def test_the_recipes_of_all_registered_implementations_are_sound() -> None:
    """Those that have recipes pass, so that no reproducer is lost to the rules above."""
    from impls import registry
    from impls.interface import Reproducible

    made = 0
    for name in registry.registered():
        try:
            implementation = registry.resolve(name)
            if not isinstance(implementation, Reproducible):
                continue
            for source in ("tekken_240911", "unigram_nfkc", "mistral_v3", "toy_bytes"):
                vocabulary = contract(source).vocabulary
                if implementation.supports(vocabulary, Mode()) is None:
                    given = implementation.recipe(vocabulary, Mode())
                    assert sound(given).code == given.code
                    assert sound(given).artifact_name == given.artifact_name
                    made += 1
        except (ImportError, ImplementationError):
            continue
    assert made > 5
