"""``tokgate selftest``: what is put down to whom, what counts as caught, the tables."""

import base64
from dataclasses import asdict, replace

import msgspec
import pytest

from corpora.generators.base import Case
from corpora.vocabularies.sources import resolve
from harness.checks.base import Violation
from harness.core import exit_statuses
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded
from harness.core.participants import Participant
from harness.core.partition import Part
from harness.engine.selection import SelectionError
from harness.engine.steps import conduct
from harness.events import BatchDone, ContractOpened, Finished, Measured
from harness.findings.entries import Entry
from harness.studies.selftest import hunts
from harness.studies.selftest.campaign import Ledger, apart, tells
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.events import (
    HuntDone,
    MistakeJudged,
    SelftestStarted,
    Sighting,
)
from harness.studies.selftest.groups import Hunted, Shown
from harness.studies.selftest.run import Selftest, make_plan, verdict
from impls.interface import About, Mode

RAW = Mode(pretokenize=False)
NAME = "merging.rightmost-tie"
FOUND = ["equivalence/merges"]
CASE = Case(b"ab", "tokens", 0, 4)


def contract(*names, references=("right",)):
    members = tuple(Participant(n, n, About(name=n, version="1"), None) for n in names)
    return Contract(resolve("toy_ties"), RAW, members, frozenset(references), {}, proper=True)


def disagreement(*groups, check="equivalence", stage=None):
    parts = tuple(Part(names, Encoded((i,))) for i, names in enumerate(groups))
    blamed = tuple(name for part in parts[1:] for name in part.names)
    return Violation(check, 0, b"ab", parts, blamed, stage)


UNDECIDED = replace(disagreement(("one",), ("two",)), culprits=("one", "two"), undecided=True)
AGAIN = disagreement(("one",), ("one (again)",), check="determinism", stage="order")


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (disagreement(("right",), ("one", "two"), ("three",)), {"one", "two", "three"}),
        (disagreement(("one", "two"), ("three",)), set()),  # candidates among themselves
        (UNDECIDED, set()),
        (AGAIN, {"one"}),
    ],
)
def test_who_is_at_fault_by_a_disagreement(seen, told):
    entry = Entry(contract("right", "one", "two", "three"), seen, CASE)
    assert {name for name in ("one", "two", "three") if tells(entry, name)} == told


def test_a_candidate_is_looked_at_as_if_it_were_alone():
    between = contract("right", "one", "two", "three")
    seen = disagreement(("right",), ("one", "two"), ("three",))
    alone = apart(Entry(between, seen, CASE), "two", {"one", "three"})
    assert [part.names for part in alone.violation.parts] == [("right",), ("two",)]
    assert alone.violation.culprits == ("two",)
    assert alone.contract.names == ["right", "two"]


OPENED = ContractOpened(
    "toy_ties/raw", "bpe", "toy_ties", "raw", ["right", "one"], ["right"], {}, []
)
BATCH = BatchDone("toy_ties/raw", "edge", 100, 9, 9, {}, {})
GROWTH = Measured("one", "toy_ties", "runs", 2.0, 1.9, 2.1, "superlinear", [[256, 0.1]], "")


def consuming(check, *events):
    """A ledger of one suspect and a control that has taken in events."""
    ledger = Ledger({"one": check, "plain": ""})
    for event in events:
        ledger.consume(lambda: None, event)
    return ledger


def test_first_sightings_are_kept_with_what_came_before(monkeypatch):
    ledger = consuming("equivalence", OPENED, BATCH)
    monkeypatch.setattr(ledger.suspects["one"], "consider", lambda *_: "")
    seen, between = disagreement(("right",), ("one",)), contract("right", "one", "plain")
    for case in (CASE, replace(CASE, index=9)):
        ledger.consider(None, Entry(between, seen, case))
    [first] = ledger.suspects["one"].sightings.values()
    assert (first.generator, first.check) == ("tokens", "equivalence")
    assert (first.cases, first.all_cases) == (1 + CASE.index, 101 + CASE.index)
    assert not ledger.suspects["plain"].sightings
    assert ledger.cases == {"edge": 100}


def test_a_hunt_goes_on_until_all_are_caught_and_all_generators_were_tried():
    assert not consuming("scaling", OPENED, BATCH, BATCH).unexpected
    assert not consuming("scaling", OPENED, BATCH, GROWTH).unexpected
    ledger = consuming("scaling", OPENED, BATCH, BATCH, GROWTH)
    assert ledger.suspects["one"].named == ["scaling/"]
    assert ledger.unexpected


def judged(name, check, named, stages=(), sightings=(), trouble=""):
    return MistakeJudged(
        name=name, family="merging", summary="Wrong.", spec="m:C", vocabulary="toy_ties",
        mode="raw", check=check, stages=list(stages), named=list(named), bucket="", trouble=trouble,
        input_b64=base64.b64encode(b"ab").decode(), sightings=list(sightings),
    )  # fmt: skip


