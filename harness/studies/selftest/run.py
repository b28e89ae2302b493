"""The study of the harness itself: planted mistakes in groups, within one time for all."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from corpora.generators.catalog import generators
from harness.checks import CHECKS, MEASURES
from harness.cluster.usage import Usage
from harness.core import exit_statuses
from harness.core.countdown import Countdown
from harness.engine.selection import SelectionError
from harness.engine.suites import SUITES, parse_budget
from harness.events import Finished, Phase, UnitDone
from harness.studies.selftest import scattered
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.events import (
    HuntDone,
    MistakeJudged,
    SelftestStarted,
)
from harness.studies.selftest.gate import CHECK, hunt_gate
from harness.studies.selftest.groups import Group, Kind, groups
from harness.studies.selftest.hunt import Hunt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.cluster.executor import Executor
    from harness.engine.ending import Ending
    from harness.engine.suites import Suite
    from harness.events import Event
    from harness.studies.selftest.mutant import Mutant

COMING_UP = 6.0
"""Seconds of a group's share that go into starting processes and loading."""

LEAST = 4.0
"""Seconds that a group is hunted, however late it is."""

UNHUNTED_SHOWN = 8
"""Mistakes that are named of those that nobody came to."""

HUNT = "hunt"
"""The one step of a selftest: its groups are hunted side by side."""

UNTOLD = ("time", "command", "machine")
"""Fields of ``SelftestStarted`` that do not decide what is hunted."""

ROUND_SEEDS = 1_000_003
"""Between the seeds of two rounds."""


@dataclass(frozen=True, slots=True)
class SelftestPlan:
    """What a selftest does. seconds: from its first case on. jobs: groups side by side."""

    mistakes: Sequence[Mutant]
    suite: Suite
    seconds: float
    seed: int
    jobs: int
    command: str


def make_plan(
    patterns: Sequence[str], budget: str | None, seed: int, jobs: int, command: str
) -> SelftestPlan:
    """From what a user gave. Raises SelectionError."""
    known = mistakes()
    chosen = dict.fromkeys(name for one in patterns or ["*"] for name in matching(one, known))
    suite = SUITES["ci"]
    try:
        amount = parse_budget(budget or suite.budget)
    except ValueError as error:
        raise SelectionError(f"--budget: {error}") from error
    if amount.seconds is None:
        raise SelectionError(f"--budget {budget}: give a time; detection is measured in seconds")
    lanes = jobs or max(1, os.cpu_count() or 1)
    return SelftestPlan([known[n] for n in chosen], suite, amount.seconds, seed, lanes, command)


def matching(pattern: str, known: dict[str, Mutant]) -> list[str]:
    """The mistakes whose name fits, or whose family is meant. Raises SelectionError."""
    found = [n for n, one in known.items() if fnmatchcase(n, pattern) or one.family == pattern]
    if not found:
        families = ", ".join(dict.fromkeys(one.family for one in known.values()))
        raise SelectionError(
            f"--mutant {pattern!r}: matches no mutant: give a family ({families}), or a name "
            "pattern (merging.*)"
        )
    return found


@dataclass(frozen=True, slots=True)
class Missed:
    """A mistake that escaped so far. cases, seconds: those spent on it."""

    mutant: Mutant
    judged: MistakeJudged
    cases: int
    seconds: float

    def and_then(self, judged: MistakeJudged) -> MistakeJudged:
        """What a later round made of it, with what was spent before."""
        sightings = [
            {
                **one,
                "all_cases": one["all_cases"] + self.cases,
                "all_seconds": one["all_seconds"] + self.seconds,
            }
            for one in judged.sightings
        ]
        return replace(judged, sightings=sightings)


