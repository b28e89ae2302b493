"""What a user can mend is one line on standard error and status 2 or 3, never a traceback."""

import base64
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from harness.cli import application as cli
from tests.doubles.command import tokgate

RANKS = b"".join(base64.b64encode(bytes([i])) + f" {i}\n".encode() for i in range(256))


Say = Callable[..., str]


@pytest.fixture
def line_of(tmp_path, monkeypatch, capsys):
    """The one line that the command says before it exits with a status (run in this process)."""
    monkeypatch.chdir(tmp_path)

    def line(status, *arguments):
        monkeypatch.setattr(sys, "argv", ["tokgate", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        said = capsys.readouterr().err
        assert exit_.value.code == status, said
        assert "Traceback" not in said
        lines = said.strip().splitlines()
        assert len(lines) == 1, said
        assert lines[0].startswith("tokgate: ")
        assert not (tmp_path / "tokgate-out" / "summary.json").exists()
        return lines[0]

    return line


def written(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


WHOLE = Path(str(sources.resolve("unigram_nfkc").source_path))
FILES = {
    "cut.tiktoken": RANKS[:-3],
    "corrupt.model": WHOLE.read_bytes()[: WHOLE.stat().st_size // 2],
    "noise.model": b"\xff" * 100,
    "tokenizer.json": b'{"model": {"type": "Letters", "vocab": {}}}',
    "known.toml": b'[[expected]]\nbuckets = "x"\n',
    "two.py": b"class Other: pass\nclass Mine:\n    def load(self, v): ...\n",
    "one.py": b"class Only: pass\n",
    "function.py": b"def encode(text): ...\n",
    "not_run.py": b"raise SystemExit('a file that is not run to look into it')\n",
    "broken.py": b"class Mine(:\n",
    "absent.py": b"import tokgate_absent_module\n",
    "program": b"#!/bin/sh\n",
    "file": b"",
}
PAIR = "--impl tiktoken --impl bpe.naive"
MINIMIZE = "minimize -i tiktoken -V toy_bytes"


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("run --vocab nowhere/o200k.tiktoken", 2, "nowhere/o200k.tiktoken"),
        ("run --vocab tekken_24091", 2, "tekken_240911"),
        ("run --vocab cut.tiktoken", 2, "cut.tiktoken"),
        ("run --vocab corrupt.model", 2, "corrupt.model"),
        ("run --vocab noise.model", 2, "noise.model"),
        ("run --vocab tokenizer.json", 2, "Letters"),
        ("run --impl tiktokn", 2, "did you mean 'tiktoken'?"),
        ("run --impl two.py", 2, "two.py:Mine'?"),
        ("run --impl one.py", 2, "one.py:Only'?"),
        ("run --impl function.py", 2, "function.py:encode'?"),
        ("run --impl not_run.py", 2, "not_run.py:NAME"),
        ("run --impl broken.py", 2, "cannot be read (invalid syntax"),
        ("run --impl ./program", 2, "'cmd:./program'"),
        ("run --impl ./nothing.py", 2, "no such file"),
        ("run --impl absent.py:Mine", 3, "fails to import"),
        ("run --impl cmd:/nowhere/encoder", 3, "/nowhere/encoder"),
        ("run --impl 'cmd:echo hello'", 3, "not JSON"),
        (f"run {PAIR} --budget soon", 2, "60s"),
        (f"run {PAIR} --check speed", 2, "equivalence"),
        (f"run {PAIR} --generator poems", 2, "repeats"),
        (f"run {PAIR} --reference rs-bpe", 2, "add --impl rs-bpe"),
        (f"run {PAIR} --expect nowhere.toml", 2, "nowhere.toml"),
        (f"run {PAIR} --expect known.toml", 2,
         "known.toml: expected entry 1: unknown field 'buckets'"),
        (f"run {PAIR} --out file", 2, "name a writable folder"),
        ("run --memory inf", 2, "--memory"),
        ("run --timeout inf", 2, "--timeout"),
        ("replay nowhere", 2, "name the --out folder of a run"),
        ("report nowhere", 2, "name the --out folder of a run"),
        ("report --format pdf", 2, "html"),
        ("report --baseline old", 2, "--format comment"),
        ("report nowhere --format comment --baseline old", 2, "nowhere"),
        (MINIMIZE, 2, "--text, --hex or --file"),
        (f"{MINIMIZE} --hex 6g", 2, "two digits a byte"),
        (f"{MINIMIZE} --file no", 2, "check the path"),
        ("preflight nowhere.model", 2, "nowhere.model"),
        ("site --ledger nowhere.db", 2, "no such file"),
        ("site --ledger nowhere.db --url javascript:alert(1)", 2, "not a web address"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(line, status, words, line_of, tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    if line.startswith("run ") and "--vocab" not in line:
        line += " --vocab toy_acbb"
    assert words in line_of(status, *shlex.split(line))


def test_debug_shows_the_traceback(tmp_path):
    path = written(tmp_path / "plugin.py", FILES["absent.py"])
    done = tokgate("run", "--vocab", "toy_acbb", "--impl", f"{path}:Mine", "--debug")
    assert done.returncode == 3
    assert "Traceback" in done.stderr
    assert "tokgate_absent_module" in done.stderr


@pytest.mark.parametrize("content", ["123", '{"event": "Found", "id": "f-1"}', "[]", "null", "{"])
def test_a_damaged_record(content, line_of, tmp_path):
    (tmp_path / "run").mkdir()
    path = written(tmp_path / "run" / "run.jsonl", content + "\n")
    for command in ("replay", "report"):
        line = line_of(2, command, str(tmp_path / "run"))
        assert path in line
        assert "damaged" in line


def test_an_implementation_that_fails_to_load_ends_with_status_3(tmp_path):
    source = """
from impls.interface import About
class Mine:
    about = About(name="mine", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): raise RuntimeError("no weights")
"""
    path = written(tmp_path / "plugin.py", source)
    impls = ("--impl", "tiktoken", "--impl", "bpe.naive", "--impl", f"{path}:Mine")
    checks = ("--check", "equivalence", "--budget", "50cases", "--generator", "edge")
    done = tokgate("run", "--vocab", "toy_acbb", *impls, *checks, folder=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "mine cannot run toy_acbb: RuntimeError: no weights" in done.stderr
    # Named by the user, it ends the run at once, and shows where its own code failed.
    assert "stopped: mine cannot load toy_acbb" in done.stderr
    assert 'raise RuntimeError("no weights")' in done.stderr
    assert "harness" not in done.stderr.partition("Traceback")[2]
    summary = json.loads((tmp_path / "tokgate-out" / "summary.json").read_text())
    assert summary["complete"] is False
    assert summary["verdict"] == "fail"
