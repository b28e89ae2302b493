"""``tokgate selftest``: what is put down to whom, what counts as caught, the tables."""

import base64
import json
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
from harness.events import BatchDone, ContractOpened, Finished, Measured, StudyStarted, read_events
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
from reports.blocks import html, terminal
from reports.selftest import by_check, by_generator, idle, page, to_json

RAW = Mode(pretokenize=False)


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
    seen = disagreement(("right",), ("one", "two"), ("three",))
    between = contract("right", "one", "two", "three")

    alone = apart(Entry(between, seen, CASE), "two", {"one", "three"})

    assert [part.names for part in alone.violation.parts] == [("right",), ("two",)]
    assert alone.violation.culprits == ("two",)
    assert alone.contract.names == ["right", "two"]
    assert between.names == ["right", "one", "two", "three"]


def opened():
    return ContractOpened(
        "toy_ties/raw", "bpe", "toy_ties", "raw", ["right", "one"], ["right"], {}, []
    )


def batch(generator, cases):
    return BatchDone("toy_ties/raw", generator, cases, 9, 9, {}, {})


def test_first_sightings_are_kept_with_what_came_before(monkeypatch):
    ledger = Ledger({"one": "equivalence", "plain": ""})
    monkeypatch.setattr(ledger.suspects["one"], "consider", lambda *_: "")
    told(ledger, opened(), batch("edge", 100))
    seen = disagreement(("right",), ("one",))
    between = contract("right", "one", "plain")
    ledger.consider(None, Entry(between, seen, CASE))
    ledger.consider(None, Entry(between, seen, Case(b"ab", "tokens", 0, 9)))

    [sighting] = ledger.suspects["one"].sightings.values()
    assert (sighting.generator, sighting.check) == ("tokens", "equivalence")
    assert (sighting.cases, sighting.all_cases) == (5, 105)
    assert not ledger.suspects["plain"].sightings


def told(ledger, *events):
    for event in events:
        ledger.consume(lambda: None, event)


def test_a_hunt_goes_on_until_all_are_caught_and_all_generators_were_tried():
    ledger = Ledger({"one": "scaling", "plain": ""})
    told(ledger, opened())
    assert not ledger.unexpected
    told(ledger, batch("edge", 100), batch("edge", 100))
    assert not ledger.unexpected
    growth = Measured("one", "toy_ties", "runs", 2.0, 1.9, 2.1, "superlinear", [[256, 0.1]], "")
    told(ledger, growth)
    assert ledger.suspects["one"].named == ["scaling/"]
    assert ledger.unexpected


def judged(name, check, named, stages=(), sightings=(), trouble=""):
    return MistakeJudged(
        name=name, family="merging", summary="Wrong.", spec="m:C", vocabulary="toy_ties",
        mode="raw", check=check, stages=list(stages), named=list(named), bucket="", trouble=trouble,
        input_b64=base64.b64encode(b"ab").decode(), sightings=list(sightings),
    )  # fmt: skip


SIGHTING = Sighting("raw", "equivalence", 3, 1.0, 9, 2.0)


def hunted(names, found=("equivalence/merges",), seconds=5.0):
    """What a hunt comes to that shows the same of all."""
    shown = Shown([*found], sightings=[SIGHTING] if found else [])
    return msgspec.msgpack.encode(
        Hunted(dict.fromkeys(names, shown), {"raw": 40}, ["right"], seconds)
    )


class TestRounds:
    """What escapes is hunted again, with other cases, as long as there is time."""

    NAME = "merging.rightmost-tie"

    def selftest(self, folder, patch, caught_in_round, budget="60s"):
        """Events of a selftest whose hunt is a stand-in, and the seeds with which it hunted."""
        seeds, events = [], []

        def perform(keep, names, suite, seed, share, began):
            began()
            seeds.append(seed)
            return hunted(names, ["equivalence/merges"] if len(seeds) == caught_in_round else [])

        patch.setattr(hunts, "perform", perform)
        plan = make_plan([self.NAME], budget, seed=7, jobs=1, command="")
        status = conduct(Selftest(plan), folder, [events.append]).exit_status
        return seeds, [one for one in events if isinstance(one, MistakeJudged)], status

    def test_caught_in_the_second(self, tmp_path, monkeypatch):
        seeds, [one], status = self.selftest(tmp_path, monkeypatch, 2)
        assert len(set(seeds)) == 2
        assert status == exit_statuses.HOLDS
        assert one.sightings == [{**asdict(SIGHTING), "all_cases": 49, "all_seconds": 7.0}]

    def test_no_time_for_another(self, tmp_path, monkeypatch):
        seeds, [one], status = self.selftest(tmp_path, monkeypatch, 2, budget="5s")
        assert seeds == [7]
        assert status == exit_statuses.FAILS
        assert not one.caught


