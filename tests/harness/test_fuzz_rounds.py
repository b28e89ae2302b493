"""A round is as large as is done in a few seconds, whoever is slow; what is asked is the same."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from harness.cli.progress.fuzz import FuzzProgress
from harness.core.outcomes import Results
from harness.engine import streams
from harness.engine.streams import Batch
from harness.engine.suites import Budget
from harness.events import BatchDone
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz import run as campaign
from harness.studies.fuzz.run import execute
from harness.studies.fuzz.session import TURN_SECONDS, turn
from harness.studies.fuzz.sizing import (
    FIRST,
    GROWTH,
    LONG_SECONDS,
    ROUND_SECONDS,
    SHORT_SECONDS,
    WHOLE,
    Waiting,
    after,
    next_size,
    taken,
    weight,
)
from harness.studies.fuzz.state import Round
from harness.studies.fuzz.store import CampaignStore
from harness.workers import worker as workers
from tests.durability import inside
from tests.durability.subjects import Campaign
from tests.harness.fuzz_campaign import WRONG, everything, small_plan


class Clock:
    """Goes on when somebody works, and not otherwise."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Committed(NamedTuple):
    """What was so when a round was committed."""

    when: float
    cases: int
    waiting: int
    round_size: int


class Slow(inside.InsideProcess):
    """Takes so many seconds for each input of a batch, by the clock of the test.

    Whoever would take longer than a round may waits until it is killed.
    """

    clock: Clock
    seconds: float

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, **named)  # type: ignore[arg-type]
        self._killed = threading.Event()

    def ask(self, request, seconds, kind, count=0):  # type: ignore[no-untyped-def]
        if kind is Results:
            takes = self.seconds * len(request)
            self.clock.now += takes
            if takes > ROUND_SECONDS and len(request) > 1:
                assert self._killed.wait(60), "nobody has given up the round"
                raise workers.WorkerDied(workers.Failed(workers.Status.CRASHED, "killed"), -1)
        return super().ask(request, seconds, kind, count)

    def kill(self) -> None:
        self._killed.set()


def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seconds: float, cases: int = 60
) -> list[Committed]:
    """A campaign of one target with two who are slow; its rounds."""
    clock = Clock()
    monkeypatch.setattr(Slow, "clock", clock, raising=False)
    monkeypatch.setattr(Slow, "seconds", seconds, raising=False)
    monkeypatch.setattr(workers, "Process", Slow)
    monkeypatch.setattr(streams, "FIRST_BATCH_CASES", 24)
    monkeypatch.setattr(streams, "BATCH_CASES", 24)
    monkeypatch.setattr("harness.studies.fuzz.arms.MUTANTS", 24)
    plan = Campaign(cases)._plan
    alone = replace(plan.plan, participants=plan.plan.participants[:2], checks=plan.plan.checks[:1])
    done: list[Committed] = []

    def committed(one: Round) -> None:
        done.append(Committed(clock.now, one.cases, one.waiting, one.round_size))

    execute(
        replace(plan, shards=1, plan=alone),
        CampaignStore(str(tmp_path / f"{seconds}.db"), "test"),
        tmp_path / f"{seconds}",
        "test",
        lambda known: FuzzProgress(Console(stderr=True), known, None),
        lambda made: None,
        3600,
        committed=committed,
        clock=clock,
    )
    return done


