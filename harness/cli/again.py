"""Given inputs again: ``tokgate replay`` and ``tokgate minimize``."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from harness.checks import CHECKS
from harness.cli.display import Display
from harness.cli.progress.run import Progress
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.runner import RunResult, execute
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget, Suite
from harness.engine.trust import demand
from harness.events import Found, Started, VocabularyLoaded, read_events
from harness.findings.folder import RunFolder
from harness.studies.default import studies
from harness.verdict import expectations
from harness.workers import Limits

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.events import Event
    from harness.verdict.expectations import Expectation

ANY_LENGTH = 1 << 40


@dataclass(frozen=True, slots=True)
class Terms:
    """Under what a run judged, which its replay judges under, too.

    named: those who have to be judged; None for all that are given by name.
    """

    references: Sequence[str] = ()
    expectations: Sequence[Expectation] = ()
    limits: Limits = field(default_factory=Limits)
    named: Collection[str] | None = None


def examine_inputs(
    inputs: Mapping[str, Sequence[bytes]],
    impls: Sequence[str],
    out: Path,
    command: str,
    terms: Terms = Terms(),
) -> RunResult:
    """All checks on these inputs, by vocabulary source; without terms nothing is expected."""
    loaders = selection.vocabularies(list(inputs))
    by_id = {loaders[source]().id: list(cases) for source, cases in inputs.items()}

    def given(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
        return iter(by_id[vocabulary.id])

    present, _ = selection.participants(impls)
    plan = Plan(
        vocabularies=loaders,
        participants=present,
        references=selection.references(terms.references, present),
        generators=[FunctionGenerator("given", "inputs that were given", given)],
        checks=list(CHECKS.values()),
        expectations=terms.expectations,
        suite=Suite("given", "inputs that were given", "1s", ANY_LENGTH, 0.0, 0),
        budget=Budget(),
        seed=0,
        jobs=1,
        fail_fast=False,
        sampled=False,
        named=[
            participant.name
            for participant in present
            if impls and (terms.named is None or participant.name in terms.named)
        ],
        limits=terms.limits,
    )
    progress = Progress(Display(stderr=True), None)
    try:
        return execute(plan, RunFolder(out), [progress.consume], command, studies)
    finally:
        progress.stop()


def replay_findings(
    what: str, run_folder: Path, out: Path, command: str, *, trust: bool = False
) -> RunResult:
    """Run the findings of a run (``what``: its folder, or the id of one of them) once more.

    trust: whether what the record names may run, or be fetched, where it is not registered here
    (:mod:`harness.engine.trust`). Raises SelectionError, among others where it is not given and is
    due.
    """
    if what.startswith("f-"):
        # A report says how to replay its findings from its own folder.
        here = Path()
        inside = (here / "run.jsonl").is_file() and not (run_folder / "run.jsonl").is_file()
        folder, wanted = here if inside else run_folder, what
    else:
        folder, wanted = Path(what), None
    record = folder / "run.jsonl"
    if not record.is_file():
        raise SelectionError(f"{record}: no such record; name the --out folder of a run")
    if folder.resolve() == out.resolve():
        raise SelectionError(f"--out {out}: is the run to replay; name another folder")
    try:
        started, sources, findings = digest(read_events(record))
    except ValueError as error:
        raise SelectionError(f"{record}: damaged ({error}); run again") from error
    if wanted is not None:
        findings = {name: found for name, found in findings.items() if name == wanted}
        if not findings:
            raise SelectionError(f"{wanted}: no such finding in {folder}; see its report.html")
    if not findings or started is None:
        raise SelectionError(f"{record}: has no finding to replay")
    inputs: dict[str, list[bytes]] = {}
    for found in findings.values():
        source = at(started.folder, sources.get(found.vocabulary, found.vocabulary))
        inputs.setdefault(source, []).append(base64.b64decode(found.input_b64))
    specs = [at(started.folder, spec) for spec in started.specs.values()]
    demand(record, specs, inputs, trust=trust)
    known = expectations.load(expectations.SHIPPED)
    if started.expect is not None:
        known = [*expectations.load(Path(at(started.folder, started.expect))), *known]
    present = [name for name in started.references if name in started.specs]
    limits = Limits(seconds=started.timeout, memory=started.memory)
    # All others take part as they did in the run, where they can.
    blamed = {name for found in findings.values() for name in found.culprits}
    terms = Terms(present, known, limits if started.timeout else Limits(), blamed)
    return examine_inputs(inputs, specs, out, command, terms)


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


def digest(events: Iterator[Event]) -> tuple[Started | None, dict[str, str], dict[str, Found]]:
    """The start of a run, the sources of its vocabularies, its findings in their last state."""
    started: Started | None = None
    sources: dict[str, str] = {}
    findings: dict[str, Found] = {}
    for event in events:
        if isinstance(event, Started):
            started = event
        elif isinstance(event, VocabularyLoaded):
            sources[event.id] = event.source
        elif isinstance(event, Found):
            if event.replaces is not None:
                findings.pop(event.replaces, None)
            findings[event.id] = event
    return started, sources, findings
