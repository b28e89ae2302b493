"""Options from a file: which file, which value counts, and what a mistake in it says."""

import shutil

import pytest

from harness.cli import settings
from harness.cli.deferred import COMMANDS
from tests.doubles.command import here

RUN = COMMANDS["run"].loaded()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a folder in it, which is the working one."""
    (tmp_path / "part" / "deep").mkdir(parents=True)
    (tmp_path / "tiktoken").mkdir()  # also the name of an implementation
    for name in ("mine.py", "my.model", "a.jsonl", "b.jsonl", "program"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path / "part" / "deep")
    return tmp_path


def parsed(*words):
    """The options of ``tokgate run``, as the command gets them."""
    return RUN.make_context("run", list(words)).params


def test_the_command_line_goes_before_the_file_and_the_file_before_the_defaults(project, capsys):
    (project / "tokgate.toml").write_text(
        'vocab = ["a", "b"]\nimpl = "tiktoken"\nseed = 7\ntimeout = 3\nfail-fast = true\n'
    )
    given = parsed("--seed", "8", "--vocab", "c")
    chosen = {name: given[name] for name in ("vocab", "impl", "seed", "timeout", "fail_fast")}
    assert chosen == {
        "vocab": ["c"], "impl": ["tiktoken"], "seed": 8, "timeout": 3.0, "fail_fast": True
    }  # fmt: skip
    assert given["suite"] == "smoke"
    assert capsys.readouterr().err == (
        "options from ../../tokgate.toml: vocab, impl, seed, timeout, fail-fast\n"
    )


def test_paths_are_relative_to_the_file(project):
    (project / "tokgate.toml").write_text(
        'vocab = ["my.model#pattern=gpt2", "toy_bytes", "hf:org/name"]\n'
        'impl = ["tiktoken", "mine.py:Mine", "cmd:./program --serve", "my.module:Mine"]\n'
        'input = "*.jsonl#field=text"\nexpect = "known.toml"\nledger = "postgresql://host/db"\n'
    )
    given = parsed()
    assert given["vocab"] == ["../../my.model#pattern=gpt2", "toy_bytes", "hf:org/name"]
    assert given["impl"] == [
        "tiktoken", "../../mine.py:Mine", "cmd:../../program --serve", "my.module:Mine"
    ]  # fmt: skip
    assert given["texts"] == ["../../*.jsonl#field=text"]
    assert (str(given["expect"]), given["ledger"]) == ("../../known.toml", "postgresql://host/db")


def test_the_options_that_are_paths_are_known():
    paths = {
        option.removeprefix("--")
        for one in RUN.params
        for option in one.opts
        if one.type_descriptor.is_path
    }
    assert paths == settings.PATHS - {"ledger"}


def test_the_nearest_file_counts(project, monkeypatch):
    (project / "tokgate.toml").write_text("seed = 1\n")
    shared, own = (project / "part" / name for name in ("pyproject.toml", "tokgate.toml"))
    shared.write_text("[tool.ruff]\n")
    assert parsed()["seed"] == 1
    shared.write_text("[tool.tokgate]\nseed = 2\n")
    assert parsed()["seed"] == 2
    own.write_text("seed = 3\n")
    assert parsed()["seed"] == 3
    monkeypatch.setenv(settings.VARIABLE, str(shutil.copy(shared, project / "pyproject.toml")))
    assert parsed()["seed"] == 2
    monkeypatch.setenv(settings.VARIABLE, "")
    assert parsed()["seed"] == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fail_fast = true", "'fail_fast'; did you mean 'fail-fast'?"),
        ("vocabs = []", "did you mean 'vocab'?"),
        ("zzz = 1", "the keys are vocab, impl,"),
        ("fail-fast = 1", "fail-fast: expected `bool`, got `int`"),
        ('seed = "7"', "seed: expected `int`, got `str`"),
        ("seed = 7.5", "seed: expected `int`, got `float`"),
        ("budget = 60", "budget: expected `str`, got `int`"),
        ("vocab = [1]", "vocab[0]: expected `str`, got `int`"),
        ("impl = { a = 1 }", "impl: expected"),
        ('expect = ["a"]', "expect: expected `str`, got `array`"),
        ('suite = "fast"', "'suite'"),
        ("jobs = -1", "'jobs'"),
        ("[tool", "not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_with_file_and_key(line, words, project):
    (project / "tokgate.toml").write_text(f"{line}\n")
    done = here("run", "--impl", "nobody", folder=project / "part")
    assert done.returncode == 2
    assert done.stderr.startswith("tokgate: ../tokgate.toml: ")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert here("run", "--help", folder=project).returncode == 0  # help is never in the way
    assert here("list", "checks", folder=project).returncode == 0  # nor are other commands


def test_a_table_that_is_none_is_told(project):
    (project / "pyproject.toml").write_text("[tool]\ntokgate = 3\n")
    assert "write [tool.tokgate]" in here("run", folder=project).stderr