@pytest.fixture
def hunted(tmp_path, monkeypatch):
    """Runs a selftest whose hunts are stand-ins: its end, and what was told, of earlier runs, too.

    shown: what shows by name, given the names and the seed of a hunt.
    """

    def conducted(patterns, budget, shown):
        def perform(keep, names, suite, seed, share, began):
            began()
            hunt = Hunted(shown(names, seed), {"raw": 40}, ["right"], 5.0)
            return msgspec.msgpack.encode(hunt)

        events = []
        monkeypatch.setattr(hunts, "perform", perform)
        plan = make_plan(patterns, budget, seed=7, jobs=1, command="")
        finished = conduct(Selftest(plan), tmp_path, [events.append])
        return finished, {one.name: one for one in events if isinstance(one, MistakeJudged)}

    return conducted


@pytest.mark.parametrize(("budget", "rounds"), [("60s", 2), ("5s", 1)])
def test_what_escapes_is_hunted_again_with_other_cases_as_long_as_there_is_time(
    budget, rounds, hunted
):
    seeds, sighting = [], Sighting("raw", "equivalence", 3, 1.0, 9, 2.0)

    def second(names, seed):
        seeds.append(seed)
        found = Shown(FOUND, sightings=[sighting]) if len(seeds) > 1 else Shown()
        return dict.fromkeys(names, found)

    finished, told = hunted([NAME], budget, second)
    assert (len(set(seeds)), len(seeds), seeds[0]) == (rounds, rounds, 7)
    assert told[NAME].caught == (rounds == 2) == (finished.exit_status == exit_statuses.HOLDS)
    whole = {**asdict(sighting), "all_cases": 49, "all_seconds": 7.0}
    assert told[NAME].sightings == [whole] * (rounds - 1)


def test_what_was_caught_is_not_hunted_again_after_an_interruption_and_what_was_not_is(hunted):
    asked = []

    def shown(names, seed):
        asked.append({*names})
        if len(asked) == 2:
            raise ValueError("lost")
        rows = {name: mistakes()[name] for name in names}
        found = {n: Shown([f"{one.check}/{[*one.stages, ''][0]}"]) for n, one in rows.items()}
        return found | ({names[0]: Shown(trouble="cut off")} if len(asked) == 1 else {})

    first, told = hunted(["merging"], "600s", shown)
    assert (first.complete, first.exit_status) == (False, exit_statuses.CANNOT_START)
    before = {name for name, one in told.items() if one.caught}
    assert before < asked[0] and len(before) == len(asked[0]) - 1
    second, told = hunted(["merging"], "600s", shown)
    assert second.complete
    assert not before & set().union(*asked[2:])
    assert {name for name, one in told.items() if one.caught} == {
        name for name, one in mistakes().items() if one.family == "merging"
    }


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ([judged(NAME, "equivalence", FOUND, ["merges"])], ""),
        ([judged(NAME, "equivalence", ["equivalence/text"], ["merges"])], "as equivalence/text"),
        ([judged(NAME, "equivalence", [])], f"{NAME} escaped"),
        ([], f"1 not hunted: {NAME}"),
        (
            [judged(NAME, "equivalence", FOUND), judged("plain.bpe", "", ["survival/crashed"])],
            "plain.bpe, which is right",
        ),
    ],
)
def test_the_verdict_is_that_each_is_caught_under_its_name_and_nothing_right_is(told, reason):
    reasons, status = verdict(told, [mistakes()[NAME]])
    assert (status == exit_statuses.HOLDS) == (not reason)
    assert [reason in one for one in reasons] == [True] * bool(reason)


def seen(generator, check, cases, all_seconds):
    return asdict(Sighting(generator, check, cases, 0.5, cases + 10, all_seconds))


EVENTS = [
    SelftestStarted(
        "now", "tokgate selftest", 0, 300.0, "ci", {}, "a machine", 3, ["edge", "tokens", "json"],
        ["survival", "equivalence"],
    ),
    judged("a", "equivalence", FOUND, [],
           [seen("edge", "equivalence", 3, 1.0), seen("tokens", "equivalence", 9, 2.0)]),
    judged("b", "equivalence", ["equivalence/text"], [],
           [seen("tokens", "equivalence", 5, 4.0), seen("tokens", "survival", 7, 5.0)]),
    judged("c", "survival", []),
    judged("plain.bpe", "", []),
    HuntDone("toy_ties", "cases", ["a", "b", "c"], ["right"], 9.0,
             {"edge": 100, "tokens": 50, "json": 40}),
    Finished(True, "fail", ["c escaped: Wrong."], 12.0, 193, 0, 1),
]  # fmt: skip
"""A selftest in which one of three mistakes escaped."""


@pytest.mark.parametrize(
    ("patterns", "budget", "fault"),
    [
        (["nothing.*"], None, "matches no mutant"),
        ([], "200cases", "give a time"),
        ([], "soon", "--budget"),
    ],
)
def test_usage_errors(patterns, budget, fault):
    with pytest.raises(SelectionError, match=fault):
        make_plan(patterns, budget, 0, 0, "")


def test_families_and_patterns():
    def planned(*patterns):
        return [one.name for one in make_plan(patterns, "90s", 0, 0, "").mistakes]

    assert planned() == [*mistakes()]
    assert {one.partition(".")[0] for one in planned("wordpiece")} == {"wordpiece"}
    assert planned("*.rightmost*", "merging.refuses") == [
        "merging.rightmost-tie", "spm.rightmost-first", "merging.refuses",
    ]  # fmt: skip
