"""Scenes: functions in place of workers, a tracker of findings, and what it tells."""

import base64
import threading
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from packaging.specifiers import SpecifierSet

from corpora.generators.base import Case
from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Results
from harness.core.participants import Participant
from harness.engine.judge import Judge
from harness.events import Counted
from harness.findings import patience
from harness.findings.entries import Entry
from harness.findings.tracker import FindingTracker
from harness.verdict.expectations import Expectation
from harness.workers import Limits
from harness.workers.answers import outcome_of
from harness.workers.pool import WorkerPool
from impls.interface import About, Died, Mode

RAW = Mode(pretokenize=False)


class Here:
    """A worker that is a function of this process."""

    withdrawn = None

    def __init__(self, encode):
        self._encode = encode

    def ask(self, request):
        return done([self._one(data) for data in request.inputs])

    def _one(self, data):
        return outcome_of(lambda: Encoded(tuple(self._encode(data))))

    def close(self):
        pass


def done(outcomes):
    future = Future()
    future.set_result(Results.of(outcomes))
    return future


class Scene:
    """An pool of functions on ``toy_bytes``, raw; the tracker, and what it emitted."""

    def __init__(self, expectations=(), **encoders):
        made = [Participant(n, n, About(n, "1"), None) for n in encoders]
        self.pool = WorkerPool(made, Limits())
        self.pool.close()
        self.pool.workers = {name: Here(encode) for name, encode in encoders.items()}
        self.contract = Contract(
            sources.resolve("toy_bytes"), RAW, tuple(made), frozenset(["ref"]), {}, proper=True
        )
        self.events = []
        self.saved = []
        self.dropped = []
        self.tracker = FindingTracker(
            self.events.append,
            self._save,
            expectations,
            dict.fromkeys(encoders, "1"),
            drop=self.dropped.append,
        )

    def _save(self, name, violation, contract):
        self.saved.append(name)

    def entries(self, check, *inputs, origin="test"):
        """What a check finds wrong with these."""
        found = examine(self.pool, self.contract, CHECKS[check], inputs).violations
        return [Entry(self.contract, x, Case(x.data, origin, 0, x.index)) for x in found]

    def enter(self, entry):
        """Look into it; gives its bucket."""
        return self.tracker.consider(self.pool, entry)

    def check(self, name, *inputs):
        """Run a check and enter what it finds; the buckets."""
        return [self.enter(one) for one in self.entries(name, *inputs)]

    @property
    def found(self):
        return [(f.bucket, base64.b64decode(f.input_b64)) for f in self.tracker.findings]

    def told(self, kind):
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def counts(self):
        self.tracker.tell()
        return {event.bucket: event.count for event in self.told(Counted)}

    def late(self):
        """From now on there is no time, not even for what is new."""
        self.pool.limit_by(lambda: 0.0)
        self.tracker.limit_by(lambda: 0.0)


@pytest.fixture(autouse=True)
def time_to_shrink(monkeypatch):
    """Here nearly all the time goes into minimising, of which a run allows only a share."""
    monkeypatch.setattr(patience, "SHRINK_SHARE", 1e9)


def expecting(bucket, who="bad", **more):
    """An entry that excuses somebody."""
    return Expectation(bucket, {who: SpecifierSet()}, "known", **more)


def right(data):
    return list(data)


def wrong_at(needle):
    return lambda data: [0 if needle in data else byte for byte in data]


def judge_of(scene, check, *, sampled=False):
    """What judges the batches of a scene by a check."""
    plan = SimpleNamespace(checks=[check], sampled=sampled, places={})
    run = SimpleNamespace(
        plan=plan, stop=threading.Event(), lock=threading.Lock(), emit=scene.events.append,
        tally=None, tracker=scene.tracker,
    )  # fmt: skip
    judge = Judge(run)
    judge.open([scene.contract])
    return judge


class Silent(Here):
    """A worker that never answers, until it is abandoned; at_it: the question is begun."""

    def __init__(self, *, at_it=True):
        super().__init__(right)
        self.abandoned = 0
        self.at_it = at_it

    def ask(self, request):
        future = Future()
        if self.at_it:
            future.set_running_or_notify_cancel()
        return future

    def abandon(self):
        self.abandoned += 1


class Watched(Scene):
    """A scene whose run has so many seconds left."""

    def consider(self, check, data):
        """Find a violation in time, and enter it when the time is up."""
        [entry] = self.entries(check, data)
        self.late()
        return self.enter(entry)


def in_turn(*answers):
    """An encoder that does these on inputs with ``!``, one after another, the last for ever.

    An exception is raised; ``wrong`` is a wrong answer, ``right`` a right one.
    """
    turns = iter(answers)
    last = [answers[-1]]

    def encode(data):
        if b"!" not in data:
            return list(data)
        turn = next(turns, last[0])
        if isinstance(turn, Exception):
            raise turn
        return list(data) if turn == "right" else [0] * len(data)

    return encode


LATE = Died("timed-out", "no answer within 8.0 s of CPU time")
