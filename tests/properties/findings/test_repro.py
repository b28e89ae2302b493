"""Reproducers run with the libraries alone, and their exit status says whether it still shows."""

import sys
from dataclasses import replace

import pytest

from harness.core.outcomes import Encoded, Failed, Status
from harness.core.participants import Participant
from harness.findings.folder import RunFolder
from impls import registry
from impls.interface import Mode
from tests.breadth import thorough_from
from tests.doubles.command import ROOT, python
from tests.doubles.samples import contract, encoded, violation

TEXT = Mode(pretokenize=True)

ALONE = """
import runpy, sys
for name in {missing}:
    sys.modules[name] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script where these cannot be imported."""

OURS = ("harness", "impls", "corpora", "reports")


def written(out, found, terms):
    folder = RunFolder(out)
    path = folder.save_finding("f-test", found, terms)
    folder.close()
    return out / str(path)


def ran(status, out, found, terms, missing=OURS):
    """What a script says that ends with a status. missing: None where tokgate is installed."""
    code = [] if missing is None else ["-c", ALONE.format(missing=tuple(missing))]
    done = python(*code, str(written(out, found, terms)), folder=out.parent)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_a_disagreement_that_shows(tmp_path):
    names = ("sentencepiece", "tokenizers")
    terms = contract("unigram_nfkc", *names, mode=TEXT)
    one, other = (encoded(terms, name, b"<s>") for name in names)
    assert one != other  # one of the shipped expectations
    found = violation("equivalence", b"<s>", (names[0], one), (names[1], other))
    said = ran(1, tmp_path / "out", found, terms)
    assert "they differ" in said
    assert "input: b'<s>'" in said


def test_a_disagreement_that_is_gone_and_a_library_that_is_missing(tmp_path):
    terms = contract("toy_bytes", "tiktoken", "tokenizers")
    wrong = ("tiktoken", Encoded((1,))), ("tokenizers", Encoded((2,)))
    found = violation("equivalence", b"\x00 the", *wrong)
    assert "the finding is gone" in ran(0, tmp_path / "out", found, terms)
    said = ran(2, tmp_path / "without", found, terms, [*OURS, "tiktoken"])
    assert "tiktoken: not installed: tiktoken" in said


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


def joined(spec):
    """tiktoken and the user's own on a toy."""
    terms = contract("toy_bytes", "tiktoken")
    mine = registry.resolve(spec)
    member = Participant("mine", spec, mine.about, mine)
    return replace(terms, participants=(*terms.participants, member))


def plugged(tmp_path, act="pass", loading="pass"):
    """As a run in the plug-in's folder has them."""
    (tmp_path / "mine.py").write_text(PLUG_IN.format(act=act, loading=loading))
    return joined(f"{tmp_path}/mine.py:Mine")


DISAGREEMENT = violation(
    "equivalence", b"the cat", ("tiktoken", Encoded((1,))), ("mine", Encoded((2,)))
)
"""Its recorded ids are nobody's: what proves something is asked again."""


def test_a_plug_in_is_run_from_any_folder_and_decides(tmp_path):
    terms = plugged(tmp_path)
    assert "they differ" in ran(1, tmp_path / "out", DISAGREEMENT, terms, None)
    assert "mine: not installed: impls" in ran(2, tmp_path / "alone", DISAGREEMENT, terms)
    text = (tmp_path / "mine.py").read_text().replace("[::-1]", "")
    (tmp_path / "mine.py").write_text(text)
    again = ran(0, tmp_path / "out", DISAGREEMENT, terms, None)
    assert "the finding is gone" in again
    assert "recorded of mine: [2]" in again


@pytest.mark.parametrize("loading", ["raise ValueError('no such table')", "os._exit(3)"])
def test_what_does_not_load_says_so_and_proves_nothing(loading, tmp_path):
    said = ran(2, tmp_path / "out", DISAGREEMENT, plugged(tmp_path, loading=loading), None)
    assert "mine: cannot be loaded" in said
    assert "they differ" not in said


def test_a_program_is_run_again(tmp_path):
    spec = f"cmd:{sys.executable} {ROOT / 'impls' / 'examples' / 'stdio_encoder.py'}"
    assert "the finding is gone" in ran(0, tmp_path / "out", DISAGREEMENT, joined(spec), None)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("os.abort()", "SIGABRT"),
        ("os._exit(7)", "exit status 7"),
        ("raise IndexError('out of range')", "IndexError: out of range"),
        ("pass", ""),
    ],
)
def test_a_crash_has_a_reproducer_which_survives_it(act, said, tmp_path):
    found = violation("survival", b"the", ("mine", Failed(Status.CRASHED, "dead")))
    told = ran(int(bool(said)), tmp_path / "out", found, plugged(tmp_path, act=act), None)
    assert said in told
    assert ("it fails" in told) is bool(said)


def test_an_answer_that_is_stable_after_all_and_no_line_of_a_script_is_long(tmp_path):
    parts = ("tiktoken (alone)", Encoded((5,))), ("tiktoken (in a batch)", Encoded((0, 1)))
    data = bytes(range(256)) * 40
    found = replace(violation("determinism", data, *parts, stage="order"), culprits=("tiktoken",))
    said = ran(0, tmp_path / "out", found, contract("toy_bytes", "tiktoken"))
    assert "1 different answers in 1,000 calls" in said
    many = Encoded(tuple(range(100, 200)) * 30, text=b"b" * 9000)
    found = violation("round-trip", data, ("tiktoken", many), ("bpe.naive", Encoded((1,), data)))
    written(tmp_path / "more", found, contract("toy_bytes", "tiktoken", "bpe.naive"))
    for script in tmp_path.rglob("repro.py"):
        # A message of 200 bytes stands in one line, each byte as four signs at most.
        assert max(map(len, script.read_text().splitlines())) < 1_000


@pytest.mark.parametrize("data", [b'"""\\', b"\\N{x}'''", "\u202e\u0000\ud7ff".encode(), b"\xff"])
def test_odd_inputs_and_messages_do_not_break_the_script(data, tmp_path):
    failed = Failed(Status.ERRORED, f'"""{data!r}\\\n\\u')
    found = violation("survival", data, ("tiktoken", failed), stage='"""')
    ran(0, tmp_path / "out", found, contract("toy_bytes", "tiktoken"))


@pytest.mark.parametrize(("token_id", "shows"), thorough_from(1, [(-1, 1), (131_072, 0)]))
def test_a_single_id_that_decodes_to_another_token(token_id, shows, tmp_path):
    """Refused with an error, it is gone: that is no text of another token."""
    terms = contract("tekken_240911", "mistral-common", mode=TEXT)
    none, wrong = (Encoded((token_id,), text=text) for text in (b"", b"<SPECIAL_999>"))
    parts = ("no token's id", none), ("mistral-common", wrong)
    found = violation("single-ids", b"", *parts, stage="unknown-id")
    assert ("another text" in ran(shows, tmp_path / "out", found, terms)) is bool(shows)


def test_a_question_that_no_recipe_has_is_asked_by_a_replay(tmp_path):
    parts = ("encode", Encoded((1, 5))), ("tokenizers", Encoded((1, 6)))
    found, terms = violation("truncation", b"a", *parts), contract("toy_bytes", "tokenizers")
    source = written(tmp_path / "out", found, terms).read_text()
    assert "replay" in source
    assert "RECORDED" not in source
    ran(2, tmp_path / "out", found, terms, None)  # a folder without the record of a run