class Selftest:
    """One selftest. Its events are told from several threads.

    now: the clock of its budget, which begins to run with the first case of the first group.
    opened: opens the executor that performs hunts elsewhere; then the clock is what these took.
    """

    name = "selftest"

    def __init__(
        self,
        plan: SelftestPlan,
        now: Callable[[], float] = time.monotonic,
        opened: Callable[[], Executor] | None = None,
    ) -> None:
        self._plan = plan
        self._opened = opened
        self._executor: Executor | None = None
        self._usage = Usage()
        self._elsewhere = 0.0
        self._now = now if opened is None else lambda: self._elsewhere
        self._countdown = Countdown(plan.seconds, self._now)
        self._tell: Callable[[Event], None] = ignored
        self._lock = threading.Lock()
        self._waiting: list[Group] = []
        self._hunts: dict[int, Hunt] = {}
        self._stopped = threading.Event()
        self._missed: dict[str, Missed] = {}
        self._round = 0

    def identity(self) -> dict[str, Any]:
        """What is hunted, with what, of which versions."""
        started = asdict(self._beginning())
        decides = {name: one for name, one in started.items() if name not in UNTOLD}
        return {**decides, "names": [one.name for one in self._plan.mistakes]}

    def opening(self) -> Sequence[Event]:
        """What decides the selftest."""
        return [self._beginning()]

    def kept(self, unfinished: Sequence[Event]) -> Sequence[Event]:
        """What was caught under its name, with the groups of which nothing is left to be caught."""
        caught = caught_of(unfinished)
        return [
            event
            for event in unfinished
            if isinstance(event, SelftestStarted)
            or (isinstance(event, MistakeJudged) and event.name in caught)
            or (isinstance(event, HuntDone) and caught.issuperset(event.mistakes))
        ]

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """One step: the hunt of all that was not caught before, with its share of the time."""
        caught = caught_of(past)
        left = [one for one in self._plan.mistakes if one.name not in caught]
        self._waiting = groups(left)
        share = len(left) / max(1, len(self._plan.mistakes))
        self._countdown = Countdown(self._plan.seconds * share, self._now)
        return [HUNT]

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Hunt all groups; what escaped till then is told even where it is interrupted."""
        self._tell = tell
        try:
            if self._opened is not None and self._waiting:
                self._executor = self._opened()
                self._executor.listen(self._elsewhere_too)
            self._rounds()
            if self._executor is not None:
                tell(self._usage.summary())
        finally:
            if self._executor is not None:
                self._executor.close()
            for missed in self._missed.values():
                tell(missed.judged)

    def _elsewhere_too(self, event: Event) -> None:
        """Count what becomes of units, and tell it."""
        self._usage.consume(event)
        self._tell(event)

    def close(self) -> None:
        """There is nothing to let go of: each hunt ends its own workers."""

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The verdict: every mistake caught under its name, and nothing found of what is right."""
        # By name: in which order hunts came to an end decides nothing.
        judged = sorted(
            (event for event in events if isinstance(event, MistakeJudged)),
            key=lambda one: one.name,
        )
        reasons, status = verdict(judged, self._plan.mistakes, late=ending.complete)
        if ending.how is not None:
            reasons, status = [ending.how, *reasons], ending.status
        return Finished(
            complete=ending.complete,
            verdict="fail" if reasons else "pass",
            reasons=reasons,
            seconds=0.0,
            cases=sum(sum(one.cases.values()) for one in events if isinstance(one, HuntDone)),
            comparisons=0,
            exit_status=status,
        )

    def _rounds(self) -> None:
        """All groups, and as long as there is time those again that hold what escaped."""
        self._lanes()
        while self._missed and self._countdown.left > LEAST + COMING_UP:
            self._round += 1
            self._waiting = groups([missed.mutant for missed in self._missed.values()])
            self._lanes()

    def _begin(self) -> None:
        """The first case of all is about to be asked: the budget runs from now on."""
        with self._lock:
            first = not self._countdown.running
            self._countdown.start()
        if first:
            self._tell(Phase(f"prepared in {self._countdown.prepared:.0f} s"))

    @property
    def _seed(self) -> int:
        """Other cases in each round."""
        return self._plan.seed + ROUND_SEEDS * self._round

    def _lanes(self) -> None:
        if self._executor is not None:
            self._scattered(self._executor)
            return
        # Not in the lanes: programs are asked who they are, which only the main thread may do.
        self._hunts = {
            id(group): Hunt(group, self._plan.suite, self._seed, self._begin)
            for group in self._waiting
            if group.kind not in (Kind.FORCED, Kind.GATE)
        }
        lanes = max(1, min(self._plan.jobs, len(self._waiting)))
        with ThreadPoolExecutor(lanes, thread_name_prefix="hunt") as pool:
            futures = [pool.submit(self._lane, lanes) for _ in range(lanes)]
            try:
                # Wake up now and then: a thread that only waits is deaf to Ctrl-C.
                while wait(futures, timeout=0.2).not_done:
                    if any(f.done() and f.exception() for f in futures):
                        break
                    if self._countdown.over:
                        self._cut()
                for future in futures:
                    future.result()
            except BaseException:
                self._stopped.set()
                self._cut()
                raise

    def _cut(self) -> None:
        """Break off all hunts; what they have caught by now is told."""
        for hunt in self._hunts.values():
            hunt.stop()

    def _lane(self, lanes: int) -> None:
        while not self._stopped.is_set() and not self._countdown.over:
            with self._lock:
                if not self._waiting:
                    return
                ahead = sum(group.weight for group in self._waiting)
                group = self._waiting.pop(0)
            part = min(1.0, lanes * group.weight / ahead)
            left = self._countdown.left
            share = min(left, max(LEAST, left * part - COMING_UP))
            again = " again" if self._round else ""
            self._tell(Phase(f"{group.vocabulary}: {len(group.mistakes)} mistakes{again}"))
            self._take(group, self._hunted(group, share))

    def _scattered(self, executor: Executor) -> None:
        """Have all groups hunted elsewhere, each for a share that is fixed before it begins."""
        self._countdown.start()
        lanes = max(1, min(executor.slots, len(self._waiting)))
        ahead = sum(group.weight for group in self._waiting)
        left = self._countdown.left
        shares = [
            (
                group,
                min(left, max(LEAST, left * min(1.0, lanes * group.weight / ahead) - COMING_UP)),
            )
            for group in self._waiting
        ]
        taken = 0.0
        came = scattered.hunts(executor, shares, self._plan.suite, self._seed, self._round)
        for group, events in came:
            self._take(group, events)
            taken += sum(one.seconds for one in events if isinstance(one, HuntDone))
        self._elsewhere += taken / lanes

    def _take(self, group: Group, events: Sequence[Event]) -> None:
        """Take what a hunt came to."""
        known = {one.name: one for one in group.mistakes}
        done = next((one for one in events if isinstance(one, HuntDone)), None)
        for event in events:
            if isinstance(event, MistakeJudged):
                self._judge(event, known.get(event.name), done)
            elif isinstance(event, UnitDone):
                self._elsewhere_too(event)
            else:
                self._tell(event)

    def _hunted(self, group: Group, share: float) -> Sequence[Event]:
        if group.kind is Kind.FORCED:
            from harness.studies.selftest.forced import hunt_forced  # noqa: PLC0415 (imports llguidance)

            return hunt_forced(group, self._seed, share, self._over, self._begin)
        if group.kind is Kind.GATE:
            return hunt_gate(group, self._seed, self._over, self._begin)
        return self._hunts[id(group)].run(share)

    def _over(self) -> bool:
        """Whether to break off what is on."""
        return self._stopped.is_set() or self._countdown.over

    def _judge(self, judged: MistakeJudged, mutant: Mutant | None, done: HuntDone | None) -> None:
        """Say what became of a mistake, or keep it for another round if it escaped."""
        if mutant is None:
            if judged.caught or not self._round:
                self._tell(judged)
            return
        before = self._missed.pop(judged.name, None)
        if before is not None:
            if judged.trouble and not judged.caught:
                # Cut off in a later round: it escaped in the one before.
                self._missed[judged.name] = before
                return
            judged = before.and_then(judged)
        if judged.caught or judged.trouble or done is None:
            self._tell(judged)
            return
        cases, seconds = sum(done.cases.values()), done.seconds
        if before is not None:
            cases, seconds = cases + before.cases, seconds + before.seconds
        with self._lock:
            self._missed[judged.name] = Missed(mutant, judged, cases, seconds)

    def _beginning(self) -> SelftestStarted:
        plan = self._plan
        return SelftestStarted(
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            command=plan.command,
            seed=plan.seed,
            budget=plan.seconds,
            suite=plan.suite.name,
            versions={
                name: importlib.metadata.version(name)
                for name in ("tokgate", "tiktoken", "tokenizers", "sentencepiece")
            },
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            mistakes=len(plan.mistakes),
            generators=list(generators()),
            checks=[*CHECKS, *MEASURES, CHECK],
        )


