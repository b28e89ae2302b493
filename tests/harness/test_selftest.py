"""``tokgate selftest``: what is put down to whom, what counts as caught, the tables."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

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
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.events import (
    HuntDone,
    MistakeJudged,
    SelftestStarted,
)
from harness.studies.selftest.ledger import ROUNDS, Ledger, apart, tells
from harness.studies.selftest.run import Selftest, make_plan, verdict
from impls.interface import About, Mode
from reports.blocks import html, terminal
from reports.selftest import by_check, by_generator, idle, page, to_json
from tests.harness.command import tokgate

RAW = Mode(pretokenize=False)


def contract(*names, references=("right",)):
    members = tuple(Participant(n, n, About(name=n, version="1"), None) for n in names)
    return Contract(resolve("toy_ties"), RAW, members, frozenset(references), {}, proper=True)


def disagreement(*groups, check="equivalence", stage=None):
    parts = tuple(Part(names, Encoded((i,))) for i, names in enumerate(groups))
    blamed = tuple(name for part in parts[1:] for name in part.names)
    return Violation(check, 0, b"ab", parts, blamed, stage)


def test_a_disagreement_with_a_reference_tells_of_each_candidate():
    seen = disagreement(("right",), ("one", "two"), ("three",))
    between = contract("right", "one", "two", "three")

    assert all(tells(seen, between, name) for name in ("one", "two", "three"))


def test_candidates_among_themselves_tell_nothing():
    seen = disagreement(("one", "two"), ("three",))

    assert not tells(seen, contract("right", "one", "two", "three"), "three")


def test_candidates_that_differ_where_nobody_is_blamed_tell_of_none():
    seen = replace(disagreement(("one",), ("two",)), culprits=("one", "two"), undecided=True)
    assert not tells(seen, contract("right", "one", "two"), "one")
    assert not tells(seen, contract("right", "one", "two"), "two")


def test_an_answer_compared_with_itself_tells():
    seen = disagreement(("one",), ("one (again)",), check="determinism", stage="order")

    assert tells(seen, contract("right", "one"), "one")


def test_a_candidate_is_looked_at_as_if_it_were_alone():
    seen = disagreement(("right",), ("one", "two"), ("three",))
    between = contract("right", "one", "two", "three")

    alone, narrowed = apart(seen, between, "two", {"one", "three"})

    assert [part.names for part in alone.parts] == [("right",), ("two",)]
    assert alone.culprits == ("two",)
    assert narrowed.names == ["right", "two"]
    assert between.names == ["right", "one", "two", "three"]


def opened():
    return ContractOpened(
        "toy_ties/raw", "bpe", "toy_ties", "raw", ["right", "one"], ["right"], {}, []
    )


def batch(generator, cases):
    return BatchDone("toy_ties/raw", generator, cases, 9, 9, {}, {})


def test_first_sightings_are_kept_with_what_came_before(monkeypatch):
    ledger = Ledger({"one": "equivalence", "plain": ""})
    monkeypatch.setattr(ledger.suspects["one"].tracker, "consider", lambda *_: "")
    ledger.consume(opened())
    ledger.consume(batch("edge", 100))
    seen = disagreement(("right",), ("one",))
    between = contract("right", "one", "plain")
    ledger.consider(None, Entry(between, seen, Case(b"ab", "tokens", 0, 4)))
    ledger.consider(None, Entry(between, seen, Case(b"ab", "tokens", 0, 9)))

    [sighting] = ledger.suspects["one"].sightings.values()
    assert (sighting.generator, sighting.check) == ("tokens", "equivalence")
    assert (sighting.cases, sighting.all_cases) == (5, 105)
    assert not ledger.suspects["plain"].sightings


def test_a_hunt_goes_on_until_all_are_caught_and_all_generators_were_tried():
    ledger = Ledger({"one": "scaling", "plain": ""})
    ledger.consume(opened())
    assert not ledger.unexpected
    for _ in range(ROUNDS + 1):
        ledger.consume(batch("edge", 100))
    assert not ledger.unexpected
    ledger.consume(
        Measured("one", "toy_ties", "runs", 2.0, 1.9, 2.1, "superlinear", [[256, 0.1]], "")
    )
    assert ledger.suspects["one"].named == ["scaling/"]
    assert ledger.unexpected


def judged(name, check, named, stages=(), sightings=(), trouble=""):
    return MistakeJudged(
        name=name, family="merging", summary="Wrong.", spec="m:C", vocabulary="toy_ties",
        mode="raw", check=check, stages=list(stages), named=list(named), bucket="", trouble=trouble,
        input_b64=base64.b64encode(b"ab").decode(), sightings=list(sightings),
    )  # fmt: skip


SIGHTING = {
    "generator": "raw",
    "check": "equivalence",
    "cases": 3,
    "seconds": 1.0,
    "all_cases": 9,
    "all_seconds": 2.0,
}


class TestRounds:
    """What escapes is hunted again, with other cases, as long as there is time."""

    NAME = "merging.rightmost-tie"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def selftest(self, caught_in_round, budget="60s"):
        """Events of a selftest whose hunt is a stand-in, and the seeds with which it hunted."""
        seeds, events = [], []

        class Rigged(Selftest):
            def _hunted(self, group, share):
                seeds.append(self._seed)
                found = ["equivalence/merges"] if len(seeds) == caught_in_round else []
                done = HuntDone("toy_ties", "cases", [TestRounds.NAME], ["right"], 5.0, {"raw": 40})
                seen = [SIGHTING] if found else []
                return [judged(TestRounds.NAME, "equivalence", found, sightings=seen), done]

        plan = make_plan([self.NAME], budget, seed=7, jobs=1, command="")
        status = conduct(Rigged(plan), self.folder, [events.append]).exit_status
        return seeds, [one for one in events if isinstance(one, MistakeJudged)], status

    def test_caught_in_the_second(self):
        seeds, [one], status = self.selftest(caught_in_round=2)
        assert len(set(seeds)) == 2
        assert status == exit_statuses.HOLDS
        assert one.sightings == [{**SIGHTING, "all_cases": 49, "all_seconds": 7.0}]

    def test_caught_at_once(self):
        seeds, [one], _ = self.selftest(caught_in_round=1)
        assert seeds == [7]
        assert one.sightings == [SIGHTING]

    def test_no_time_for_another(self):
        seeds, [one], status = self.selftest(caught_in_round=2, budget="5s")
        assert seeds == [7]
        assert status == exit_statuses.FAILS
        assert not one.caught


class TestGoingOn:
    """What was caught is not hunted again after an interruption; what was not is."""

    def test_what_was_caught_stands(self, tmp_path):
        hunted = []

        class Rigged(Selftest):
            def _hunted(self, group, share):
                names = [one.name for one in group.mistakes]
                hunted.append(set(names))
                if len(hunted) == 2:
                    raise KeyboardInterrupt
                found = [judged(n, "equivalence", ["equivalence/merges"]) for n in names[1:]]
                if len(hunted) > 2:
                    found.append(judged(names[0], "equivalence", ["equivalence/merges"]))
                done = HuntDone(group.vocabulary, "cases", names, ["right"], 5.0, {"raw": 40})
                return [*found, done]

        def selftest():
            plan = make_plan(["merging"], "600s", seed=7, jobs=1, command="")
            return plan, conduct(Rigged(plan), tmp_path, [])

        _, first = selftest()
        assert (first.complete, first.exit_status) == (False, 130)
        caught = set(hunted[0])
        told = {one.name for one in read_events(tmp_path / "run.jsonl")
                if isinstance(one, MistakeJudged) and one.rightly}  # fmt: skip
        assert told < caught and len(told) == len(caught) - 1
        before = len(hunted)
        plan, second = selftest()
        assert second.complete
        assert not told & set().union(*hunted[before:])
        events = list(read_events(tmp_path / "run.jsonl"))
        assert isinstance(events[0], StudyStarted)
        names = [one.name for one in events if isinstance(one, MistakeJudged) and one.rightly]
        assert sorted(names) == sorted({one.name for one in plan.mistakes})


class TestVerdict:
    PLANTED = (mistakes()["merging.rightmost-tie"],)
    NAME = "merging.rightmost-tie"

    def test_caught_under_its_name(self):
        one = judged(self.NAME, "equivalence", ["equivalence/merges"], ["merges"])
        assert verdict([one], self.PLANTED) == ([], exit_statuses.HOLDS)

    def test_caught_at_another_stage(self):
        one = judged(self.NAME, "equivalence", ["equivalence/text"], ["merges"])
        assert verdict([one], self.PLANTED)[1] == exit_statuses.FAILS

    def test_escaped(self):
        [reason], status = verdict([judged(self.NAME, "equivalence", [])], self.PLANTED)
        assert status == exit_statuses.FAILS
        assert reason.startswith("merging.rightmost-tie escaped")

    def test_not_reached(self):
        assert verdict([], self.PLANTED) == (
            ["1 not hunted: merging.rightmost-tie"],
            exit_statuses.FAILS,
        )

    def test_a_false_alarm(self):
        one = judged(self.NAME, "equivalence", ["equivalence/merges"])
        right = judged("plain.bpe", "", ["survival/crashed"])
        [reason], status = verdict([one, right], self.PLANTED)
        assert status == exit_statuses.FAILS
        assert "plain.bpe, which is right" in reason


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


def test_the_command(tmp_path):
    options = ("--mutant=merging.refuses", "--mutant=merging.stale-kept", "--budget=40s")
    done = tokgate("selftest", *options, f"--out={tmp_path}")

    told = json.loads((tmp_path / "selftest.json").read_text())
    assert done.returncode == 0, done.stderr
    assert told["complete"]
    assert {one["name"]: one["named"][0] for one in told["mistakes"]} == {
        "merging.refuses": "equivalence/rejection",
        "merging.stale-kept": "equivalence/text",
    }
    assert [one["named"] for one in told["controls"]] == [[]]
    assert (tmp_path / "selftest.html").stat().st_size > 5000
