"""``tokgate expect``: what a run found becomes expectations, and the next run passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.verdict import expectations
from reports import proposing
from tests.harness.command import here, tokgate
from tests.harness.test_diff import found

WRONG = Path(__file__).parents[1] / "mutants" / "in_process.py"
RUN = (
    "run", "--vocab=toy_bytes", "--impl=tiktoken", f"--impl={WRONG}:AlwaysWrong",
    "--check=equivalence", "--budget=1500cases",
)  # fmt: skip


@pytest.mark.thorough  # two whole runs
def test_what_was_found_is_expected_afterwards(tmp_path: Path) -> None:
    assert tokgate(*RUN, f"--out={tmp_path / 'out'}").returncode == 1
    file = tmp_path / "expected.toml"
    done = here("expect", str(tmp_path / "out"), f"--file={file}")
    assert done.returncode == 0, done.stderr
    assert "added; fill in each reason" in done.stderr
    again = tokgate(*RUN, f"--out={tmp_path / 'again'}", f"--expect={file}")
    assert again.returncode == 0, again.stderr
    written = file.read_text()
    more = here("expect", str(tmp_path / "out"), f"--file={file}")
    assert "nothing to add" in more.stderr
    assert file.read_text() == written


def test_a_folder_without_a_record_is_one_line(tmp_path: Path) -> None:
    done = here("expect", str(tmp_path))
    assert done.returncode == 2
    assert "no such record" in done.stderr


def test_what_stands_in_a_file_stays(tmp_path: Path) -> None:
    one = found(bucket="equivalence/bpe/text/ids/Z/mine", vocabulary="v", culprits=["mine"])
    first = proposing.entries([one], [], {"mine": "1.2"})
    file = tmp_path / "expected.toml"
    file.write_text("# ours\n\n" + first[0])
    known = expectations.load(file)
    assert known[0].reason == proposing.REASON
    assert str(known[0].implementations["mine"]) == ">=1.2"
    assert proposing.entries([one], known, {"mine": "1.2"}) == []
    other = replace(one, bucket="equivalence/bpe/text/ids/L/mine")  # a variant of the same cause
    assert proposing.entries([other], known, {"mine": "1.2"}) == []
    elsewhere = replace(one, vocabulary="w")
    assert len(proposing.entries([one, elsewhere], known, {"mine": "1.2"})) == 1


def test_odd_names_and_inputs_are_read_back_as_they_were(tmp_path: Path) -> None:
    name = 'a "quoted" name[1]?'
    one = found(
        bucket=f"equivalence/bpe/text/ids/Z/{name}", vocabulary="v[0]", culprits=[name],
        input_b64="AP8=",
    )  # fmt: skip
    file = tmp_path / "expected.toml"
    file.write_text("\n".join(proposing.entries([one], [], {name: "no version"})))
    [known] = expectations.load(file)
    assert known.covers(one.bucket, one.vocabulary)
    assert not known.covers(one.bucket, "v0")
    assert known.examples == (b"\x00\xff",)
    assert str(known.implementations[name]) == ""