def test_a_killed_round_costs_ten_seconds_at_most(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Two implementations, each of them as slow, one input of which takes a fifth of a second.
    done = run(monkeypatch, tmp_path, 0.2)
    times = [0.0, *(one.when for one in done)]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert max(gaps) <= ROUND_SECONDS
    assert sum(gaps) > 2 * ROUND_SECONDS, "it is slow"
    assert sum(one.waiting > 0 for one in done) > 1, "batches were parted"


def test_rounds_of_who_is_fast_are_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = run(monkeypatch, tmp_path, 0.0)
    slow = run(monkeypatch, tmp_path, 0.2)
    assert len(done) < len(slow)
    assert done[-1].round_size > FIRST
    # The size decides when something is committed, and not what is asked.
    corpora = [everything(str(tmp_path / f"{seconds}.db"))["inputs"] for seconds in (0.0, 0.2)]
    shared = min(map(len, corpora))
    assert shared > 30
    assert corpora[0][:shared] == corpora[1][:shared]


def test_a_round_that_takes_too_long_is_done_again_in_smaller_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The first round, of whose pace nothing is known, is beyond what a round may take.
    done = run(monkeypatch, tmp_path, 4.0, cases=6)
    assert [one.cases for one in done] == [1, 2, 3, 4, 5, 6]
    assert all(one.waiting for one in done)


def test_findings_of_a_round_are_made_small_within_its_time_but_for_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock, a_finding = Clock(), 6.0
    consider = FindingTracker.consider

    def slowly(tracker: FindingTracker, *given: Any) -> str:
        clock.now += a_finding
        return consider(tracker, *given)

    monkeypatch.setattr(FindingTracker, "consider", slowly)
    monkeypatch.setattr(workers, "Process", inside.InsideProcess)
    done: list[float] = []
    plan = small_plan(60, ("bpe.naive", f"{WRONG}:AlwaysWrong"))
    execute(
        plan, CampaignStore(str(tmp_path / "x.db"), "test"), tmp_path / "out", "test",
        lambda known: FuzzProgress(Console(stderr=True), known, None), lambda made: None, 3600,
        committed=lambda one: done.append(clock.now), clock=clock,
    )  # fmt: skip
    gaps = [later - earlier for earlier, later in pairwise([0.0, *done])]
    assert sum(gaps) > 4 * ROUND_SECONDS, "there are findings"
    # What is looked into when the time is up is brought to an end, and the round given up then.
    assert max(gaps) <= 2 * (ROUND_SECONDS + a_finding)


def test_sizes() -> None:
    assert next_size(100, 100, 0.1) == 100 * GROWTH
    assert next_size(100, 100, SHORT_SECONDS + 1) == 100
    assert next_size(WHOLE, 1000, LONG_SECONDS * 2) == 250
    assert next_size(1, 1, 1e9) == 1
    assert next_size(WHOLE, 10, 0.0) == WHOLE
    assert SHORT_SECONDS * GROWTH <= ROUND_SECONDS


def test_parts_are_all_of_a_batch_in_order() -> None:
    batches = [
        Batch("g", 0, n, 10 * n, [bytes([65 + n]) * (9 * k) for k in range(5)]) for n in range(3)
    ]
    for size in (1, 50, 200, 300, WHOLE):
        asked, ends = [], 0
        waiting = [Waiting.of(f"arm-{n}", one) for n, one in enumerate(batches)]
        while waiting:
            parts = taken(waiting, size)
            inputs = [data for part in parts for data in part.batch.inputs]
            assert len(inputs) == 1 or weight(inputs) <= size
            asked += [
                case
                for part in parts
                for case in map(part.batch.case, range(len(part.batch.inputs)))
            ]
            ends += sum(part.last for part in parts)
            came = [replace(part.waiting, cases=part.waiting.cases + 1) for part in parts]
            waiting = after(waiting, parts, came)
        assert ends == len(batches)
        assert asked == [one.case(i) for one in batches for i in range(5)]


def test_in_a_short_session_each_target_has_its_turn() -> None:
    assert turn(None, 1, 24) == TURN_SECONDS
    assert turn(3600.0, 2, 24) == TURN_SECONDS
    assert turn(60.0, 1, 6) == 10.0
    assert turn(60.0, 2, 6) == 20.0


def test_what_a_campaign_needs_is_made_before_its_time_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[str] = []
    monkeypatch.setattr(campaign, "prepare", lambda *given: told.append("prepared"))
    monkeypatch.setattr(campaign.Session, "run", lambda *given: told.append("begun"))
    made = small_plan(60, ("bpe.naive", "bpe.heap"))
    campaign.execute(
        made, CampaignStore(str(tmp_path / "x.db"), "test"), tmp_path / "out", "test",
        lambda known: FuzzProgress(Console(stderr=True), known, None), lambda made: None, 3600,
    )  # fmt: skip
    assert told == ["prepared", "begun"]


@pytest.mark.parametrize("named", [True, False])
def test_what_was_named_has_a_round_though_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: bool
) -> None:
    monkeypatch.setattr(workers, "Process", inside.InsideProcess)
    monkeypatch.setattr(campaign, "prepare", lambda *given: 0)
    made = small_plan(60, ("bpe.naive", "bpe.heap"), ("toy_bytes", "toy_ties", "toy_acbb"))
    asked = {"vocabularies": list(made.plan.vocabularies)} if named else {}
    plan = replace(made.plan, budget=Budget(seconds=1e-3), asked=asked, jobs=1)
    record = campaign.execute(
        replace(made, plan=plan), CampaignStore(str(tmp_path / "x.db"), "test"), tmp_path / "out",
        "test", lambda known: FuzzProgress(Console(stderr=True), known, None), lambda made: None,
        3600,
    )  # fmt: skip
    done = {event.contract for event in record.events if isinstance(event, BatchDone)}
    reached = {one.split("/")[0] for one in done}
    if named:
        assert reached == {"toy_bytes", "toy_ties", "toy_acbb"}
        assert record.finished.exit_status == 0, record.finished.reasons
        assert "to test what you named on" in " ".join(record.finished.notes)
    else:
        assert len(reached) < 3