def ignored(event: Event) -> None:
    """Tell an event to nobody: before the step begins, there is nobody to tell."""


def caught_of(events: Sequence[Event]) -> set[str]:
    """The names of mistakes that were caught under their name."""
    return {
        event.name
        for event in events
        if isinstance(event, MistakeJudged) and event.check and event.rightly
    }


def verdict(
    judged: Sequence[MistakeJudged], planted: Sequence[Mutant], *, late: bool = False
) -> tuple[list[str], int]:
    """What speaks against the harness, and the exit status. late: the time was up before the end.

    A mistake that nothing catches, one caught under another name only, and anything found of a
    control, which has no mistake.
    """
    reasons = []
    every = {one.name for one in planted}
    for one in judged:
        if not one.check:
            if one.caught:
                reasons.append(f"{one.name}, which is right, was found wrong: {one.named[0]}")
            continue
        every.discard(one.name)
        if one.trouble and not one.caught:
            reasons.append(f"{one.name} was not hunted to the end: {one.trouble}")
        elif not one.caught:
            reasons.append(f"{one.name} escaped: {one.summary}")
        elif not one.rightly:
            reasons.append(f"{one.name} was found, but as {', '.join(one.named)}")
    if every:
        names = sorted(every)
        shown = ", ".join(names[:UNHUNTED_SHOWN])
        more = f", and {len(every) - UNHUNTED_SHOWN} more" if len(every) > UNHUNTED_SHOWN else ""
        why = f" of {len(planted)}, for want of time" if late else ""
        reasons.append(f"{len(every)} not hunted{why}: {shown}{more}")
    return reasons, exit_statuses.FAILS if reasons else exit_statuses.HOLDS
