"""What a plug-in says of itself cannot change what a reproducer does, nor where a run writes."""

import ast
from dataclasses import replace

import pytest

from harness.checks.base import Violation
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.partition import Part
from harness.findings.folder import RunFolder
from harness.findings.recipes import plain_name
from impls.interface import About, Recipe
from tests.harness.command import python
from tests.harness.samples import contract, participant

GOOD = Recipe(("x>=1",), "def encode(data):\n    return [1]\n", "v.json", b"{}")

BREAKING = "\"\"\"\n'''\\\n\u202e\u2066\u200b\x1b[2J\x0c\x00import os\nos.system('touch injected')#"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("o200k.tiktoken", "o200k.tiktoken"),
        ("../../../etc/passwd", "_.._.._etc_passwd"),
        ("/etc/passwd", "_etc_passwd"),
        ("..", "vocabulary"),
        (".bashrc", "bashrc"),
        ("C:\\boot.ini", "C__boot.ini"),
        ("a\x00b\nc\u202ed", "a_b_c_d"),
        ("-rf", "rf"),
        ("a" * 1000 + ".model", "a" * 94 + ".model"),
    ],
)
def test_a_name_is_a_plain_file_name(name, plain):
    assert plain_name(name) == plain


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
    assert isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    assert [ast.unparse(node) for node in body if "Import" in type(node).__name__] == [
        "import os",
        "import pickle",
        "import signal",
        "import sys",
        "from pathlib import Path",
    ]
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    loaders = [f"load_{number}" for number in range(1, len(ones) + 2)]
    assert functions == [*loaders, "shown", "ask", "apart", "main"]
    assigned = {
        ast.unparse(node.targets[0]): node.value for node in body if isinstance(node, ast.Assign)
    }
    assert [*assigned] == ["HERE", "INPUT", "SECONDS", "RECORDED", "LIBRARIES"]
    assert len(body) == 1 + 5 + len(functions) + len(assigned) + 1  # the last one calls main
    names = {one.about.name for one in ones}
    assert set(ast.literal_eval(assigned["RECORDED"])) == {"tiktoken", *names}
    # What has no recipe that can be used is run by tokgate.
    assert source.count("registry.resolve('tiktoken')") == 2
    for fault in ("SyntaxError", "SystemExit"):
        assert f"it failed to give a recipe: {fault}" in source
    everything = {one.resolve() for one in tmp_path.rglob("*")}
    assert all((tmp_path / "out").resolve() in [one, *one.parents] for one in everything)


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
