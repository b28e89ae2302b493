"""Runs on inputs that are given, not generated: those of ``tokgate minimize`` and ``replay``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from harness.checks import CHECKS
from harness.cli.display import Display
from harness.cli.options import command_line
from harness.cli.progress.run import RunProgress
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.runner import RunResult, execute
from harness.engine.suites import Budget, Suite
from harness.findings.folder import RunFolder
from harness.studies.default import studies
from harness.workers import Limits

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from corpora.vocabularies.model import Vocabulary
    from harness.verdict.expectations import Expectation

ANY_LENGTH = 1 << 40


def examine(
    inputs: Mapping[str, Sequence[bytes]],
    impls: Sequence[str],
    out: Path,
    references: Sequence[str] = (),
    expected: Sequence[Expectation] = (),
    limits: Limits | None = None,
    judged: Collection[str] | None = None,
) -> RunResult:
    """All checks on these inputs, by vocabulary source.

    judged: names of implementations that have to be examined; None for all that are given.
    """
    loaders = selection.vocabularies(list(inputs))
    by_id = {loaders[source]().id: list(cases) for source, cases in inputs.items()}

    def given(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
        return iter(by_id[vocabulary.id])

    present, _ = selection.participants(impls)
    names = [participant.name for participant in present] if impls else []
    plan = Plan(
        vocabularies=loaders,
        participants=present,
        references=selection.references(references, present),
        generators=[FunctionGenerator("given", "inputs that were given", given)],
        checks=list(CHECKS.values()),
        expectations=expected,
        suite=Suite("given", "inputs that were given", "1s", ANY_LENGTH, 0.0, 0),
        budget=Budget(),
        seed=0,
        jobs=1,
        fail_fast=False,
        sampled=False,
        named=[name for name in names if judged is None or name in judged],
        limits=limits or Limits(),
    )
    progress = RunProgress(Display(stderr=True), None)
    try:
        return execute(plan, RunFolder(out), [progress.consume], command_line(), studies)
    finally:
        progress.stop()
