"""A selftest whose hunts are units: what is kept of it, and what is no hunt."""

from collections import Counter

import msgspec
import pytest

from harness.cluster.executor import UnitError
from harness.cluster.local import LocalExecutor
from harness.engine.steps import conduct
from harness.events import UnitDone, read_events
from harness.studies.selftest import hunts
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.events import MistakeJudged
from harness.studies.selftest.groups import Hunted, Shown, groups
from harness.studies.selftest.run import Selftest, make_plan

PLAN = make_plan(("merging.refuses", "merging.stale-kept", "wordpiece.*"), "1200s", 3, 2, "")


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

    def hunted(*consumers):
        finished = conduct(Selftest(PLAN, opened=lambda: Noted(1)), tmp_path, consumers)
        events = read_events(tmp_path / "run.jsonl")
        return finished, [one for one in events if isinstance(one, MistakeJudged)]

    cut, judged = hunted(interrupt)
    assert (cut.complete, cut.exit_status) == (False, 130)
    assert len(closed) == 1
    assert any(one.rightly for one in judged), "what came before is kept"
    whole, judged = hunted()
    assert (whole.complete, whole.verdict) == (True, "pass"), whole.reasons
    assert set(Counter(one.name for one in judged).values()) == {1}, "nothing comes twice"


def test_what_is_no_hunt_of_these_mistakes_is_refused():
    one, other = groups(PLAN.mistakes)[:2]
    result = rigged({}, one.names, None, 0, 1.0)
    assert hunts.read("hunt 1", result, one)
    for faulty, group in ((result, other), (result[:-3], one), (b"no", one), (b"", one)):
        with pytest.raises(UnitError, match="hunt 1: its result cannot be read"):
            hunts.read("hunt 1", faulty, group)
