"""Reproducers run with the libraries alone, and their exit status says whether it still shows."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.participants import Participant
from harness.core.partition import Part
from harness.findings.folder import RunFolder
from impls import registry
from impls.interface import Mode
from tests.harness.samples import contract, encoded, violation

TEXT = Mode(pretokenize=True)
ROOT = Path(__file__).parents[2]

# Runs a script where nothing of this project can be imported.
ALONE = """
import runpy, sys
for name in ("harness", "impls", "corpora", "reports"):
    sys.modules[name] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run_alone(out: Path, found: Violation, terms: Contract) -> subprocess.CompletedProcess[str]:
    folder = RunFolder(out)
    path = folder.save_finding("f-test", found, terms)
    folder.close()
    assert path is not None
    return subprocess.run(
        [sys.executable, "-c", ALONE, str(out / path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=out.parent,
    )


def test_a_disagreement_that_shows(tmp_path: Path) -> None:
    terms = contract("unigram_nfkc", "sentencepiece", "tokenizers", mode=TEXT)
    data = b"<s>"
    one, other = (encoded(terms, name, data) for name in terms.names)
    assert one != other  # one of the shipped expectations
    found = violation("equivalence", data, ("sentencepiece", one), ("tokenizers", other))
    done = run_alone(tmp_path / "out", found, terms)
    assert done.returncode == 1, done.stderr
    assert "they differ" in done.stdout
    assert "input: b'<s>'" in done.stdout


def test_a_disagreement_that_is_gone(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tiktoken", "tokenizers")
    found = violation(
        "equivalence", b"\x00 the", ("tiktoken", Encoded((1,))), ("tokenizers", Encoded((2,)))
    )
    done = run_alone(tmp_path / "out", found, terms)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the finding is gone" in done.stdout


def run_here(out: Path, found: Violation, terms: Contract) -> subprocess.CompletedProcess[str]:
    """As a user runs it who has tokgate installed, from another folder."""
    folder = RunFolder(out)
    path = folder.save_finding("f-test", found, terms)
    folder.close()
    assert path is not None
    elsewhere = out.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, str(out / path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


PLUG_IN = """
import os, sys
from impls.interface import About, Mode
from impls.registry import resolve


class Mine:
    about = About(name="mine", version="1.0")

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        right = resolve("tiktoken").load(vocabulary)

        class Encoder:
            def encode(self, data, mode):
                {act}
                return right.encode(data, mode)[::-1]

        {loading}
        return Encoder()
"""


def plugged(tmp_path: Path, act: str = "pass", loading: str = "pass") -> Contract:
    """tiktoken and the user's plug-in on a toy, as a run in the plug-in's folder has them."""
    (tmp_path / "mine.py").write_text(PLUG_IN.format(act=act, loading=loading))
    terms = contract("toy_bytes", "tiktoken")
    spec = f"{tmp_path}/mine.py:Mine"
    mine = registry.resolve(spec)
    member = Participant("mine", spec, mine.about, mine)
    return replace(terms, participants=(*terms.participants, member))


def disagreement(data: bytes = b"the cat") -> Violation:
    """Whose recorded ids are nobody's: what proves something is asked again."""
    return violation("equivalence", data, ("tiktoken", Encoded((1,))), ("mine", Encoded((2,))))


def test_a_plug_in_is_run_from_any_folder_and_decides(tmp_path: Path) -> None:
    terms = plugged(tmp_path)
    done = run_here(tmp_path / "out", disagreement(), terms)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "they differ" in done.stdout
    text = (tmp_path / "mine.py").read_text().replace("[::-1]", "")
    (tmp_path / "mine.py").write_text(text)
    again = run_here(tmp_path / "out", disagreement(), terms)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "the finding is gone" in again.stdout
    assert "recorded of mine: [2]" in again.stdout


@pytest.mark.parametrize("loading", ["raise ValueError('no such table')", "os._exit(3)"])
def test_what_does_not_load_says_so_and_proves_nothing(loading: str, tmp_path: Path) -> None:
    terms = plugged(tmp_path, loading=loading)
    done = run_here(tmp_path / "out", disagreement(), terms)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "mine: cannot be loaded" in done.stdout
    assert "they differ" not in done.stdout


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("os.abort()", "SIGABRT"),
        ("os._exit(7)", "exit status 7"),
        ("raise IndexError('out of range')", "IndexError: out of range"),
    ],
)
def test_a_crash_has_a_reproducer_which_survives_it(act: str, said: str, tmp_path: Path) -> None:
    terms = plugged(tmp_path, act=act)
    found = Violation(
        "survival", 0, b"the", (Part(("mine",), Failed(Status.CRASHED, "dead")),), ("mine",), None
    )
    done = run_here(tmp_path / "out", found, terms)
    assert done.returncode == 1, done.stdout + done.stderr
    assert said in done.stdout
    assert "it fails" in done.stdout


def test_a_program_is_run_again(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tiktoken")
    spec = f"cmd:{sys.executable} {ROOT / 'impls' / 'examples' / 'stdio_encoder.py'}"
    made = registry.resolve(spec)
    terms = replace(
        terms, participants=(*terms.participants, Participant("mine", spec, made.about, made))
    )
    done = run_here(tmp_path / "out", disagreement(), terms)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the finding is gone" in done.stdout


def test_without_tokgate_what_it_would_run_is_missing(tmp_path: Path) -> None:
    done = run_alone(tmp_path / "out", disagreement(), plugged(tmp_path))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "mine: not installed: impls" in done.stdout


def test_no_line_of_a_script_is_long(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tiktoken", "bpe.naive")
    many = tuple(range(100, 200)) * 30
    data = bytes(range(256)) * 40
    parts = ("tiktoken", Encoded((1,), text=data)), ("bpe.naive", Encoded(many, text=data[1:]))
    for number, check in enumerate(("equivalence", "round-trip")):
        folder = RunFolder(tmp_path / str(number))
        path = folder.save_finding(
            "f-test", violation(check, data, *parts[:: 1 - 2 * number]), terms
        )
        folder.close()
        lines = (tmp_path / str(number) / str(path)).read_text().splitlines()
        # A message of 200 bytes stands in one line, each byte as four signs at most.
        assert max(map(len, lines)) < 1_000, check


def test_a_panic_that_shows_and_one_that_is_gone(tmp_path: Path) -> None:
    terms = contract("toy_acbb", "tiktoken")
    crash = Failed(Status.CRASHED, "a panic")
    done = run_alone(tmp_path / "one", violation("survival", b"zq", ("tiktoken", crash)), terms)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "it fails" in done.stdout
    done = run_alone(tmp_path / "two", violation("survival", b"ab", ("tiktoken", crash)), terms)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_answer_that_is_stable_after_all(tmp_path: Path) -> None:
    terms = contract("toy_acbb", "tiktoken")
    parts = (
        Part(("tiktoken (alone)",), Encoded((5,))),
        Part(("tiktoken (in a batch)",), Encoded((0, 1))),
    )
    found = Violation("determinism", 0, b"ab", parts, ("tiktoken",), "order")
    done = run_alone(tmp_path / "out", found, terms)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 different answers in 1,000 calls" in done.stdout


@pytest.mark.parametrize("data", [b'"""\\', b"\\N{x}'''", "\u202e\u0000\ud7ff".encode(), b"\xff"])
def test_odd_inputs_and_messages_do_not_break_the_script(data: bytes, tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tiktoken", "bpe.naive")
    failed = Failed(Status.ERRORED, f'"""{data!r}\\\n\\u')
    found = violation("survival", data, ("tiktoken", failed), stage='"""')
    done = run_alone(tmp_path / "out", found, terms)
    assert done.returncode == 0, done.stderr


def test_a_missing_library_is_said(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tiktoken", "bpe.naive")
    found = violation(
        "equivalence", b"the", ("tiktoken", Encoded((265,))), ("bpe.naive", Encoded((1, 2)))
    )
    folder = RunFolder(tmp_path / "out")
    path = folder.save_finding("f-test", found, terms)
    folder.close()
    guard = ALONE.replace('"harness"', '"tiktoken", "harness"')
    done = subprocess.run(
        [sys.executable, "-c", guard, str(tmp_path / "out" / str(path))],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "tiktoken: not installed: tiktoken" in done.stdout


@pytest.mark.parametrize(("token_id", "shows"), [(-1, 1), (131_072, 0)])
def test_a_single_id_that_decodes_to_another_token(
    token_id: int, shows: int, tmp_path: Path
) -> None:
    """Refused with an error, it is gone: that is no text of another token."""
    terms = contract("tekken_240911", "mistral-common", mode=TEXT)
    none, wrong = (Encoded((token_id,), text=text) for text in (b"", b"<SPECIAL_999>"))
    parts = (Part(("no token's id",), none), Part(("mistral-common",), wrong))
    found = Violation("single-ids", 0, b"", parts, ("mistral-common",), "unknown-id")
    done = run_alone(tmp_path / "out", found, terms)
    assert done.returncode == shows, done.stdout + done.stderr
    assert ("another text" in done.stdout) is bool(shows)


def test_a_question_that_no_recipe_has_is_asked_by_a_replay(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tokenizers")
    parts = (Part(("encode",), Encoded((1, 5))), Part(("tokenizers",), Encoded((1, 6))))
    folder = RunFolder(tmp_path / "out")
    found = Violation("truncation", 0, b"a", parts, ("tokenizers",), "truncation")
    path = folder.save_finding("f-test", found, terms)
    folder.close()
    source = (tmp_path / "out" / str(path)).read_text()
    assert "replay" in source
    assert "RECORDED" not in source
    done = run_here(tmp_path / "out", found, terms)  # a folder without the record of a run
    assert done.returncode == 2, done.stdout + done.stderr
