"""Inputs that are given, not generated: those of ``tokgate minimize`` and ``tokgate replay``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from harness.checks import DEFAULT
from harness.engine import selection
from harness.engine.plan import Plan
from harness.engine.suites import Budget, Suite
from harness.workers import Limits

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.verdict.expectations import Expectation

GIVEN = "given"
"""The generator of what is given."""

ANY_LENGTH = 1 << 40


def plan_of(
    inputs: Mapping[str, Sequence[bytes]],
    impls: Sequence[str],
    references: Sequence[str] = (),
    expected: Sequence[Expectation] = (),
    limits: Limits | None = None,
    judged: Collection[str] | None = None,
) -> Plan:
    """A run of all checks on these inputs, by vocabulary source.

    judged: names of implementations that have to be examined; None for all that are given. Raises
    SelectionError, VocabularyError, ImplementationError.
    """
    loaders = selection.vocabularies(list(inputs))
    by_id = {loaders[source]().id: list(cases) for source, cases in inputs.items()}

    def given(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
        return iter(by_id[vocabulary.id])

    present, _ = selection.participants(impls)
    names = [participant.name for participant in present] if impls else []
    return Plan(
        vocabularies=loaders,
        participants=present,
        references=selection.references(references, present),
        generators=[FunctionGenerator(GIVEN, "inputs that were given", given)],
        checks=[*DEFAULT.values()],
        expectations=expected,
        suite=Suite(GIVEN, "1s", ANY_LENGTH, 0.0, 0),
        budget=Budget(),
        sampled=False,
        named=[name for name in names if judged is None or name in judged],
        limits=limits or Limits(),
    )


def at(folder: str, name: str) -> str:
    """A name of a run's command, its path made absolute if it is one that begins in a folder.

    folder: in which the run was started. What is no path, or is there from here, stays as it is.
    """
    path, _, _ = name.partition("#")
    if path.rpartition(":")[0].endswith(".py"):
        path = path.rpartition(":")[0]
    is_path = "." in Path(path).name or "/" in path
    if folder and is_path and not Path(path).exists() and Path(folder, path).exists():
        return str(Path(folder, name))
    return name