class TestGoingOn:
    """What was caught is not hunted again after an interruption; what was not is."""

    def test_what_was_caught_stands(self, tmp_path, monkeypatch):
        asked = []

        def perform(keep, names, suite, seed, share, began):
            asked.append(set(names))
            if len(asked) == 2:
                raise ValueError("lost")
            rightly = {n: f"{mistakes()[n].check}/{[*mistakes()[n].stages, ''][0]}" for n in names}
            shown = {name: Shown([named]) for name, named in rightly.items()}
            if len(asked) == 1:
                shown[names[0]] = Shown(trouble="cut off")
            return msgspec.msgpack.encode(Hunted(shown, {"raw": 40}, ["right"], 5.0))

        def selftest():
            plan = make_plan(["merging"], "600s", seed=7, jobs=1, command="")
            return plan, conduct(Selftest(plan), tmp_path, [])

        def caught():
            events = read_events(tmp_path / "run.jsonl")
            return [one.name for one in events if isinstance(one, MistakeJudged) and one.caught]

        monkeypatch.setattr(hunts, "perform", perform)
        _, first = selftest()
        assert (first.complete, first.exit_status) == (False, exit_statuses.CANNOT_START)
        before = set(caught())
        assert before < asked[0]
        assert len(before) == len(asked[0]) - 1
        plan, second = selftest()
        assert second.complete
        assert not before & set().union(*asked[2:])
        assert isinstance(next(iter(read_events(tmp_path / "run.jsonl"))), StudyStarted)
        assert sorted(caught()) == sorted({one.name for one in plan.mistakes})


NAME = "merging.rightmost-tie"
FOUND = ["equivalence/merges"]


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


def sighting(generator, check, cases, all_seconds):
    return {
        "generator": generator, "check": check, "cases": cases, "seconds": 0.5,
        "all_cases": cases + 10, "all_seconds": all_seconds,
    }  # fmt: skip


def events():
    """A selftest in which one of three mistakes escaped."""
    return [
        SelftestStarted(
            "now", "tokgate selftest", 0, 300.0, "ci", {}, "a machine", 3,
            ["edge", "tokens", "json"], ["survival", "equivalence"],
        ),
        judged("a", "equivalence", ["equivalence/merges"], [],
               [sighting("edge", "equivalence", 3, 1.0),
                sighting("tokens", "equivalence", 9, 2.0)]),
        judged("b", "equivalence", ["equivalence/text"], [],
               [sighting("tokens", "equivalence", 5, 4.0),
                sighting("tokens", "survival", 7, 5.0)]),
        judged("c", "survival", []),
        judged("plain.bpe", "", []),
        HuntDone("toy_ties", "cases", ["a", "b", "c"], ["right"], 9.0,
                 {"edge": 100, "tokens": 50, "json": 40}),
        Finished(True, "fail", ["c escaped: Wrong."], 12.0, 193, 0, 1),
    ]  # fmt: skip


def test_the_table_of_generators():
    edge, tokens, json_ = lines = by_generator(events())

    assert (edge["tried"], edge["caught"], edge["alone"], edge["median_cases"]) == (3, 1, [], 3)
    assert (tokens["caught"], tokens["alone"], tokens["median_cases"]) == (2, ["b"], 7)
    assert (tokens["cases"], json_["caught"]) == (50, 0)
    assert idle(lines) == ["The generator json caught nothing in 40 cases."]


def test_the_table_of_checks():
    survival, equivalence = by_check(events())

    assert (survival["tried"], survival["caught"], survival["alone"]) == (1, 1, [])
    assert (equivalence["tried"], equivalence["caught"]) == (2, 2)
    assert (equivalence["alone"], equivalence["median_seconds"]) == (["a"], 2.5)


def test_the_json_and_the_page_and_the_terminal():
    told = json.loads(to_json(events()))
    assert (told["verdict"], told["median_seconds"], told["median_cases"]) == ("fail", 2.5, 14)
    assert [one["name"] for one in told["generators"]] == ["edge", "tokens", "json"]
    assert [one["name"] for one in told["mistakes"]] == ["a", "b", "c"]

    text = html.render(page(events()))
    assert "2 of 3 planted mistakes caught" in text
    assert "The generator json caught nothing in" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    said = [str(part) for part in terminal.render(page(events()).blocks)]
    assert "c escaped: Wrong." in said
    assert "The generator json caught nothing in 40 cases." in said


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"patterns": ["nothing.*"]}, "matches no mutant"),
        ({"budget": "200cases"}, "give a time"),
        ({"budget": "soon"}, "--budget"),
    ],
)
def test_usage_errors(options, fault):
    given = {"patterns": [], "budget": None, "seed": 0, "jobs": 0, "command": "", **options}
    with pytest.raises(SelectionError, match=fault):
        make_plan(**given)


def test_families_and_patterns():
    every = make_plan([], None, 0, 0, "").mistakes
    family = make_plan(["wordpiece"], None, 0, 0, "").mistakes
    names = make_plan(["*.rightmost*", "merging.refuses"], "90s", 0, 0, "")

    assert len(every) == len(mistakes())
    assert {one.family for one in family} == {"wordpiece"}
    assert [one.name for one in names.mistakes] == [
        "merging.rightmost-tie", "spm.rightmost-first", "merging.refuses",
    ]  # fmt: skip
    assert names.seconds == 90.0
