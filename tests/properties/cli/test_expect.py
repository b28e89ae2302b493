"""``tokgate expect``: what a run found becomes expectations, and the next run passes."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.events import ExpectationJudged, GrowthJudged, Measured
from harness.verdict import bounds, expectations
from reports import proposals
from tests.doubles.command import here, tokgate
from tests.doubles.made import found, write_record

WRONG = Path(__file__).parents[2] / "mutants" / "in_process.py"
RUN = (
    "run", "--vocab=toy_bytes", "--impl=tiktoken", f"--impl={WRONG}:AlwaysWrong",
    "--check=equivalence", "--budget=1500cases",
)  # fmt: skip


@pytest.mark.thorough  # two whole runs
def test_what_was_found_is_expected_afterwards(tmp_path):
    assert tokgate(*RUN, f"--out={tmp_path / 'out'}").returncode == 1
    file = tmp_path / "expected.toml"
    done = here("expect", str(tmp_path / "out"), f"--file={file}")
    assert done.returncode == 0, done.stderr
    assert "added; fill in each reason" in done.stderr
    file.write_text(file.read_text().replace("TODO: say why", "we know why"))
    again = tokgate(*RUN, f"--out={tmp_path / 'again'}", f"--expect={file}")
    assert again.returncode == 0, again.stderr


def test_a_folder_without_a_record_is_one_line(tmp_path):
    done = here("expect", str(tmp_path))
    assert done.returncode == 2
    assert "no such record" in done.stderr


def proposed(one, known=(), *, broad=False, versions=None):
    made = proposals.entries([one], known, versions or {"mine": "1.2"}, broad=broad)
    return [each.text for each in made]


ONE = found("equivalence/bpe/text/ids/L/mine", "v")


def read_back(tmp_path, one, **how):
    """The one entry that is proposed, as its file has it."""
    file = tmp_path / "expected.toml"
    file.write_text("# ours\n\n" + proposed(one, **how)[0])
    [known] = expectations.load(file, drafts=True)
    return known


def test_an_entry_is_no_broader_than_what_was_found(tmp_path):
    known = read_back(tmp_path, ONE)
    assert (known.bucket, known.examples, known.broad) == (ONE.bucket, (b"a",), False)
    assert (known.reason, str(known.implementations["mine"])) == (proposals.REASON, ">=1.2")
    variant = replace(ONE, bucket="equivalence/bpe/text/ids/P/mine")
    others = variant, replace(ONE, input_b64="Yg=="), replace(ONE, vocabulary="w")
    assert [len(proposed(one, [known])) for one in (ONE, *others)] == [0, 1, 1, 1]
    broad = read_back(tmp_path, ONE, broad=True)
    assert (broad.bucket, broad.broad) == ("equivalence/bpe/text/ids/*/mine", True)
    assert not proposed(variant, [broad])
    other = replace(ONE, id=f"{ONE.id}-2", input_b64="Yg==")
    [made] = proposals.entries([ONE, other], [], {"mine": "1.2"})
    assert 'examples = ["a", "b"]' in made.text
    assert made.covers == f'{ONE.bucket} on v: what is explained by "a", "b"'


def test_a_reason_that_was_not_filled_in_is_refused(tmp_path):
    read_back(tmp_path, ONE)
    with pytest.raises(
        expectations.ExpectationsError, match="entry 1: field 'reason' still says TODO"
    ):
        expectations.load(tmp_path / "expected.toml")


CELL = Measured("mine", "v", "one-run", 2.0, 1.95, 2.05, "superlinear", [[256, 1.0], [512, 4.0]])
BROKEN = GrowthJudged("mine", "v", "one-run", "time", "n log n", "fail", "", "exponent 2.00")


def test_a_broken_bound_gets_the_narrowest_entry_before_those_that_are_there(
    tmp_path,
):
    file = tmp_path / "expected.toml"
    before = '# all\n[[scaling]]\nimplementation = "m*"\nbound = "linear"\nreason = "ours"\n'
    file.write_text(before)
    write_record(tmp_path / "run.jsonl", CELL, BROKEN)
    done = here("expect", str(tmp_path), f"--file={file}")
    assert "added: mine on v, one-run: growth up to" in done.stderr
    first, second = bounds.load(file, drafts=True)
    assert (first.implementation, first.vocabulary, first.family) == ("mine", "v", "one-run")
    assert bounds.outcome_of(CELL, first.bound)[0] == "pass" if first.bound != "none" else True
    assert second.implementation == "m*"
    assert file.read_text().endswith(before)
    assert "nothing to change" in here("expect", str(tmp_path), f"--file={file}").stderr


def test_stale_entries_are_removed_and_nothing_else(tmp_path):
    file = tmp_path / "expected.toml"
    other = replace(ONE, bucket="equivalence/bpe/text/ids/P/mine")
    stale, kept = (proposed(one)[0].replace("TODO: ", "") for one in (ONE, other))
    file.write_text(f"# head\n\n{stale}\n# on the second\n{kept}")
    reason = proposals.REASON.removeprefix("TODO: ")
    judged = ExpectationJudged(ONE.bucket, "stale", reason, None, ["mine"], "v")
    write_record(tmp_path / "run.jsonl", judged)
    assert "nothing to change" in here("expect", str(tmp_path), f"--file={file}").stderr
    done = here("expect", str(tmp_path), f"--file={file}", "--prune")
    assert f"removed: {ONE.bucket} on v" in done.stderr
    assert file.read_text() == f"# head\n\n# on the second\n{kept}"


def test_odd_names_and_inputs_are_read_back_as_they_were(tmp_path):
    name = 'a "quoted" name[1]?'
    bucket = f"equivalence/bpe/text/ids/Z/{name}"
    one = found(bucket, "v[0]", culprits=[name], input_b64="AP8=")
    known = read_back(tmp_path, one, versions={name: "no version"})
    assert known.covers(one.bucket, "v[0]")
    assert not known.covers(one.bucket, "v0")
    assert (known.examples, str(known.implementations[name])) == ((b"\x00\xff",), "")
