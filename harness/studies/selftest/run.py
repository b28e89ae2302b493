"""The study of the harness itself: planted mistakes in groups, within one time for all."""

from __future__ import annotations

import base64
import contextlib
import importlib.metadata
import os
import time
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from corpora.generators.catalog import generators
from harness.checks import DEFAULT, MEASURES
from harness.cluster.executor import Unit, UnitError
from harness.cluster.local import LocalExecutor
from harness.cluster.usage import Usage
from harness.core import exit_statuses
from harness.core.countdown import Countdown
from harness.core.provenance import machine, now
from harness.engine.selection import SelectionError
from harness.engine.steps import SteppedStudy
from harness.engine.suites import SUITES, parse_budget
from harness.events import Finished, Phase, UnitDone
from harness.studies.selftest import hunts
from harness.studies.selftest.catalog import Mutant, mistakes
from harness.studies.selftest.events import (
    HuntDone,
    MistakeJudged,
    SelftestStarted,
)
from harness.studies.selftest.gate import CHECK
from harness.studies.selftest.groups import Kind, groups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.cluster.executor import Done, Executor
    from harness.engine.ending import Ending
    from harness.engine.suites import Suite
    from harness.events import Event
    from harness.studies.selftest.groups import Group, Shown

POLL_SECONDS = 0.2
"""Between two looks at who is done: a thread that only waits is deaf to Ctrl-C."""

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

RIGHT = Mutant("", "", "", "", "", mode="")
"""The row of what is right, which has nothing to be found by."""

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


