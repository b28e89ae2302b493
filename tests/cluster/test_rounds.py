"""A campaign whose rounds are units is the campaign itself, whoever performs them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.executor import Done, Unit
from harness.cluster.local import LocalExecutor
from harness.events import ClusterUsed, UnitDone
from harness.studies.fuzz import crossing, sizing, units
from harness.studies.fuzz import session as sessions
from harness.studies.fuzz.arms import SHARED
from harness.studies.fuzz.corpus import Entry
from harness.studies.fuzz.plan import FuzzPlan
from harness.studies.fuzz.record import Record
from harness.studies.fuzz.state import Kept, Round, State
from harness.studies.fuzz.store import CampaignStore
from tests.cluster.campaigns import CASES, Quiet, campaign, everything, session, verdict_of
from tests.cluster.plans import content_of, plug_in
from tests.harness import fuzz_campaign
from tests.harness.test_leavings import PLUGIN, mark

__all__ = ["fuzz_campaign", "mark"]  # a fixture, and what makes batches small from the start


class Usual:
    """The campaign of this machine that others are held to."""

    def __init__(self, folder: Path) -> None:
        self.spec = plug_in(folder)
        self.plan: FuzzPlan = campaign(self.spec)
        self.out, self.where = folder / "usual", str(folder / "usual.db")
        self.made: Record = session(self.plan, self.where, self.out)


@pytest.fixture(scope="module", autouse=True)
def timeless_rounds() -> Iterator[None]:
    """The clock has no part in how large a round is, so that tests which count rounds can."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SHORT_SECONDS", "LONG_SECONDS"):
            patch.setattr(sizing, name, math.inf)
        patch.setattr(units, "ROUND_SECONDS", math.inf)
        yield


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Usual:
    """It is made once."""
    return Usual(tmp_path_factory.mktemp("usual"))


def findings_in(out: Path) -> dict[str, bytes]:
    """The folders of findings, but for the reproducers, which name vocabularies in other ways."""
    return {
        str(path.relative_to(out)): content_of(path)
        for path in sorted((out / "findings").rglob("*"))
        if path.is_file() and path.name != "repro.py"
    }


def equal(usual: Usual, there: Record, where: str, out: Path) -> None:
    """Hold a campaign to the usual one: state, corpus, findings, verdict, files."""
    whole = everything(usual.where)
    assert len(whole["findings"]) > 2, "else the rest says little"
    assert len(whole["inputs"]) > 20
    assert verdict_of(there) == verdict_of(usual.made)
    assert everything(where) == whole
    assert findings_in(out) == findings_in(usual.out)
    for path in (usual.out / "findings").rglob("repro.py"):
        assert (out / path.relative_to(usual.out)).is_file()


class Forgetting(LocalExecutor):
    """Places that have forgotten everything after some units: nothing is warm for long."""

    def next(self, seconds: float) -> Done | None:
        done = super().next(seconds)
        if done is not None and " round " in done.name and not done.name.endswith(("1", "2")):
            return replace(done, place="")
        return done


@pytest.mark.thorough
def test_an_interrupted_session_goes_on_where_it_is_cold(usual: Usual, tmp_path: Path) -> None:
    where, out = str(tmp_path / "there.db"), tmp_path / "there"
    commits = 0

    def interrupt(done: Any) -> None:
        nonlocal commits
        commits += 1
        if commits == 5:
            raise KeyboardInterrupt

    first = session(usual.plan, where, out, Forgetting(2), committed=interrupt)
    assert not first.finished.complete
    second = session(usual.plan, where, out, Forgetting(2))
    assert second.finished.complete
    whole = everything(usual.where)
    assert everything(where) == whole
    assert findings_in(out) == findings_in(usual.out)


@pytest.mark.thorough
def test_targets_that_take_turns_at_one_place_come_to_the_same(
    usual: Usual, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "TURN_SECONDS", 0.0)
    where = str(tmp_path / "there.db")
    there = session(usual.plan, where, tmp_path / "there", LocalExecutor(1))
    equal(usual, there, where, tmp_path / "there")


@pytest.mark.thorough  # a campaign: test_fuzz.py has one of this machine
def test_the_canary_is_a_unit(usual: Usual, tmp_path: Path) -> None:
    plan = campaign(usual.spec, shards=1, cases=50, canary=True)
    there = session(plan, str(tmp_path / "there.db"), tmp_path / "there", LocalExecutor(2))
    assert there.campaign["canary"]["found"] is True
    assert "the canary was found within" in there.campaign["canary"]["said"]


