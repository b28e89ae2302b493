"""Reproducers run with the libraries alone, and their exit status says whether it still shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.partition import Part
from harness.findings.folder import RunFolder
from impls.interface import Mode
from tests.harness.samples import contract, encoded, violation

TEXT = Mode(pretokenize=True)

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


def test_who_has_no_recipe_stands_with_what_was_recorded(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tiktoken", "bpe.naive")
    found = violation(
        "equivalence", b"the", ("tiktoken", Encoded((265,))), ("bpe.naive", Encoded((1, 2)))
    )
    done = run_alone(tmp_path / "out", found, terms)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "bpe.naive (as recorded): [1, 2]" in done.stdout
    assert "tiktoken: [265]" in done.stdout


def test_a_long_answer_that_was_recorded_is_compared_as_far_as_it_goes(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tiktoken", "bpe.naive")
    data = b"z" * 700
    right = encoded(terms, "bpe.naive", data)
    assert isinstance(right, Encoded)
    assert len(right.ids) > 600
    found = violation("equivalence", data, ("tiktoken", Encoded((1,))), ("bpe.naive", right))
    done = run_alone(tmp_path / "out", found, terms)
    assert done.returncode == 0, done.stdout + done.stderr


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
    assert "tiktoken: not installed" in done.stdout


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


def test_what_a_recipe_cannot_ask_has_no_reproducer(tmp_path: Path) -> None:
    terms = contract("toy_bytes", "tokenizers")
    parts = (Part(("encode",), Encoded((1, 5))), Part(("tokenizers",), Encoded((1, 6))))
    folder = RunFolder(tmp_path / "out")
    found = Violation("truncation", 0, b"a", parts, ("tokenizers",), "truncation")
    assert folder.save_finding("f-test", found, terms) is None
    folder.close()
