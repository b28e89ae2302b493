"""Searches for the worst input as units: what they find is measured again where the driver is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from corpora.families.catalog import families
from corpora.families.pattern import repeated
from corpora.vocabularies.sources import resolve
from harness.cluster.executor import UnitError
from harness.cluster.local import LocalExecutor
from harness.engine import selection
from harness.engine.portable import packed, portable
from harness.engine.steps import conduct
from harness.events import ClusterUsed, Searched, SearchGathered, UnitDone, read_events
from harness.studies.worst.plan import WorstPlan
from harness.studies.worst.run import WorstStudy
from harness.studies.worst.session import Watcher
from harness.studies.worst.state import Candidate, State
from harness.studies.worst.units import found_by, plan_here, portable_plan

SLOW = f"{Path(__file__).parents[1] / 'harness' / 'slow_on_punctuation.py'}:IMPLEMENTATION"

FOUND: dict[str, Any] = msgspec.to_builtins(
    State(1.5, 2, 7, places={"cost/r0L": Candidate(repeated(b"a", b"b"), "bred")})
)


def planned(budget):
    """A search of what is slow on punctuation, which is told of no family."""
    [participant], _ = selection.participants([SLOW])
    vocabulary = resolve("toy_bytes")
    suiting = {name: one for name, one in families().items() if one.suits(vocabulary)}
    return WorstPlan(
        participant, vocabulary, suiting, frozenset(suiting), 16 << 10, budget, 5, False, 1 << 30, 3
    )


def study(plan, out, made, slots=2):
    def opened():
        made.append(LocalExecutor(slots))
        return made[-1]

    return WorstStudy(plan, out, "tokgate worst", Watcher(), opened=opened)


@pytest.mark.thorough  # whole searches, by the clock
def test_two_searches_are_one_report(tmp_path):
    made = []
    finished = conduct(study(planned(20.0), tmp_path, made), tmp_path, [])
    assert finished.complete
    events = list(read_events(tmp_path / "run.jsonl"))
    came = [one for one in events if isinstance(one, SearchGathered)]
    assert sorted(one.number for one in came) == [0, 1]
    assert {one.searches for one in came} == {2}
    done = [one for one in events if isinstance(one, UnitDone)]
    assert {one.unit for one in done} == {"search 1 of 2", "search 2 of 2"}
    [used] = [one for one in events if isinstance(one, ClusterUsed)]
    assert (used.units, len(used.nodes)) == (2, 1)
    [report] = [one.report for one in events if isinstance(one, Searched)]
    assert report["complete"]
    # Readings of the last search come on top of those of the units.
    assert report["readings"] > sum(one.found["readings"] for one in came) > 0
    assert report["generations"] == sum(one.found["generation"] for one in came)
    assert not (tmp_path / "search.json").exists()


def test_what_was_searched_is_not_searched_again(tmp_path):
    kept = [SearchGathered(number, 3, FOUND) for number in (0, 2)]
    begun = study(planned(2.0), tmp_path, [], slots=2)
    assert list(begun.kept([*kept, ClusterUsed(0, 0, 0, 0, 0, [])])) == kept
    begun.plan(kept)
    told = []
    begun.step("search", told.append)
    # As many searches as at first, whatever cluster there is now.
    [other] = [one for one in told if isinstance(one, SearchGathered)]
    assert (other.number, other.searches) == (1, 3)


def test_the_searches_of_a_cluster_are_no_state_of_one_alone(tmp_path):
    alone = WorstStudy(planned(2.0), tmp_path, "", Watcher())
    assert alone.identity() != study(planned(2.0), tmp_path, []).identity()


def test_each_search_has_a_seed_of_its_own():
    plan = planned(1.0)
    bare, plug_in = portable_plan(plan), portable(plan.participant)
    plans = [plan_here(bare, plug_in, plan.vocabulary, number, 1.0) for number in range(3)]
    assert plans[0].seed == plan.seed
    assert len({one.seed for one in plans}) == 3
    assert {one.participant.name for one in plans} == {plan.participant.name}
    assert {tuple(one.families) for one in plans} == {("prose",)}


@pytest.mark.parametrize(
    "found",
    [[], {**FOUND, "places": [{}]}, {**FOUND, "deaths": [1]}, {**FOUND, "readings": None}],
)
def test_what_no_search_found_is_refused(found):
    with pytest.raises(UnitError, match="cannot be read"):
        found_by("search 1 of 1", packed(found, {}))
    with pytest.raises(UnitError, match="cannot be read"):
        found_by("search 1 of 1", b"nothing")
