"""What a user can mend is one line on standard error and status 2 or 3, never a traceback."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from harness.cli import application as cli
from tests.harness.command import tokgate

RANKS = b"".join(base64.b64encode(bytes([i])) + f" {i}\n".encode() for i in range(256))


Say = Callable[..., str]


@pytest.fixture
def line_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Say:
    """The one line that the command says before it exits with a status (run in this process)."""
    monkeypatch.chdir(tmp_path)

    def line(status: int, *arguments: str) -> str:
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


def written(path: Path, content: bytes | str) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_a_missing_file(line_of: Say) -> None:
    line = line_of(2, "run", "--vocab", "nowhere/o200k.tiktoken")
    assert "nowhere/o200k.tiktoken" in line


def test_an_unknown_vocabulary(line_of: Say) -> None:
    assert "tekken_240911" in line_of(2, "run", "--vocab", "tekken_24091")


def test_a_truncated_rank_file(line_of: Say, tmp_path: Path) -> None:
    path = written(tmp_path / "cut.tiktoken", RANKS[:-3])
    assert "cut.tiktoken" in line_of(2, "run", "--vocab", path)


def test_a_corrupt_model(line_of: Say, tmp_path: Path) -> None:
    whole = Path(str(sources.resolve("unigram_nfkc").source_path)).read_bytes()
    path = written(tmp_path / "corrupt.model", whole[: len(whole) // 2])
    assert "corrupt.model" in line_of(2, "run", "--vocab", path)
    path = written(tmp_path / "noise.model", b"\xff" * 100)
    assert "noise.model" in line_of(2, "run", "--vocab", path)


def test_an_unsupported_type_of_tokenizer_json(line_of: Say, tmp_path: Path) -> None:
    path = written(
        tmp_path / "tokenizer.json", json.dumps({"model": {"type": "Letters", "vocab": {}}})
    )
    assert "Letters" in line_of(2, "run", "--vocab", path)


def test_an_unknown_implementation(line_of: Say) -> None:
    line = line_of(2, "run", "--vocab", "toy_acbb", "--impl", "tiktokn")
    assert "did you mean 'tiktoken'?" in line


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("class Other: pass\nclass Mine:\n    def load(self, v): ...\n", "mine.py:Mine'?"),
        ("class Only: pass\n", "mine.py:Only'?"),
        ("def encode(text): ...\n", "mine.py:encode'?"),
        ("raise SystemExit('a file that is not run to look into it')\n", "mine.py:NAME"),
        ("class Mine(:\n", "cannot be read (invalid syntax"),
    ],
)
def test_a_file_without_the_name_in_it(
    source: str, hint: str, line_of: Say, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(source)
    assert hint in line_of(2, "run", "--impl", f"{tmp_path}/mine.py")


def test_a_path_that_is_no_python_file(line_of: Say, tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n")
    assert f"'cmd:{tmp_path}/program'" in line_of(2, "run", "--impl", f"{tmp_path}/program")
    assert "no such file" in line_of(2, "run", "--impl", f"{tmp_path}/nothing.py")


def test_a_plugin_that_fails_to_import(line_of: Say, tmp_path: Path) -> None:
    path = written(tmp_path / "plugin.py", "import tokgate_absent_module\n")
    arguments = ("run", "--vocab", "toy_acbb", "--impl", f"{path}:Mine")
    assert "fails to import" in line_of(3, *arguments)


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    path = written(tmp_path / "plugin.py", "import tokgate_absent_module\n")
    done = tokgate("run", "--vocab", "toy_acbb", "--impl", f"{path}:Mine", "--debug")
    assert done.returncode == 3
    assert "Traceback" in done.stderr
    assert "tokgate_absent_module" in done.stderr


def test_a_program_that_is_not_there_or_says_nothing_of_use(line_of: Say) -> None:
    line = line_of(3, "run", "--vocab", "toy_acbb", "--impl", "cmd:/nowhere/encoder")
    assert "/nowhere/encoder" in line
    line = line_of(3, "run", "--vocab", "toy_acbb", "--impl", "cmd:echo hello")
    assert "not JSON" in line


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--budget", "soon", "60s"),
        ("--check", "speed", "equivalence"),
        ("--generator", "poems", "repeats"),
        ("--reference", "rs-bpe", "add --impl rs-bpe"),
        ("--expect", "nowhere.toml", "nowhere.toml"),
    ],
)
def test_an_option_that_means_nothing(option: str, value: str, words: str, line_of: Say) -> None:
    impls = ("--impl", "tiktoken", "--impl", "bpe.naive")
    line = line_of(2, "run", "--vocab", "toy_acbb", *impls, option, value)
    assert value in line
    assert words in line


@pytest.mark.parametrize("option", ["--memory", "--timeout"])
def test_a_limit_without_an_end(option: str, line_of: Say) -> None:
    assert option in line_of(2, "run", "--vocab", "toy_acbb", option, "inf")


@pytest.mark.parametrize("content", ["123", '{"event": "Found", "id": "f-1"}', "[]", "null", "{"])
def test_a_damaged_record(content: str, line_of: Say, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    path = written(tmp_path / "run" / "run.jsonl", content + "\n")
    for command in ("replay", "report"):
        line = line_of(2, command, str(tmp_path / "run"))
        assert path in line
        assert "damaged" in line


def test_an_expectations_file_at_fault(line_of: Say, tmp_path: Path) -> None:
    path = written(tmp_path / "known.toml", '[[expected]]\nbuckets = "x"\n')
    line = line_of(2, "run", "--vocab", "toy_acbb", "--expect", path)
    assert "known.toml: expected entry 1: unknown field 'buckets'" in line


def test_an_output_folder_that_cannot_be(line_of: Say, tmp_path: Path) -> None:
    path = written(tmp_path / "file", "")
    impls = ("--impl", "tiktoken", "--impl", "bpe.naive")
    line = line_of(2, "run", "--vocab", "toy_acbb", *impls, "--out", path)
    assert "name a writable folder" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("replay", "nowhere"), "name the --out folder of a run"),
        (("report", "nowhere"), "name the --out folder of a run"),
        (("report", "--format", "pdf"), "html"),
        (("minimize", "-i", "tiktoken", "-V", "toy_bytes"), "--text, --hex or --file"),
        (("minimize", "-i", "tiktoken", "-V", "toy_bytes", "--hex", "6g"), "two digits a byte"),
        (("minimize", "-i", "tiktoken", "-V", "toy_bytes", "--file", "no"), "check the path"),
        (("preflight", "nowhere.model"), "nowhere.model"),
    ],
)
def test_the_other_commands(arguments: tuple[str, ...], words: str, line_of: Say) -> None:
    assert words in line_of(2, *arguments)


def test_an_implementation_that_fails_to_load_ends_with_status_3(tmp_path: Path) -> None:
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
    assert "ended at once, as mine cannot load toy_acbb" in done.stderr
    assert 'raise RuntimeError("no weights")' in done.stderr
    assert "harness" not in done.stderr.partition("Traceback")[2]
    summary = json.loads((tmp_path / "tokgate-out" / "summary.json").read_text())
    assert summary["complete"] is False
    assert summary["verdict"] == "fail"
