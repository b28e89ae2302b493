"""The canary of a session: a planted mistake that the same machinery must find, or be disbelieved.

It has a target of its own, with a reference beside it, under a contract that no finding of the
campaign belongs to. Nothing of it is committed: each session has to find it again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.engine import selection
from harness.studies.fuzz.target import Target
from harness.studies.selftest import canary as planted
from harness.workers.pool import WorkerPool

if TYPE_CHECKING:
    from harness.studies.fuzz.plan import FuzzPlan

ENOUGH_CASES = 100_000
"""The canary shows within a few thousand cases of all generators; after so many, something is
wrong with the campaign."""


class CanaryWatch:
    """Runs the canary's target until it is found or there is no hope. found: how that ended."""

    def __init__(self, plan: FuzzPlan) -> None:
        present, _ = selection.participants([planted.REFERENCE])
        inner = replace(
            plan.plan,
            vocabularies={planted.VOCABULARY: partial(sources.resolve, planted.VOCABULARY)},
            participants=[*present, planted.canary()],
            references=frozenset({planted.REFERENCE}),
            checks=[CHECKS[planted.CANARY.check]],
            expectations=(),
            named=(),
            budget=replace(plan.plan.budget, cases=None),
        )
        alone = replace(
            plan, plan=inner, structured=False, coverage=False, costly=False, seeds=(),
            database=None,
        )  # fmt: skip
        self._target = Target(alone, planted.VOCABULARY, 0, lambda *_: None)
        self._pool = WorkerPool(inner.participants, inner.limits)
        self.found = False

    def run(self) -> None:
        """Look for it. Raises Stopped."""
        try:
            self._target.open(self._pool)
            while not self.found and self._target.state.cases < ENOUGH_CASES:
                if self._target.round(self._pool) is None:
                    return
                self.found = planted.is_caught(self._target.findings)
        finally:
            self.close()

    def kill(self) -> None:
        """End it, from any thread."""
        self._target.stop()
        self._pool.kill()

    def close(self) -> None:
        """Let go of processes."""
        self._target.close()
        self._pool.close()

    @property
    def said(self) -> str:
        """What is known, in one line. The canary's cases are none of the campaign's."""
        cases = f"{self._target.state.cases:,} cases of its own"
        if self.found:
            return f"the canary was found within {cases}"
        return f"the canary was not found in {cases}: what this campaign does not find means little"
