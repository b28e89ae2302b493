"""Two runs compared: nothing that the second run could not see counts as fixed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import BatchDone, Counted
from harness.verdict.coverage import Coverage
from harness.verdict.diff import CHANCE, State, compare
from tests.doubles.command import here
from tests.doubles.made import found, grown, opened, started, write_record
from tests.doubles.tables import rows

VERSIONS = {"tokgate": "1", "mine": "2"}


def events_of(
    *events, judged = 1000, names = ("right", "mine"),
    on = "toy", check = "equivalence", generator = "edge", **begun,
) :  # fmt: skip
    batch = BatchDone(
        f"{on}/raw", generator, judged, judged, judged, {check: dict.fromkeys(names, judged)}, {}
    )
    start = replace(started(), **{"versions": VERSIONS, **begun})
    return [start, opened(*names, on=on, checks=[check]), batch, *events]


def run(*events, **how):
    return Coverage.of(events_of(*events, **how))


def states(diff):
    return [change.state for change in diff.changes]


OLD = run(found(), Counted("x", 1))


def test_new_and_still_there_and_fixed():
    old, new = run(found("gone"), found("stays")), run(found("stays"), found("fresh"))
    diff = compare(old, new)
    assert [(c.state, c.bucket) for c in diff.changes] == [
        (State.NEW, "fresh"), (State.STILL, "stays"), (State.FIXED, "gone"),
    ]  # fmt: skip
    assert diff.new
    assert not compare(old, run(found("stays"))).new
    known = compare(run(), run(found(expected="known")))
    assert (states(known), known.new, known.changes[0].expected) == ([State.NEW], False, True)
    assert states(compare(OLD, run())) == [State.FIXED]
    versions = compare(run(), run(versions={"tokgate": "1", "c": "3"})).versions
    assert versions == {"mine": ("2", ""), "c": ("", "3")}
    [unseen] = compare(run(on="two"), run(found())).changes
    assert (unseen.state, "toy/raw was not part of it" in unseen.note) == (State.NEW, True)


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (run(on="two"), "toy/raw was not part of it"),
        (run(names=("right", "c")), "mine was not tested by equivalence on toy/raw: it takes no"),
        (run(names=("other", "mine")), "right, to compare with, took no part"),
        (run(check="offsets"), "mine was not tested by equivalence"),
        (run(generator="h"), "the generator edge"),
        (run(judged=0), "mine was not tested by equivalence"),
        (run(seed=2), "missed by chance with probability 37%"),
        (run(judged=900), "seen in 1 of 1,000"),
        (run(versions={"tokgate": "2", "mine": "2"}), "missed by chance"),
    ],
)
def test_what_the_new_run_did_not_look_into_is_not_observed(new, why):
    [change] = compare(OLD, new).changes
    assert change.state is State.NOT_OBSERVED
    assert why in change.note


@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 400))
def test_of_other_cases_it_takes_so_many_that_missing_it_is_improbable(seen, was, now):
    seen = min(seen, was)
    old, new = run(found(), Counted("x", seen), judged=was), run(seed=2, judged=now)
    improbable = now > 0 and (1 - seen / was) ** now <= CHANCE
    assert (states(compare(old, new)) == [State.FIXED]) == improbable


def test_a_replay_ran_the_inputs_themselves():
    old = run(found("x"), found("y"))
    for judged, what, state in (
        (2, "replay", State.FIXED), (1, "replay", State.NOT_OBSERVED),
        (2, "minimize", State.NOT_OBSERVED),
    ):  # fmt: skip
        new = run(judged=judged, generator="given", suite="given", command=f"tokgate {what} d")
        assert states(compare(old, new)) == [state] * 2


def variant(kind, stage="merges", **changes):
    return found(f"equivalence/bpe/text/{stage}/{kind}/mine", **changes)


L, MN, KNOWN = variant("L"), variant("Mn"), variant("L", expected="known")
CN = variant("Cn", "ids")


@pytest.mark.parametrize(
    ("old", "new", "said", "news"),
    [
        # Another variant of a known cause is no news, unless all that was known was expected.
        ([L], [L, MN], [State.STILL], False),
        ([L], [MN], [State.STILL], False),
        ([L, MN], [], [State.FIXED], False),
        ([KNOWN], [KNOWN, MN], [State.NEW], True),
        ([KNOWN], [L], [State.STILL], False),
        # An unassigned character was known, and then two merges are swapped.
        ([CN], [CN, variant("L", "ids")], [State.NEW, State.STILL], True),
        ([L], [L, variant("L", "text")], [State.NEW, State.STILL], True),
        ([L, variant("L", vocabulary="two")], [L], [State.STILL, State.NOT_OBSERVED], False),
    ],
)
def test_findings_are_compared_by_cause_and_comparison(old, new, said, news):
    diff = compare(run(*old), run(*new))
    assert (states(diff), diff.new) == (said, news)
    assert not news or diff.changes[0].example == new[-1]


GROWTH = """
linear       | superlinear  | worse
inconclusive | failed       | worse
linear       | failed       | worse
inconclusive | superlinear  | changed
superlinear  | linear       | better
superlinear  | inconclusive | changed
superlinear  | failed       | changed
linear       | inconclusive | changed
superlinear  |              | not observed
linear       | linear       |
linear       |              |
"""
"""A verdict, that of the new run (none: it was not measured), and what is said of the two."""


@pytest.mark.parametrize(("before", "after", "state"), rows(GROWTH))
def test_growth(before, after, state):
    diff = compare(run(grown(before)), run(*([grown(after)] if after else [])))
    assert [row.state.value for row in diff.scaling] == ([state] if state else [])
    assert diff.new is (state == "worse")


def test_the_command(tmp_path):
    records = {
        "old": (found("gone"), found("stays"), grown("linear")),
        "new": (found("fresh|`"), found("stays"), grown("superlinear")),
    }
    for name, events in records.items():
        write_record(tmp_path / name / "run.jsonl", *events_of(*events))
    done = here("diff", "old", "new", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "1 new, 1 still there, 1 fixed, 0 not observed" in done.stdout
    assert "worse: " in done.stdout
    assert "linear 1.00 → superlinear 1.00" in done.stdout
    assert here("diff", "old", "old", folder=tmp_path).returncode == 0
    wrong = here("diff", "old", "none", folder=tmp_path)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert r"`fresh\x7c\x60`" in here("diff", "old", "new", "--markdown", folder=tmp_path).stdout
