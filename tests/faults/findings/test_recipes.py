"""What a plug-in says of itself cannot change what a reproducer does, nor where a run writes."""

import ast
import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.checks.base import Violation
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.partition import Part
from harness.findings.folder import RunFolder
from harness.findings.recipes import plain_name
from impls.interface import About, Recipe
from tests.doubles.command import python
from tests.doubles.samples import contract, participant

GOOD = Recipe(("x>=1",), "def encode(data):\n    return [1]\n", "v.json", b"{}")

BREAKING = "\"\"\"\n'''\\\n\u202e\u2066\u200b\x1b[2J\x0c\x00import os\nos.system('touch injected')#"


@given(st.text() | st.sampled_from(("../../etc/passwd", "..", "-rf", "a" * 1000 + ".model")))
def test_a_name_is_a_plain_file_name_with_the_end_that_it_had(name):
    plain = plain_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", plain)
    assert plain == "vocabulary" or re.sub(r"[^A-Za-z0-9._-]", "_", name).endswith(plain)
    assert plain_name(plain) == plain


class Hostile:
    """An implementation of which everything is hostile that it may say."""

    def __init__(self, name, recipe):
        self.about = About(name=name, version=BREAKING, homepage=BREAKING)
        self._recipe = recipe

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        raise NotImplementedError

    def recipe(self, vocabulary, mode):
        if isinstance(self._recipe, BaseException):
            raise self._recipe
        return self._recipe


def saved(out, *ones, vocabulary="toy_bytes"):
    """The reproducer of a disagreement between tiktoken and these."""
    made = contract("toy_bytes", "tiktoken")
    few = tuple(
        replace(participant("tiktoken"), name=one.about.name, about=one.about, implementation=one)
        for one in ones
    )
    terms = replace(
        made,
        participants=(*made.participants, *few),
        vocabulary=replace(made.vocabulary, id=vocabulary),
    )
    names = tuple(one.about.name for one in ones)
    parts = (
        Part(("tiktoken",), Encoded((97,))),
        Part(names[:1], Failed(Status.ERRORED, BREAKING)),
        *(Part((name,), Encoded((1,))) for name in names[1:]),
    )
    folder = RunFolder(out)
    path = folder.save_finding("f-1", Violation("equivalence", 0, b"a", parts, names, None), terms)
    folder.close()
    return out / str(path)


def load_name(name):
    return f"wrong{name}{BREAKING}"


def test_a_script_has_nothing_but_what_it_should(tmp_path):
    sly = replace(
        GOOD,
        artifact_name="../../../escaped",
        requirements=("x[a]>1; os_name=='\"'", 'x"""\nimport os'),
    )
    ones = [
        Hostile(load_name("1"), sly),
        Hostile(load_name("2"), replace(GOOD, code="x = (")),
        Hostile(load_name("3"), GOOD),
        Hostile("wrong-3", GOOD),
        Hostile("wrong.3", GOOD),
        Hostile(load_name("4"), SystemExit(BREAKING)),
    ]
    path = saved(tmp_path / "out", *ones, vocabulary=f"../../{BREAKING}")
    source = path.read_text(encoding="utf-8")

    assert source.isascii()
    assert all(char.isprintable() or char == "\n" for char in source)
    body = ast.parse(source).body
    plain = ast.parse(saved(tmp_path / "plain", Hostile("mine", GOOD)).read_text()).body

    def outline(nodes):
        """What a script imports, defines and does, but for who is loaded."""
        kinds = [type(node).__name__ for node in nodes if not isinstance(node, ast.FunctionDef)]
        names = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
        imports = [ast.unparse(node) for node in nodes if "Import" in type(node).__name__]
        return kinds, imports, [name for name in names if not name.startswith("load_")]

    assert outline(body) == outline(plain)
    assert len(body) - len(plain) == len(ones) - 1
    [recorded] = [n for n in body if ast.unparse(n).startswith("RECORDED = ")]
    names = {one.about.name for one in ones}
    assert set(ast.literal_eval(recorded.value)) == {"tiktoken", *names}
    # What has no recipe that can be used is run by tokgate.
    assert source.count("registry.resolve('tiktoken')") == 2
    for fault in ("SyntaxError", "SystemExit"):
        assert f"it failed to give a recipe: {fault}" in source
    assert {one.name for one in tmp_path.iterdir()} == {"out", "plain"}


def test_scripts_of_hostile_and_of_like_names_run(tmp_path):
    other = replace(GOOD, code="def encode(data):\n    return [2]\n")
    for names in ((load_name("1"), load_name("2")), ("a-b", "a.b")):
        ones = (Hostile(name, recipe) for name, recipe in zip(names, (GOOD, other), strict=True))
        path = saved(tmp_path / f"out{len(names[0])}", *ones)
        done = python(str(path), folder=tmp_path)
        assert done.returncode == 1, done.stderr
        assert not (tmp_path / "injected").exists()
    assert "a-b: [1]" in done.stdout
    assert "a.b: [2]" in done.stdout
