"""A campaign whose rounds are units is the campaign itself, whoever performs them."""

import shutil
from dataclasses import replace

import pytest

from harness.cluster.local import LocalExecutor
from harness.engine.suites import Budget
from harness.events import ClusterUsed, UnitDone
from harness.studies.campaigns import session as sessions
from harness.studies.campaigns.state import Kept
from harness.studies.fuzz.arms import SHARED
from harness.studies.fuzz.corpus import Entry
from harness.studies.fuzz.plan import OFFERED, crossing
from harness.studies.fuzz.state import State
from tests.breadth import thorough
from tests.doubles import fuzz_campaign
from tests.doubles.leaving import PLUGIN, mark
from tests.properties.cluster.campaigns import Quiet, campaign, everything, session, verdict_of
from tests.properties.cluster.plans import files_of, plug_in

__all__ = ["mark"]  # a fixture

fuzz_campaign.shrink_batches()


class Usual:
    """The campaign of this machine that others are held to."""

    def __init__(self, folder):
        self.spec = plug_in(folder)
        self.plan = campaign(self.spec)
        self.out, self.where = folder / "usual", str(folder / "usual.db")
        self.made = session(self.plan, self.where, self.out)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """It is made once."""
    return Usual(tmp_path_factory.mktemp("usual"))


def findings_in(out):
    """The folders of findings; of reproducers, which name vocabularies in other ways, the names."""
    return {
        name: name if name.endswith("repro.py") else content
        for name, content in files_of(out).items()
        if name.startswith("findings")
    }


def equal(usual, there, where, out):
    """Hold a campaign to the usual one: state, corpus, findings, verdict, files."""
    whole = everything(usual.where)
    assert len(whole["findings"]) > 2, "else the rest says little"
    assert len(whole["inputs"]) > 20
    assert everything(where) == whole
    assert findings_in(out) == findings_in(usual.out)
    assert there.finished.complete
    if there.session_cases == usual.made.session_cases:
        assert verdict_of(there) == verdict_of(usual.made)


class Forgetting(LocalExecutor):
    """Places that have forgotten everything after some units: nothing is warm for long."""

    def next(self, seconds):
        done = super().next(seconds)
        if done is not None and " round " in done.name and not done.name.endswith(("1", "2")):
            return replace(done, place="")
        return done


@pytest.mark.thorough
def test_an_interrupted_session_goes_on_where_it_is_cold(usual, tmp_path):
    where, out = str(tmp_path / "there.db"), tmp_path / "there"
    commits = 0

    def interrupt(done):
        nonlocal commits
        commits += 1
        if commits == 5:
            raise KeyboardInterrupt

    first = session(usual.plan, where, out, Forgetting(2), committed=interrupt)
    assert not first.finished.complete
    equal(usual, session(usual.plan, where, out, Forgetting(2)), where, out)


@pytest.mark.parametrize("places", [4, thorough(1)])
def test_a_campaign_in_units_is_the_campaign_itself(usual, tmp_path, places, monkeypatch):
    """Four targets on four places, or in turns at one."""
    monkeypatch.setattr(sessions, "TURN_SECONDS", sessions.TURN_SECONDS if places > 1 else 0.0)
    where, seen = str(tmp_path / "there.db"), Quiet()
    there = session(usual.plan, where, tmp_path / "there", LocalExecutor(places), seen)
    equal(usual, there, where, tmp_path / "there")
    (told,) = [one for one in there.events if isinstance(one, ClusterUsed)]
    assert sum(one.cases for one in told.nodes) == there.session_cases
    assert sum(one.cases for one in seen.of(UnitDone)) == there.session_cases


@pytest.mark.thorough  # a campaign: test_fuzz.py has one of this machine
def test_the_canary_is_a_unit(usual, tmp_path):
    # It errs on the words of some scripts, of which this generator is full.
    plan = campaign(usual.spec, shards=1, cases=50, canary=True, drawn=("scripts",))
    there = session(plan, str(tmp_path / "there.db"), tmp_path / "there", LocalExecutor(2))
    assert there.campaign.canary is True
    assert "the canary was found within" in there.campaign.said


def test_what_workers_leave_behind_is_found_once(tmp_path, mark):
    path = tmp_path / "leaving.py"
    path.write_text(PLUGIN.format(mark=mark))
    plan = campaign(f"{path}:Leaving", shards=1, cases=20)
    here = session(plan, str(tmp_path / "here.db"), tmp_path / "here")
    there = session(plan, str(tmp_path / "there.db"), tmp_path / "there", LocalExecutor(2))
    assert [one.stage for one in here.findings].count("left-processes") == 1
    # Of how many processes it was is told by each worker, of which there are more.
    mine, theirs = ([(one.id, one.contract) for one in made.findings] for made in (here, there))
    assert mine == theirs


def test_what_one_target_kept_last_is_given_to_the_others_of_its_algorithm(usual):
    kept = {name: Kept(State, {}) for name in [*usual.plan.targets][:2]}
    for name, one in kept.items():
        for number in range(OFFERED + 1):
            one.state.corpus.append(Entry(f"{name} {number}".encode(), "raw"))
        one.state.corpus.append(Entry(b"of others", SHARED))
    given = crossing(usual.plan, kept)
    assert set(given) == set(usual.plan.targets)
    for some in given.values():
        assert sorted(some) == sorted(
            one.data
            for target in kept.values()
            for one in target.state.corpus[1:]
            if one.origin != SHARED
        )


@pytest.mark.thorough
def test_a_session_limited_by_time_begins_with_what_others_have_kept(usual, tmp_path):
    where = shutil.copy(usual.where, tmp_path)
    hurried = replace(usual.plan, plan=replace(usual.plan.plan, budget=Budget(seconds=3.0)))
    session(hurried, where, tmp_path / "out")
    assert any(one[3] == SHARED for one in everything(where)["inputs"])
