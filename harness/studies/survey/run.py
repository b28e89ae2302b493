"""The study of the ecosystem: a step for each library on each vocabulary, and one for their speed.

A match is a run like those of ``tokgate run``, in a folder of its own. One whose folder has the
whole record of this very run is not played again, whatever survey it was a part of.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corpora.texts import benchmarks
from harness.core.interruption import INTERRUPTED, TERMINATED, again
from harness.engine.flow import execute
from harness.engine.steps import SteppedStudy, conduct, ended
from harness.events import BatchDone, Finished, MatchPlayed, Phase, read_events
from harness.findings.folder import RunFolder
from harness.studies.bench.plan import BenchPlan
from harness.studies.bench.run import BenchStudy
from harness.studies.default import studies
from harness.studies.survey.plan import done, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from corpora.texts.corpus import Corpus
    from harness.engine.ending import Ending
    from harness.engine.plan import Plan
    from harness.engine.suites import Budget
    from harness.events import Event
    from harness.studies.survey.plan import Match

BENCH_SIZE = 64 << 10
"""Bytes of the texts on which speed is measured."""

BENCH_SECONDS = 30.0

SPEED = "speed"
"""The step in which speed is measured, and the folder of its record."""


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """All that decides a survey.

    budget: of each match. texts: the user's own, or None. speed: whether it is measured, too.
    """

    matches: Sequence[Match]
    checks: Sequence[str]
    budget: Budget
    seed: int = 0
    texts: Corpus | None = None
    speed: bool = True


class SurveyStudy(SteppedStudy):
    """Compares libraries with the reference of each vocabulary, one after another.

    out: the folder of all runs. watch: told the share that is done, and what is. played: called
    with the folder of each run that has come to its end, so that its reports are written.
    elsewhere: plays, on other machines, all matches that are not there, by their folders.
    """

    name = "field"

    def __init__(
        self,
        plan: SurveyPlan,
        out: Path,
        command: str,
        watch: Callable[[float, str], None],
        played: Callable[[Path], object],
        elsewhere: Callable[[Mapping[Path, Plan]], None] | None = None,
    ) -> None:
        self._plan = plan
        self._elsewhere = elsewhere
        self._out = out
        self._command = command
        self._watch = watch
        self._played = played
        self._matches = {match.folder: match for match in plan.matches}
        self._steps = [*self._matches, *([SPEED] if plan.speed and plan.matches else [])]

    def identity(self) -> dict[str, Any]:
        """Who meets whom, in which versions, and how much is asked."""
        plan = self._plan
        everyone = {one for match in plan.matches for one in (match.library, match.reference)}
        return {
            "matches": {
                name: [match.reference.name, match.vocabulary.fingerprint]
                for name, match in self._matches.items()
            },
            "versions": {one.name: one.about.version for one in everyone},
            "checks": list(plan.checks),
            "budget": [plan.budget.seconds, plan.budget.cases],
            "seed": plan.seed,
            "texts": list(plan.texts.given) if plan.texts is not None else [],
            "speed": plan.speed,
        }

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """The matches, vocabulary by vocabulary, and then their speed."""
        return self._steps

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Play one match, or measure speed. Raises KeyboardInterrupt where it is interrupted."""
        if name == SPEED:
            self._measure_speed()
            return
        self._play_elsewhere()
        match = self._matches[name]
        about = match.library.about
        tell(
            MatchPlayed(
                library=match.library.name,
                version=about.version,
                homepage=about.homepage,
                vocabulary=match.vocabulary.id,
                reference=match.reference.name,
                folder=match.folder,
                refusal=match.refusal or "",
                cases=self._run(match) if match.refusal is None else 0,
            )
        )

    def _play_elsewhere(self) -> None:
        """Have all matches that are not there played on other machines, at the first of them."""
        elsewhere, self._elsewhere = self._elsewhere, None
        if elsewhere is not None:
            runs = [match for match in self._plan.matches if match.refusal is None]
            plans = {self._out / match.folder: self._planned(match) for match in runs}
            elsewhere({folder: one for folder, one in plans.items() if not done(folder, one)})

    def _planned(self, match: Match) -> Plan:
        plan = self._plan
        return plan_of(match, plan.checks, plan.budget, plan.seed, "smoke", plan.texts)

    def _run(self, match: Match) -> int:
        """The cases of a match, which is played now unless its folder has it."""
        folder, planned = self._out / match.folder, self._planned(match)
        if done(folder, planned):
            events = read_events(folder / "run.jsonl")
            return sum(event.cases for event in events if isinstance(event, Finished))
        result = execute(planned, RunFolder(folder), [self._share(match)], self._command, studies)
        self._played(folder)
        _unless_interrupted(result.finished)
        return result.finished.cases

    def _share(self, match: Match) -> Callable[[Event], None]:
        """Who tells how much of the survey is done while a match is played."""
        budget, before, began = self._plan.budget, self._steps.index(match.folder), time.monotonic()
        cases, phase = 0, "loading"

        def consume(event: Event) -> None:
            nonlocal cases, phase
            if isinstance(event, Phase):
                phase = event.text
            elif isinstance(event, BatchDone):
                cases += event.cases
            else:
                return
            share = (time.monotonic() - began) / (budget.seconds or 1.0)
            share = cases / budget.cases if budget.cases is not None else share
            what = f"{match.library.name} on {match.vocabulary.id}: {phase}, {cases:,} cases"
            self._watch((before + min(share, 1.0)) / len(self._steps), what)

        return consume

    def _measure_speed(self) -> None:
        """The speed of those that run the first vocabulary, as ``tokgate bench`` measures it."""
        first, *_ = every = self._plan.matches
        here = [one for one in every if one.source == first.source and one.refusal is None]
        plan = BenchPlan(
            vocabularies={first.source: lambda: first.vocabulary},
            participants=[first.reference, *(match.library for match in here)],
            judges=[],
            texts=[benchmarks.TEXTS["source"], benchmarks.TEXTS["multilingual"]],
            sizes=[BENCH_SIZE],
            modes=["text"],
            cold=0,
            seed=self._plan.seed,
            seconds=BENCH_SECONDS,
        )
        before = len(self._steps) - 1

        def watch(share: float, what: str) -> None:
            self._watch((before + share) / len(self._steps), f"speed: {what}")

        study = BenchStudy(plan, self._command, watch)
        _unless_interrupted(conduct(study, self._out / SPEED, ()))

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: whatever the matches showed fails nothing, as each has a verdict of its own."""
        return ended(ending, sum(one.cases for one in events if isinstance(one, MatchPlayed)))


def _unless_interrupted(finished: Finished) -> None:
    """Go on, unless a part was interrupted: then the whole is. Raises KeyboardInterrupt."""
    if finished.exit_status in {INTERRUPTED, TERMINATED}:
        raise again(finished.exit_status)
