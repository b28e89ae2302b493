"""Plans and records that tests of executors share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpora.generators.catalog import generators
from harness.checks import CHECKS
from harness.cluster.executor import Executor
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.runner import RunResult, execute
from harness.engine.suites import SUITES, Budget
from harness.events import Event
from harness.findings.folder import RunFolder
from harness.studies import units
from harness.studies.default import studies

VOCABULARIES = ("toy_bytes", "random:4")
IMPLEMENTATIONS = ("bpe.naive", "bpe.heap", "bpe.table")

WRONG = '''
"""A plug-in that is wrong wherever two equal bytes meet."""

from impls.bpe.algorithms.heap import IMPLEMENTATION as HEAP
from impls.interface import About


class Encoder:
    def __init__(self, right):
        self.right = right

    def encode(self, data, mode):
        ids = list(self.right.encode(data, mode))
        return ids[1:] if any(a == b for a, b in zip(data, data[1:])) else ids


class Wrong:
    about = About("wrong", "1", "Python", "drops a token where two equal bytes meet")

    def supports(self, vocabulary, mode):
        return HEAP.supports(vocabulary, mode)

    def load(self, vocabulary):
        return Encoder(HEAP.load(vocabulary))
'''
"""A candidate with findings on every vocabulary, as a file of the driver's."""


def plug_in(folder: Path) -> str:
    """Write the wrong candidate, and return how it is named."""
    path = folder / "wrong_plug_in.py"
    path.write_text(WRONG)
    return f"{path}:Wrong"


def small_plan(*besides: str, cases: int = 150, fail_fast: bool = False) -> Plan:
    """A run of a few seconds whose budget is a number of cases."""
    present, _ = selection.participants([*IMPLEMENTATIONS, *besides])
    catalog = generators()
    return Plan(
        vocabularies=selection.vocabularies(VOCABULARIES, 5),
        participants=present,
        references=frozenset(),
        generators=list(catalog.values()),
        checks=[CHECKS["equivalence"], CHECKS["survival"]],
        expectations=[],
        suite=SUITES["smoke"],
        budget=Budget(cases=cases),
        seed=5,
        jobs=1,
        fail_fast=fail_fast,
    )


def finished(
    plan: Plan,
    out: Path,
    executor: Executor | None = None,
    consume: Callable[[Event], None] = lambda event: None,
) -> RunResult:
    """Run a plan here, or by an executor."""
    elsewhere = None if executor is None else units.on(executor)
    return execute(plan, RunFolder(out), [consume], "tokgate run", studies, elsewhere)


OF_THE_MACHINE = ("Started", "Finished", "Phase", "Preparing", "NodeJoined", "NodeLeft")
"""Events that tell of time and machines, as do all of units."""


def record_of(out: Path) -> list[dict[str, Any]]:
    """What the record of a run says of its cases and findings, in order."""
    events = [json.loads(line) for line in (out / "run.jsonl").read_text().splitlines()]
    return [
        one
        for one in events
        if one["event"] not in OF_THE_MACHINE and not one["event"].startswith("Unit")
    ]


def verdict_of(result: RunResult) -> tuple[object, ...]:
    """The verdict, and the counts that it rests on."""
    one = result.finished
    return one.complete, one.verdict, one.reasons, one.exit_status, one.cases, one.comparisons


def files_of(out: Path) -> dict[str, bytes]:
    """The findings of a run, and the vocabularies beside them, as files."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for folder in ("findings", "vocabularies")
        for path in sorted((out / folder).rglob("*"))
        if path.is_file()
    }
