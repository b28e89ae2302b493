"""Two runs compared: nothing that the second run could not see counts as fixed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    Finished,
    Found,
    Group,
    Measured,
    Started,
    write_events,
)
from harness.verdict.coverage import Coverage
from harness.verdict.diff import CHANCE, Diff, Growth, State, compare
from tests.harness.command import tokgate

if TYPE_CHECKING:
    from pathlib import Path

    from harness.events import Event

STARTED = Started("t", 1, "ci", "1m", "tokgate run", {"tokgate": "1", "b": "2"}, "m")
END = Finished(True, "fail", [], 1.0, 1, 1, 1)


def found(bucket: str = "x", contract: str = "v/text", **changes: Any) -> Found:
    parts = [Group([name], "encoded") for name in ("ref", "b")]
    values: dict[str, Any] = {
        "id": f"f-{bucket}-{contract}", "check": "equivalence", "stage": "merges",
        "bucket": bucket, "contract": contract, "vocabulary": contract.partition("/")[0],
        "mode": "text", "culprits": ["b"], "partition": parts, "input_b64": "YQ==",
        "difference": "", "first_difference": None, "generator": "g", "seed": 1, "index": 0,
        "original_bytes": 1, "minimal": True, "expected": None, "link": None, "reproducer": None,
    }  # fmt: skip
    return Found(**{**values, **changes})


def run(
    *events: Event, judged: int = 1000, names: tuple[str, ...] = ("ref", "b"), seed: int = 1,
    contract: str = "v/text", check: str = "equivalence", generator: str = "g", end: Any = END,
    **started: Any,
) -> Coverage:  # fmt: skip
    opened = ContractOpened(contract, "bpe", "v", "text", list(names), ["ref"], {}, [check])
    batch = BatchDone(
        contract, generator, judged, judged, judged, {check: dict.fromkeys(names, judged)}, {}
    )
    begun = replace(STARTED, seed=seed, **started)
    ends = [end] if end else []
    return Coverage.of([begun, opened, batch, *events, *ends])


def states(diff: Diff) -> list[State]:
    return [change.state for change in diff.changes]


def note(old: Coverage, new: Coverage) -> str:
    [change] = compare(old, new).changes
    assert change.state is State.NOT_OBSERVED
    return change.note


def test_new_and_still_there_and_fixed() -> None:
    old, new = run(found("gone"), found("stays")), run(found("stays"), found("fresh"))
    diff = compare(old, new)
    assert [(c.state, c.bucket) for c in diff.changes] == [
        (State.NEW, "fresh"), (State.STILL, "stays"), (State.FIXED, "gone"),
    ]  # fmt: skip
    assert diff.new
    assert not compare(old, run(found("stays"))).new


def test_what_the_new_run_did_not_exercise_is_not_observed() -> None:
    old = run(found())
    assert "not part of it" in note(old, run(contract="w/text"))
    assert "b was not tested by equivalence on v/text: it takes no part" in note(
        old, run(names=("ref", "c"))
    )
    assert "ref, to compare with, took no part" in note(old, run(names=("other", "b")))
    assert "b was not tested by equivalence" in note(old, run(check="offsets"))
    assert "the generator g" in note(old, run(generator="h"))
    assert "b was not tested by equivalence" in note(old, run(judged=0))


def test_the_same_cases_say_it_and_other_cases_only_if_there_are_enough() -> None:
    old = run(found(), Counted("x", 1))
    assert states(compare(old, run())) == [State.FIXED]
    assert "missed by chance with probability 37%" in note(old, run(seed=2))
    # Rule of three: 3 / (1 / 1000).
    assert states(compare(old, run(seed=2, judged=3_000))) == [State.FIXED]
    assert "seen in 1 of 1,000" in note(old, run(judged=900))
    assert "missed by chance" in note(old, run(versions={"tokgate": "2", "b": "2"}))
    often = run(found(), Counted("x", 500))
    assert states(compare(often, run(seed=2, judged=10))) == [State.FIXED]


@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 400))
def test_fixed_means_that_missing_it_is_improbable(seen: int, was: int, now: int) -> None:
    seen = min(seen, was)
    old, new = run(found(), Counted("x", seen), judged=was), run(seed=2, judged=now)
    improbable = now > 0 and (1 - seen / was) ** now <= CHANCE
    assert (states(compare(old, new)) == [State.FIXED]) == improbable


def test_a_replay_ran_the_inputs_themselves() -> None:
    old = run(found("x", id="f-1"), found("y", id="f-2"))

    def replay(judged: int, what: str) -> Coverage:
        return run(judged=judged, generator="given", suite="given", command=f"tokgate {what} d")

    assert states(compare(old, replay(2, "replay"))) == [State.FIXED, State.FIXED]
    assert set(states(compare(old, replay(1, "replay")))) == {State.NOT_OBSERVED}
    assert set(states(compare(old, replay(2, "minimize")))) == {State.NOT_OBSERVED}


def test_an_expected_finding_is_told_and_fails_nothing() -> None:
    diff = compare(run(), run(found(expected="known")))
    assert (states(diff), diff.new, diff.changes[0].expected) == ([State.NEW], False, True)
    assert compare(run(), run(found())).new


def test_new_where_the_old_run_had_not_looked_says_so() -> None:
    [change] = compare(run(contract="w/text"), run(found())).changes
    assert (change.state, "v/text was not part of it" in change.note) == (State.NEW, True)


def variant(kind: str, **changes: Any) -> Found:
    return found(f"equivalence/bpe/text/merges/{kind}/b", **changes)


def test_another_variant_of_a_known_cause_is_no_news() -> None:
    diff = compare(run(variant("L")), run(variant("L"), variant("Mn")))
    assert (states(diff), diff.new) == ([State.STILL], False)
    diff = compare(run(variant("L")), run(variant("Mn")))
    assert (states(diff), diff.new) == ([State.STILL], False)
    assert states(compare(run(variant("L"), variant("Mn")), run())) == [State.FIXED]


def test_another_kind_of_input_of_an_unknown_stage_is_news() -> None:
    """An unassigned character was known, and then two merges are swapped."""
    known = found("equivalence/bpe/text/ids/Cn/b")
    diff = compare(run(known), run(known, found("equivalence/bpe/text/ids/L/b")))
    assert (states(diff), diff.new) == ([State.NEW, State.STILL], True)


def test_an_unexpected_variant_of_what_was_all_expected_is_new() -> None:
    old = run(variant("L", expected="known"))
    diff = compare(old, run(variant("L", expected="known"), variant("Mn")))
    [change] = diff.changes
    assert (change.state, change.expected, diff.new) == (State.NEW, False, True)
    assert change.bucket == "equivalence/bpe/text/merges/Mn/b"
    # The expectation alone is gone: that is no new finding.
    assert states(compare(old, run(variant("L")))) == [State.STILL]


def test_another_stage_is_another_thing() -> None:
    other = found("equivalence/bpe/text/text/L/b")
    assert states(compare(run(variant("L")), run(variant("L"), other))) == [State.NEW, State.STILL]


def test_one_bucket_under_two_contracts_is_two_things() -> None:
    both = run(found(), found(contract="w/text"))
    assert sorted(states(compare(both, run(found())))) == [State.NOT_OBSERVED, State.STILL]


def grown(verdict: str, **changes: Any) -> Measured:
    return replace(Measured("b", "v", "runs", 1.0, 0.9, 1.1, verdict, []), **changes)


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ("linear", "superlinear", Growth.WORSE),
        ("inconclusive", "failed", Growth.WORSE),
        ("linear", "failed", Growth.WORSE),
        ("inconclusive", "superlinear", Growth.CHANGED),
        ("superlinear", "linear", Growth.BETTER),
        ("superlinear", "inconclusive", Growth.CHANGED),
        ("superlinear", "failed", Growth.CHANGED),
        ("linear", "inconclusive", Growth.CHANGED),
        ("superlinear", None, Growth.NOT_OBSERVED),
        ("linear", "linear", None),
        ("linear", None, None),
    ],
)
def test_growth(before: str, after: str | None, state: Growth | None) -> None:
    diff = compare(run(grown(before)), run(*([grown(after)] if after else [])))
    assert [row.state for row in diff.scaling] == ([state] if state else [])
    assert diff.new is (state is Growth.WORSE)


def test_versions_and_incomplete_runs_are_told() -> None:
    new = run(end=None, versions={"tokgate": "1", "c": "3"})
    diff = compare(run(), new)
    assert diff.versions == {"b": ("2", ""), "c": ("", "3")}
    assert (diff.old_complete, diff.new_complete) == (True, False)
    assert compare(Coverage.of([]), Coverage.of([])).changes == ()


def written(folder: Path, *events: Event) -> str:
    folder.mkdir()
    opened = ContractOpened(
        "v/text", "bpe", "v", "text", ["ref", "b"], ["ref"], {}, ["equivalence"]
    )
    judged = {"equivalence": {"ref": 9, "b": 9}}
    batch = BatchDone("v/text", "g", 9, 9, 9, judged, {})
    write_events(folder / "run.jsonl", [STARTED, opened, batch, *events, END])
    return str(folder)


@pytest.mark.thorough  # three whole runs
def test_the_command(tmp_path: Path) -> None:
    old = written(tmp_path / "old", found("gone"), found("stays"), grown("linear"))
    new = written(tmp_path / "new", found("fresh|`"), found("stays"), grown("superlinear"))
    done = tokgate("diff", old, new)
    assert (done.returncode, done.stderr) == (1, "")
    assert "1 new, 1 still there, 1 fixed, 0 not observed" in done.stdout
    assert "worse: " in done.stdout
    assert "linear (1.00) → superlinear (1.00)" in done.stdout
    assert tokgate("diff", old, old).returncode == 0
    told = json.loads(tokgate("diff", old, new, "--json").stdout)
    assert [c["state"] for c in told["changes"]] == ["new", "still there", "fixed"]
    assert told["new"] is True
    page = tokgate("diff", old, new, "--markdown").stdout
    assert page.startswith("## ❌ tokgate diff: 1 new")
    assert r"`fresh\x7c\x60`" in page
    wrong = tokgate("diff", old, str(tmp_path / "none"))
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
