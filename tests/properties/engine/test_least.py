"""What a user named is examined, however little time there is, and the rest is told."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import pytest

from corpora.generators.catalog import generators
from harness.checks import CHECKS
from harness.checks.base import Observation
from harness.core.outcomes import Encoded, Inputs, Results, Unsupported
from harness.engine import selection
from harness.engine.least import MOST_ASKED, MOST_FOR_CHECKS, Share
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.streams import batches
from harness.engine.suites import Budget
from harness.events import BatchDone, ContractOpened, NotReached, Unsettled
from harness.findings.tracker import FindingTracker
from harness.studies.checks import Checks
from harness.studies.selftest.mutants import plugins
from harness.verdict.coverage import LEAST_CASES, Coverage
from impls.interface import About, Mode
from tests.doubles.pools import Workers, contract
from tests.doubles.toy_plans import any_plan

VOCABULARIES = ("toy_bytes", "toy_ties")


def plan(seconds, *, named=(), **asked):
    """A run that has no time to speak of."""
    return any_plan(
        ["bpe.naive", "bpe.heap"],
        VOCABULARIES,
        generators=[generators()["edge"], generators()["prose"]],
        checks=[CHECKS["survival"], CHECKS["equivalence"], CHECKS["round-trip"]],
        budget=Budget(seconds=seconds),
        named=named,
        asked=asked,
    )


def run(plan):
    """Check its vocabularies."""
    events = []
    tracker = FindingTracker(events.append, lambda *_: None, (), plan.versions)
    state = RunState(plan, events.append, tracker)
    tracker.limit_by(state.left_for_findings)
    Sessions(state, lambda part: [Checks(part)]).run(plan.budget.seconds, plan.visited)
    return state, events


def seen(contract, count, **answers):
    """So many answers of each, or none."""
    results = {
        name: Results.of([Encoded(()) if answers[name] else Unsupported("")] * count)
        for name in answers
    }
    return Observation(contract, Inputs.of([b"a"] * count), results)


def compared(events):
    """How many cases of each implementation were compared under each contract."""
    found = defaultdict(Counter)
    for event in events:
        if isinstance(event, BatchDone):
            found[event.contract].update(event.exercised.get("equivalence", {}))
    return found


@pytest.mark.parametrize(
    ("asked", "owed"),
    [
        ({"vocabularies": list(VOCABULARIES)}, ("bpe.naive", "bpe.heap")),
        ({"named": ["bpe.heap"]}, ("bpe.heap",)),  # on all vocabularies
    ],
)
def test_what_was_named_has_its_smallest_share(asked, owed):
    state, events = run(plan(0.001, **asked))
    judged = compared(events)
    assert {name.partition("/")[0] for name in judged} == set(VOCABULARIES)
    assert all(judged[name][one] >= LEAST_CASES for name in judged for one in owed)
    assert VOCABULARIES[1] in state.tally.least
    assert not any(isinstance(event, (NotReached, Unsettled)) for event in events)


def test_a_named_check_is_put_however_few_cases_there_are():
    every = [one for one in CHECKS.values() if one.name != "equivalence"]
    named = plan(0.0, checks=[one.name for one in every])
    vocabularies = selection.vocabularies(VOCABULARIES[:1])
    named = replace(named, checks=every, budget=Budget(cases=100), vocabularies=vocabularies)
    _, events = run(named)
    put = {name for e in events if isinstance(e, BatchDone) for name in e.exercised}
    opened = [e for e in events if isinstance(e, ContractOpened)]
    assert put == {name for contract in opened for name in contract.checks}


@pytest.mark.parametrize("budget", [Budget(cases=100), Budget(seconds=0.001)])
def test_a_named_check_gets_inputs_on_until_it_has_judged_any(budget):
    named = plan(0.0, checks=["validity"], vocabularies=["toy_bytes"])
    # The first inputs of this generator are single tokens, of which there are no parts.
    edge = [generators()["edge"]]
    named = replace(named, checks=[CHECKS["validity"]], budget=budget, generators=edge)
    _, events = run(named)
    judged = [one.exercised.get("validity", {}) for one in events if isinstance(one, BatchDone)]
    assert any(sum(one.values()) for one in judged)


def test_what_nobody_named_is_not_visited_without_time_and_that_is_told():
    _, events = run(plan(0.001))
    [late] = [event for event in events if isinstance(event, NotReached)]
    assert late.source == VOCABULARIES[1]
    assert "--budget" in late.reason


def test_a_number_of_random_vocabularies_names_none_of_them():
    many = plan(1.0, named=["bpe.heap"], vocabularies=["random:bpe:3"])
    assert many.owed("random:bpe:3")
    assert not many.owed("random:bpe:4")
    assert many.owed("toy_bytes")
    assert not plan(1.0).owed("toy_bytes")


@dataclass(frozen=True)
class Endless:
    """A generator that a run asks for ever, unless this test ends it."""

    name: str
    summary: str = ""

    def cases(self, vocabulary, seed):
        yield from itertools.islice(generators()[self.name].cases(vocabulary, seed), 300_000)
        raise AssertionError("it is asked on and on")


@pytest.mark.parametrize(
    "asked",
    [
        {"named": ["gate.answers-nothing"]},
        {"vocabularies": ["tekken_240911"]},
        {"checks": ["survival"]},
    ],
)
@pytest.mark.parametrize("ending", [("edge",), pytest.param((), marks=pytest.mark.thorough)])
def test_a_share_that_no_generator_adds_to_is_given_up(ending, asked):
    mute, _ = selection.participants([f"{plugins.__file__}:answers-nothing"])
    named = plan(0.001, **asked)
    named = replace(
        named,
        vocabularies=selection.vocabularies(["tekken_240911"]),
        participants=[*named.participants, *mute],
        generators=[*(generators()[name] for name in ending), Endless("source")],
    )
    _, events = run(named)
    asked_on = {event.contract for event in events if isinstance(event, BatchDone)}
    assert "tekken_240911/text" in asked_on
    # With special tokens on, only the generator that ends is asked.
    assert ("tekken_240911/special" in asked_on) == bool(ending)


def test_a_number_of_cases_that_no_generator_has_is_given_up():
    terms = replace(contract("a", "b"), mode=Mode(pretokenize=True, special="all"))
    counted = replace(plan(0.0), budget=Budget(cases=9), generators=[Endless("source")])
    state = RunState(counted, lambda event: None, None)
    workers = Workers({"a": 0.0, "b": 0.0})
    cases = batches(counted.generators, terms.vocabulary, 0, 1000)
    assert list(Checks(state)._asked(workers, [terms], cases, Counter())) == []


@pytest.mark.parametrize(
    ("named", "check", "judged", "asked", "owed"),
    [
        ("ab", "survival", {"a": LEAST_CASES, "b": LEAST_CASES - 1}, (), "b"),
        # Answered, and compared with nobody.
        ("ab", "equivalence", {"a": LEAST_CASES, "b": 0}, (), "b"),
        ("ab", "equivalence", {"a": LEAST_CASES, "b": LEAST_CASES}, (), ""),
        # Asked for in vain.
        ("ab", "survival", {"a": LEAST_CASES}, (MOST_ASKED, "a", ""), ""),
        # One that answers something may hang on the rest; one that declines does not hang.
        ("abc", "survival", {}, (1, "a", "ab"), "ac"),
        # For a check that was named everybody is asked until it has judged any.
        ("", "survival", {}, (MOST_FOR_CHECKS - 1, "abc", ""), "abc"),
        ("", "survival", {}, (MOST_FOR_CHECKS, "abc", ""), ""),
        ("", "survival", {"a": 1}, (), ""),
    ],
)
def test_a_share_is_owed_until_it_was_judged_or_asked_for_in_vain(
    named, check, judged, asked, owed
):
    terms = contract(*(named or "abc"))
    answers = {
        name: [LEAST_CASES if check == "equivalence" else n, 0, 0] for name, n in judged.items()
    }
    done = BatchDone(terms.id, "g", 1, 1, 0, {check: judged}, {}, answers=answers)
    share = Share({*named}, () if named else [check], Coverage.of([done]))
    if asked:
        count, answering, hung = asked
        share.note(seen(terms, count, **{n: n in answering for n in terms.names}), {*hung})
    assert share.owing(terms, ()) == [*owed]
    assert share.owing(terms, {*owed[:1]}) == [*owed[1:]]  # who is withdrawn is not asked any more


@pytest.mark.parametrize(
    ("references", "asked", "withdrawn", "mute", "beside"),
    [
        ("r", "v", "", "", "rev"),  # with the reference, and with its engine
        ("r", "o", "", "", "ro"),
        ("r", "r", "", "", "revo"),
        ("", "o", "", "", "revo"),
        # Nobody is asked on beside one that answers nothing.
        ("r", "o", "r", "", "evo"),
        ("r", "o", "", "r", "evo"),
        ("r", "o", "", "e", "ro"),
    ],
)
def test_who_is_asked_on_is_compared_with_whom_it_is_held_to(
    references, asked, withdrawn, mute, beside
):
    terms = contract(*"revo", references=frozenset(references))
    engine = {"v": "e"}
    members = [
        replace(one, about=About(one.name, "1", engine=engine.get(one.name, "")))
        for one in terms.participants
    ]
    terms = replace(terms, participants=tuple(members))
    share = Share((), (), Coverage())
    if mute:
        share.note(seen(terms, 1, **{name: name not in mute for name in terms.names}), ())
    assert share.with_companions(terms, [*asked], {*withdrawn}).names == [*beside]
