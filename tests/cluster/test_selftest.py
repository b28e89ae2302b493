"""A selftest whose hunts are units comes to what the selftest itself comes to."""

from collections import Counter

import msgspec
import pytest

from harness.cluster.executor import UnitError
from harness.cluster.local import LocalExecutor
from harness.engine.steps import conduct
from harness.events import UnitDone, read_events
from harness.studies.selftest import hunts
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.events import HuntDone, MistakeJudged
from harness.studies.selftest.groups import Hunted, Shown, groups
from harness.studies.selftest.run import Selftest, make_plan
from tests.cluster.nodes import Watching

PATTERNS = ("merging.refuses", "merging.stale-kept", "wordpiece.*")
"""Mistakes on several vocabularies, which the first cases catch."""


def selftest(
    out,
    opened=None,
    consume=lambda event: None,
):
    """Hunt with far more time than is needed, so that the time decides nothing."""
    plan = make_plan(PATTERNS, "1200s", seed=3, jobs=2, command="tokgate selftest")
    return conduct(Selftest(plan, opened=opened), out, [consume])


def rows(out):
    """What became of each mistake and control: under which check it is, and whether it was caught.

    Which of its findings were made small by then, and so its sightings, is the clock's affair.
    """
    judged = [one for one in read_events(out / "run.jsonl") if isinstance(one, MistakeJudged)]
    assert len({one.name for one in judged if one.check}) == len([1 for one in judged if one.check])
    return {
        f"{one.name} on {one.vocabulary}": (one.check, one.rightly, one.caught, one.trouble)
        for one in judged
    }


def equal(there, here, one, other):
    """Hold verdict and rows of a selftest to those of another."""
    assert one.complete
    assert other.complete
    assert (one.verdict, one.reasons, one.exit_status) == (
        other.verdict, other.reasons, other.exit_status,
    )  # fmt: skip
    assert rows(there) == rows(here)
    assert len(rows(here)) > 5, "else the rest says little"


@pytest.mark.thorough
def test_a_selftest_in_units_is_the_selftest_itself(tmp_path):
    here = selftest(tmp_path / "here")
    watching = Watching(0, None)
    there = selftest(tmp_path / "there", lambda: LocalExecutor(2), watching)
    equal(tmp_path / "there", tmp_path / "here", there, here)
    assert here.verdict == "pass", here.reasons
    assert len(watching.of(UnitDone)) == len(watching.of(HuntDone)) > 1


def rigged(_keep, names, _suite, _seed, share):
    """A hunt that catches all at once, and says it took as long as it was given."""
    checks = {name: mistakes()[name] for name in names}
    shown = {n: Shown([f"{one.check}/{[*one.stages, ''][0]}"]) for n, one in checks.items()}
    return msgspec.msgpack.encode(Hunted(shown, {"raw": 9}, [], share))


def test_ctrl_c_ends_the_hunts_and_the_same_command_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(hunts, "perform", rigged)
    closed = []

    class Noted(LocalExecutor):
        def close(self):
            closed.append(self)
            super().close()

    def interrupt(event):
        if isinstance(event, UnitDone):
            raise KeyboardInterrupt

    cut = selftest(tmp_path, lambda: Noted(1), interrupt)
    assert (cut.complete, cut.exit_status) == (False, 130)
    assert len(closed) == 1
    before = {one.name for one in read_events(tmp_path / "run.jsonl")
              if isinstance(one, MistakeJudged) and one.rightly}  # fmt: skip
    assert before, "what came before is kept"
    whole = selftest(tmp_path, lambda: Noted(1))
    assert (whole.complete, whole.verdict) == (True, "pass"), whole.reasons
    events = read_events(tmp_path / "run.jsonl")
    done = Counter(one.name for one in events if isinstance(one, MistakeJudged))
    assert set(done.values()) == {1}, "nothing comes twice"


def test_what_is_no_hunt_of_these_mistakes_is_refused():
    plan = make_plan(PATTERNS, "60s", 3, 1, "")
    one, other = groups(plan.mistakes)[:2]
    result = rigged({}, one.names, None, 0, 1.0)
    assert hunts.read("hunt 1", result, one)
    for faulty, group in ((result, other), (result[:-3], one), (b"no", one), (b"", one)):
        with pytest.raises(UnitError, match="hunt 1: its result cannot be read"):
            hunts.read("hunt 1", faulty, group)
