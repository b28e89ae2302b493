"""Rounds of a campaign and its time: turns, what comes before it, what goes on after it."""

from dataclasses import replace

import pytest

from harness.engine.suites import Budget
from harness.events import BatchDone
from harness.studies.campaigns.session import TURN_SECONDS, turn
from harness.studies.fuzz import run as campaign
from tests.doubles.fuzz_campaign import no_processes, run, small_plan

__all__ = ["no_processes"]


def test_in_a_short_session_each_target_has_its_turn():
    assert turn(None, 1, 24) == TURN_SECONDS
    assert turn(3600.0, 2, 24) == TURN_SECONDS
    assert turn(60.0, 1, 6) == 10.0
    assert turn(60.0, 2, 6) == 20.0


def test_what_a_campaign_needs_is_made_before_its_time_begins(monkeypatch, tmp_path):
    told = []
    monkeypatch.setattr(campaign, "prepare", lambda *given: told.append("prepared"))
    monkeypatch.setattr(campaign.Session, "run", lambda *given: told.append("begun"))
    made = small_plan(60, ("bpe.heap",))
    run(made, str(tmp_path / "x.db"), tmp_path / "out")
    assert told == ["prepared", "begun"]


@pytest.mark.parametrize("named", [True, False])
def test_what_was_named_has_a_round_though_the_time_is_over(no_processes, tmp_path, named):
    made = small_plan(60, ("bpe.heap",), ("toy_bytes", "toy_ties", "toy_acbb"))
    asked = {"vocabularies": list(made.plan.vocabularies)} if named else {}
    plan = replace(made.plan, budget=Budget(seconds=1e-3), asked=asked, jobs=1)
    record = run(replace(made, plan=plan), str(tmp_path / "x.db"), tmp_path / "out")
    done = {event.contract for event in record.events if isinstance(event, BatchDone)}
    reached = {one.split("/")[0] for one in done}
    if named:
        assert reached == {"toy_bytes", "toy_ties", "toy_acbb"}
        assert record.finished.exit_status == 0, record.finished.reasons
        assert "to test what you named on" in " ".join(record.finished.notes)
    else:
        assert len(reached) < 3