class Selftest(SteppedStudy):
    """One selftest.

    now: the clock of its budget, which begins to run with the first case. opened: opens the
    executor of a cluster that performs the hunts; without it they are performed on this machine.
    """

    name = "selftest"

    def __init__(
        self,
        plan: SelftestPlan,
        now: Callable[[], float] = time.monotonic,
        opened: Callable[[], Executor] | None = None,
    ) -> None:
        self._plan = plan
        self._now = now
        self._opened = opened
        self._left: Sequence[Mutant] = ()
        self._missed: dict[str, MistakeJudged] = {}
        self._spent: dict[str, tuple[int, float]] = {}
        self._busy: dict[str, tuple[Group, int]] = {}
        self._numbered = 0

    def identity(self) -> dict[str, Any]:
        """What is hunted, with what, of which versions."""
        started = asdict(self._beginning())
        decides = {name: one for name, one in started.items() if name not in UNTOLD}
        return {**decides, "names": [one.name for one in self._plan.mistakes]}

    def opening(self) -> Sequence[Event]:
        """What decides the selftest."""
        return [self._beginning()]

    def kept(self, unfinished: Sequence[Event]) -> Sequence[Event]:
        """What was caught under its name, and what was asked for it."""
        caught = caught_of(unfinished)
        return [
            event
            for event in unfinished
            if isinstance(event, SelftestStarted | HuntDone)
            or (isinstance(event, MistakeJudged) and event.name in caught)
        ]

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """One step: the hunt of all that was not caught before, with its share of the time."""
        caught = caught_of(past)
        self._left = [one for one in self._plan.mistakes if one.name not in caught]
        return [HUNT]

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Hunt all groups; what escaped till then is told even where it is interrupted."""
        share = len(self._left) / max(1, len(self._plan.mistakes))
        countdown = Countdown(self._plan.seconds * share, self._now)
        executor = self._opened() if self._opened else LocalExecutor(self._plan.jobs)
        usage = Usage()

        def tell_all(event: Event) -> None:
            usage.consume(event)
            tell(event)

        self._tell = tell_all
        try:
            if self._opened:
                executor.listen(tell_all)
                countdown.start()
            self._rounds(executor, countdown)
            if self._opened:
                tell(usage.summary())
        finally:
            executor.close()
            with contextlib.suppress(UnitError):
                while not self._opened and (done := executor.next(0)):
                    self._take(done)
            for missed in self._missed.values():
                tell(missed)

    def _rounds(self, executor: Executor, countdown: Countdown) -> None:
        """All groups, and as long as there is time those again that hold what escaped."""
        again, waiting = 0, groups(self._left)
        while True:
            while waiting and not countdown.over and len(self._busy) < executor.slots:
                self._submit(executor, countdown, waiting, again)
            if self._busy:
                if done := executor.next(POLL_SECONDS):
                    self._take(done)
            elif self._missed and countdown.left >= LEAST + COMING_UP:
                again, waiting = (
                    again + 1,
                    groups(one for one in self._left if one.name in self._missed),
                )
            else:
                return

    def _submit(
        self, executor: Executor, countdown: Countdown, waiting: list[Group], again: int
    ) -> None:
        """Have the first group that waits hunted, for its share of what is left of the time.

        On this machine the budget begins to run with the first case of all, and programs are asked
        here who they are, as only the main thread may do.
        """
        lanes = min(executor.slots, len(waiting) + len(self._busy))
        seconds = share_of(waiting, lanes, countdown.left)
        group = waiting.pop(0)
        said = f"{group.vocabulary}: {len(group.mistakes)} mistakes"
        self._tell(Phase(f"{said} again" if again else said))
        seed = self._plan.seed + ROUND_SEEDS * again
        given: list[Any] = [group.names, self._plan.suite, seed, seconds]
        if not self._opened:
            group.resolve()
            given.append(countdown.start)
        self._numbered += 1
        unit = f"hunt {self._numbered} on {said}"
        self._busy[unit] = group, again
        executor.submit(Unit(unit, hunts.perform, (), given))

    def _take(self, done: Done) -> None:
        """Tell what a hunt came to."""
        group, again = self._busy.pop(done.name)
        hunted = hunts.read(done.name, done.result, group)
        cases = sum(hunted.cases.values())
        for name, shown in hunted.shown.items():
            self._judge(group, name, shown, again)
            before = self._spent.get(name, (0, 0.0))
            self._spent[name] = before[0] + cases, before[1] + hunted.seconds
        told = (group.vocabulary, str(group.kind), group.names, hunted.references)
        self._tell(HuntDone(*told, hunted.seconds, hunted.cases))
        if self._opened:
            size = len(done.result)
            self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, cases))

    def _judge(self, group: Group, name: str, shown: Shown, again: int) -> None:
        """Say what became of a mistake, or keep it for another round if it escaped."""
        mutant = next((one for one in group.mistakes if one.name == name), None)
        judged = judged_of(group, mutant, name, shown, *self._spent.get(name, (0, 0.0)))
        before = self._missed.pop(name, None)
        if mutant is None:
            if judged.caught or not again:
                self._tell(judged)
        elif judged.caught or (judged.trouble and before is None):
            self._tell(judged)
        else:  # cut off in a later round, it escaped in the one before
            self._missed[name] = before if before and judged.trouble else judged

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
        hunted = [event for event in events if isinstance(event, HuntDone)]
        return Finished(
            complete=ending.complete,
            verdict="fail" if reasons else "pass",
            reasons=reasons,
            seconds=0.0,
            cases=sum(sum(one.cases.values()) for one in hunted),
            comparisons=0,
            exit_status=status,
        )

    def _beginning(self) -> SelftestStarted:
        plan = self._plan
        return SelftestStarted(
            time=now(),
            command=plan.command,
            seed=plan.seed,
            budget=plan.seconds,
            suite=plan.suite.name,
            versions={
                name: importlib.metadata.version(name)
                for name in ("tokgate", "tiktoken", "tokenizers", "sentencepiece")
            },
            machine=machine(),
            mistakes=len(plan.mistakes),
            generators=list(generators()),
            checks=[*DEFAULT, *MEASURES, CHECK],
        )


def share_of(waiting: Sequence[Group], lanes: int, left: float) -> float:
    """The seconds of the first group, by its weight beside those that wait, of those left.

    A gate is not limited by its weight: it takes a run for each of its mistakes.
    """
    weights = [group.weight for group in waiting]
    part = min(1.0, lanes * weights[0] / sum(weights))
    if waiting[0].kind is Kind.GATE:
        return left
    return min(left, max(LEAST, left * part - COMING_UP))


def judged_of(
    group: Group, mutant: Mutant | None, name: str, shown: Shown, cases: int, seconds: float
) -> MistakeJudged:
    """What became of an implementation. cases, seconds: spent on it in earlier rounds."""
    sightings = [
        replace(one, all_cases=one.all_cases + cases, all_seconds=one.all_seconds + seconds)
        for one in shown.sightings
    ]
    row = mutant or RIGHT
    return MistakeJudged(
        name=name,
        family=row.family,
        summary=row.summary,
        spec=row.spec if mutant else name,
        vocabulary=group.vocabulary,
        mode=row.mode,
        check=row.check,
        stages=row.stages,
        named=shown.named,
        bucket=shown.bucket,
        input_b64=base64.b64encode(shown.data).decode(),
        sightings=[asdict(one) for one in sightings],
        trouble=shown.trouble,
    )


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
        names = ", ".join(sorted(every)[:UNHUNTED_SHOWN])
        more = ", .." if len(every) > UNHUNTED_SHOWN else ""
        why = f" of {len(planted)}, because time was short" if late else ""
        reasons.append(f"{len(every)} not hunted{why}: {names}{more}")
    return reasons, exit_statuses.FAILS if reasons else exit_statuses.HOLDS
