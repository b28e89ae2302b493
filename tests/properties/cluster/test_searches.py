"""Searches for the worst input as targets: what they find is measured again where the driver is."""

from dataclasses import replace

import pytest

from corpora.families.pattern import repeated
from harness.cluster.local import LocalExecutor
from harness.engine.steps import conduct
from harness.events import ClusterUsed, Searched, read_events
from harness.studies.campaigns.units import Campaign
from harness.studies.worst.finals import standing_out
from harness.studies.worst.plan import make_plan
from harness.studies.worst.run import WorstStudy, store_of
from harness.studies.worst.state import Aim, Candidate, State
from harness.studies.worst.target import Target
from tests.doubles import slow_on_punctuation
from tests.properties.cluster.campaigns import Quiet

SLOW = f"{slow_on_punctuation.__file__}:IMPLEMENTATION"


def planned(budget):
    """A search of what is slow on punctuation, which is told of no family."""
    return make_plan([SLOW], ["toy_bytes"], budget, "16KB", ["all"], False, 3, 5, 1 << 30)


def study(plan, out, slots=2):
    return WorstStudy(plan, out, "tokgate worst", Quiet(), opened=lambda: LocalExecutor(slots))


@pytest.mark.thorough  # whole searches, by the clock
def test_two_searches_are_one_report_and_are_gone_on_with(tmp_path):
    def searched():
        finished = conduct(study(planned(20.0), tmp_path), tmp_path, [])
        events = list(read_events(tmp_path / "run.jsonl"))
        [report] = [one.report for one in events if isinstance(one, Searched)]
        assert finished.complete and report["complete"]
        return report, [one for one in events if isinstance(one, ClusterUsed)]

    report, [used] = searched()
    assert len(used.nodes) == 1
    plan = study(planned(20.0), tmp_path)
    store = store_of(tmp_path, plan.identity())
    store.begin(plan.identity(), anew=False)
    both = store.targets(replace(plan.search, shards=2).targets, State)
    assert len(both) == 2
    assert used.units > report["generations"]
    assert report["generations"] == sum(one.state.schedule.number for one in both.values()) > 0
    assert report["readings"] == sum(one.state.cases for one in both.values())
    # There is no time left to search in, and all that was found is measured again.
    again, _ = searched()
    assert again["found"]
    assert again["generations"] < 2 * report["generations"]  # not another whole search


def test_the_searches_of_a_cluster_are_no_state_of_one_alone(tmp_path):
    alone = WorstStudy(planned(2.0), tmp_path, "", Quiet())
    assert alone.identity() != study(planned(2.0), tmp_path).identity()


def test_a_plan_travels():
    plan = replace(planned(1.0), shards=2)
    there = Campaign.of(plan, Target).here(plan.plan.vocabularies)
    assert (
        there.targets
        == plan.targets
        == {"toy_bytes#0": ("toy_bytes", 0), "toy_bytes#1": ("toy_bytes", 1)}
    )
    assert there.participant.name == plan.participant.name
    assert there.vocabulary == plan.vocabulary
    assert there.sizes == plan.sizes


def test_costs_of_two_machines_are_compared_by_what_prose_costs_there():
    sizes = planned(1.0).sizes

    def state(control, byte, cost):
        one = Candidate(repeated(byte), "bred")
        one.take(sizes.large, 1000, int(1000 * cost))
        return State(control=control, places={f"cost/{byte!r}": one})

    slow, fast = state(100.0, b"a", 300.0), state(10.0, b"b", 50.0)
    ranked = [one.pattern for aim, one in standing_out([slow, fast], sizes, 2) if aim is Aim.COST]
    assert ranked == [repeated(b"b"), repeated(b"a")]