def test_what_workers_leave_behind_is_found_once(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "leaving.py"
    path.write_text(PLUGIN.format(mark=mark, leaves=True))
    plan = campaign(f"{path}:Leaving", shards=1, cases=20)
    here = session(plan, str(tmp_path / "here.db"), tmp_path / "here")
    there = session(plan, str(tmp_path / "there.db"), tmp_path / "there", LocalExecutor(2))
    left = [one for one in here.findings if one.stage == "left-processes"]
    assert len(left) == 1
    # Of how many processes it was is told by each worker, of which there are more.
    assert [(one.id, one.contract) for one in there.findings] == [
        (one.id, one.contract) for one in here.findings
    ]


class Gathering(LocalExecutor):
    """Hands out nothing before all units are done that were submitted, and then all of them."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self._underway = 0

    def submit(self, unit: Unit) -> None:
        self._underway += 1
        super().submit(unit)

    def next(self, seconds: float) -> Done | None:
        while seconds and self._done.qsize() < self._underway:
            time.sleep(0.05)
        done = super().next(seconds)
        self._underway -= done is not None
        return done


def test_a_campaign_in_units_is_the_campaign_itself(
    usual: Usual, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four targets on four places; what comes together is committed together."""
    sizes: list[int] = []
    commit = CampaignStore.commit

    def counted(store: CampaignStore, rounds: Sequence[Round], *forgotten: Any) -> None:
        sizes.append(len(rounds))
        assert len({one.target for one in rounds}) == len(rounds)
        commit(store, rounds, *forgotten)

    monkeypatch.setattr(CampaignStore, "commit", counted)
    where = str(tmp_path / "there.db")
    seen = Quiet()
    there = session(usual.plan, where, tmp_path / "there", Gathering(4), seen)
    equal(usual, there, where, tmp_path / "there")
    assert max(sizes) > 1
    (told,) = [one for one in there.events if isinstance(one, ClusterUsed)]
    assert sum(one.cases for one in told.nodes) == there.session_cases
    assert sum(one.cases for one in seen.of(UnitDone)) == there.session_cases


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs cross between targets after 40 cases, and after 80."""
    monkeypatch.setattr(crossing, "FIRST", 40)
    monkeypatch.setattr(crossing, "FACTOR", 2)


def taken_up(where: str) -> dict[str, list[bytes]]:
    """By target, the inputs of others that showed something new there."""
    store = CampaignStore(where, "test")
    store.begin(store.stored_identity() or {}, anew=False)
    found = {}
    for name in ("toy_bytes#0", "toy_bytes#1", "toy_acbb#0", "toy_acbb#1"):
        kept = store.target(name)
        assert kept is not None
        assert kept.state.crossed == 2
        assert kept.state.cases == CASES
        found[name] = [one.data for one in kept.state.corpus if one.origin == SHARED]
    return found


@pytest.mark.thorough
def test_what_one_target_found_reaches_the_others_alike(
    usual: Usual, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, soon: None
) -> None:
    """On one machine, in units on a slow one, and cut off on the way from one to the other."""
    here = session(usual.plan, str(tmp_path / "here.db"), tmp_path / "here")
    assert here.campaign["cases"] == 4 * CASES
    found = taken_up(str(tmp_path / "here.db"))
    assert sum(map(len, found.values())) > 4
    whole = everything(str(tmp_path / "here.db"))
    assert whole["inputs"] != everything(usual.where)["inputs"]

    # There a round never takes on more than the first one.
    monkeypatch.setattr(sizing, "SHORT_SECONDS", -1.0)
    rounds: list[Round] = []
    session(
        usual.plan, str(tmp_path / "there.db"), tmp_path / "there", LocalExecutor(3),
        committed=rounds.append,
    )  # fmt: skip
    assert {one.round_size for one in rounds} == {sizing.FIRST}
    assert everything(str(tmp_path / "there.db")) == whole
    assert findings_in(tmp_path / "there") == findings_in(tmp_path / "here")

    where, commits = str(tmp_path / "cut.db"), 0

    def interrupt(done: Any) -> None:
        nonlocal commits
        commits += 1
        if commits == 4:
            raise KeyboardInterrupt

    first = session(usual.plan, where, tmp_path / "cut", committed=interrupt)
    assert not first.finished.complete
    session(usual.plan, where, tmp_path / "cut", LocalExecutor(2))
    assert everything(where) == whole


def test_what_crosses() -> None:
    assert [crossing.limit(20_000, number) for number in range(4)] == [2000, 8000, 20_000, 20_000]
    assert crossing.limit(None, 3) is None
    mine, others = [Entry(b"a", "raw", 1)], [Entry(b"b", "raw", 1), Entry(b"c", "raw", 3)]
    kept = Kept(State(corpus=[*mine, Entry(b"d", SHARED, 9)]))
    assert crossing.offer(kept) == mine, "what came from others is theirs to offer"
    assert crossing.offer(Kept(replace(kept.state, offered=1))) == []
    theirs = crossing.offer(Kept(State(corpus=others)))
    assert [one.data for one in theirs] == [b"c", b"b"]
    assert crossing.given(kept, [theirs, mine, [Entry(b"c", "raw", 1)]]) == [b"c", b"b"]
