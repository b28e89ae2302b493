"""``tokgate forced``: a corpus walked by all policies, resumable, with a record like a run's."""

from __future__ import annotations

import contextlib
import importlib.metadata
import platform
import time
from collections import Counter
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.grammars.corpus import CorpusError, compact_json, own_cases, read_cases
from harness.confinement import probe
from harness.core import exit_statuses
from harness.core.interruption import exit_status
from harness.core.provenance import machine, now
from harness.engine.selection import SelectionError
from harness.events import Finished, Forced, ForcedCorpus, ForcedWitness, Started, VocabularyLoaded
from harness.studies.forced.jobs import MinimiseWitness, Task, WalkSchema
from harness.studies.forced.journal import Journal
from harness.studies.forced.policies import EXACT
from harness.studies.forced.pool import results
from harness.studies.forced.results import Walked, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from corpora.grammars.corpus import SchemaCase
    from harness.events import Event
    from harness.studies.forced.journal import Unit
    from harness.studies.forced.pool import Walks

OWN = "own"
"""The name of the schemas that ship with tokgate."""

JSON_SIGNS = b'{}[]":,'
"""A vocabulary that lacks a token for one of them spells no JSON."""

RECORD = "forced.jsonl"

SCHEMA, SMALL = "schema", "minimised"
"""The kinds of lines of the record: about a schema's walk, and about a failure made small."""

WALKED = 0.95
"""The share of the walk in what the bar shows; the rest is making failures small."""

SHOWN = 20
"""Failures of one policy in the report; ``forced.jsonl`` has more."""

MINIMISED = 3
"""So many witnesses are minimised where nothing else is asked for, as more of them show the same
again."""

MINIMISING = 10.0
"""The seconds for minimising one witness. Most end by themselves within two; of large schemas the
best so far is told."""

GRAMMAR_SHOWN = 4000
"""Characters of a schema that are told."""


@dataclass(frozen=True, slots=True)
class ForcedPlan:
    """What a walk does. corpus: a path, or :data:`OWN`. source: of the vocabulary, as given.

    limit: so many schemas, evenly spread over the corpus; None takes all. minimised: so many
    failures of each policy are made small.
    """

    corpus: str
    source: str
    task: Task
    limit: int | None = None
    jobs: int = 1
    minimised: int = MINIMISED

    def cases(self) -> Iterator[SchemaCase]:
        """All cases of the corpus. Raises SelectionError."""
        if self.corpus == OWN:
            yield from own_cases(self.task.whitespace)
            return
        try:
            yield from read_cases(Path(self.corpus))
        except CorpusError as error:
            raise SelectionError(f"corpus {error}") from error

    def identity(self) -> dict[str, Any]:
        """What decides the results: a record of another one is not gone on with."""
        corpus = OWN
        if self.corpus != OWN:
            try:
                status = Path(self.corpus).stat()
            except OSError as error:
                raise SelectionError(
                    f"corpus {self.corpus}: {error.strerror}; name a folder, an archive, or {OWN}"
                ) from error
            corpus = f"{Path(self.corpus).resolve()} {status.st_size} {status.st_mtime_ns}"
        return {
            "corpus": corpus,
            "vocabulary": self.task.vocabulary.fingerprint,
            "whitespace": self.task.whitespace,
            "policies": list(self.task.policies),
            "seed": self.task.seed,
            "versions": versions(),
        }

    def journal(self, folder: Path) -> Journal:
        """What is done of it in a folder. Raises OutputError, SelectionError."""
        small = tuple[str, str, str, str], list[ForcedWitness]
        kinds = {SCHEMA: (tuple[str], Walked), SMALL: small}
        return Journal(folder / RECORD, self.identity(), kinds)


def versions() -> dict[str, str]:
    """Versions of what decides the results."""
    return {
        "tokgate": importlib.metadata.version("tokgate"),
        "python": platform.python_version(),
        "llguidance": importlib.metadata.version("llguidance"),
    }


def chosen(names: Sequence[str], limit: int | None) -> list[str]:
    """So many of the names, evenly spread: sorted names go by kind."""
    if limit is None or limit >= len(names):
        return list(names)
    return [names[index * len(names) // limit] for index in range(limit)]


def walked(job: WalkSchema, answer: Walked | str) -> Walked:
    """The results of a schema, whose walk may have broken off."""
    return Walked(failed={job.case.name: answer}) if isinstance(answer, str) else answer


def small_of(witness: ForcedWitness) -> Unit:
    """A failure that is made small, as a piece of work."""
    return SMALL, witness.policy, witness.schema, witness.context, witness.forced


@dataclass
class Walking:
    """A walk of a corpus. names: of the schemas that are walked. cases: the schemas of failures.

    watch: is told how far it is, and what was done.
    """

    plan: ForcedPlan
    journal: Journal
    watch: Callable[[float, str], None]
    walks: Walks | None = None
    names: Sequence[str] = ()
    cases: dict[str, SchemaCase] = field(default_factory=dict)

    def go(self) -> None:
        """Do what is not yet in the record. Raises as :func:`execute` does."""
        self.watch(0.0, "reading the corpus")
        self.names = chosen([case.name for case in self.plan.cases()], self.plan.limit)
        self._walk()
        self._minimise()

    @property
    def found(self) -> Walked:
        """What was walked so far."""
        done = self.journal.done
        known = (done[SCHEMA, name] for name in self.names if (SCHEMA, name) in done)
        return total(known, self.plan.task.policies)

    def _walk(self) -> None:
        plan, journal, count = self.plan, self.journal, len(self.names)
        left = {name for name in self.names if (SCHEMA, name) not in journal.done}
        done = count - len(left)
        gone_on = f", {done:,} of them before" if done else ""
        cases = (case for case in plan.cases() if case.name in left)
        if self.walks is not None:
            answers = self.walks.results(plan.task, cases, len(left), journal.add_left)
        else:
            jobs = map(WalkSchema, cases)
            answers = results(plan.task, jobs, plan.jobs, left=journal.add_left)
        with contextlib.closing(answers):  # while the record can still be written
            for at, (job, answer) in enumerate(answers, done + 1):
                journal.add((SCHEMA, job.case.name), walked(job, answer))
                said = f"{at:,} of {count:,} schemas{gone_on}: {job.case.name}"
                self.watch(WALKED * at / count, said)

    def _minimise(self) -> None:
        """Make the first failures of each policy small."""
        failures, taken = self.failures(), Counter[str]()
        if not failures:
            return
        self.watch(WALKED, "reading the schemas of failures")
        concerned = {witness.schema for witness in failures}
        cases = {case.name: case for case in self.plan.cases() if case.name in concerned}
        self.cases, wanted = cases, []
        for one in failures:
            taken[one.policy] += 1
            if taken[one.policy] <= self.plan.minimised and one.schema in cases:
                wanted.append(one)
        left = [one for one in wanted if small_of(one) not in self.journal.done]
        self.watch(WALKED, f"making {len(left):,} failures small")
        jobs = [MinimiseWitness(one, cases[one.schema], MINIMISING) for one in left]
        answers = results(self.plan.task, jobs, self.plan.jobs, left=self.journal.add_left)
        with contextlib.closing(answers):
            for at, (job, answer) in enumerate(answers, len(wanted) - len(left) + 1):
                self.journal.add(small_of(job.witness), [] if isinstance(answer, str) else answer)
                share = WALKED + (1 - WALKED) * at / len(wanted)
                self.watch(share, f"made small: {at:,} of {len(wanted):,} failures")

    def failures(self) -> list[ForcedWitness]:
        """The failures of the report."""
        return shown(self.found.witnesses, self.plan.task.policies)

    def events(self) -> Iterator[Event]:
        """What was found: the corpus, a row for each policy, and failures with their schemas."""
        task, found = self.plan.task, self.found
        corpus = self.plan.corpus if self.plan.corpus == OWN else Path(self.plan.corpus).name
        counts = {one.name for one in fields(Walked)} & {one.name for one in fields(ForcedCorpus)}
        yield ForcedCorpus(
            corpus=corpus,
            vocabulary=task.vocabulary.id,
            whitespace=task.whitespace,
            refused_schemas=len(found.refused),
            **{name: getattr(found, name) for name in counts},
        )
        yield from rows(found, task.vocabulary.id, corpus, task.whitespace)
        for one in self.failures():
            smallest = self.journal.done.get(small_of(one), [])
            yield completed(one, self.cases.get(one.schema), *smallest[:1])


def shown(witnesses: Iterable[ForcedWitness], policies: Sequence[str]) -> list[ForcedWitness]:
    """Those of the report, policy by policy: the shortest, and of many schemas rather than of one.

    Errors of the exact policy come first: there should be none.
    """

    def length(one: ForcedWitness) -> int:
        return len(one.context) + len(one.forced) + len(one.continuation)

    ranked: dict[str, list[tuple[int, int, ForcedWitness]]] = {name: [] for name in policies}
    seen = Counter[tuple[str, str]]()
    for place, one in enumerate(sorted(witnesses, key=lambda one: (length(one), small_of(one)))):
        seen[one.policy, one.schema] += 1
        ranked[one.policy].append((seen[one.policy, one.schema], place, one))
    ordered = sorted(ranked, key=lambda name: name != EXACT)
    return [one for name in ordered for _, _, one in sorted(ranked[name])[:SHOWN]]


def completed(
    witness: ForcedWitness, case: SchemaCase | None, smallest: ForcedWitness | None = None
) -> ForcedWitness:
    """The witness with its schema, and the smallest one like it."""
    grammar = "" if case is None else compact_json(case.schema).decode()
    if len(grammar) > GRAMMAR_SHOWN:
        grammar = f"{grammar[:GRAMMAR_SHOWN]}…"
    return replace(witness, grammar=grammar, minimal=smallest)


def rows(found: Walked, vocabulary: str, corpus: str, whitespace: str) -> Iterator[Forced]:
    """One row of the table for each policy."""
    for name, tally in found.tallies.items():
        yield Forced(
            implementation="llguidance" if name.startswith("llguidance") else "tokgate",
            vocabulary=vocabulary,
            method=name,
            corpus=corpus,
            whitespace=whitespace,
            schemas=found.schemas,
            instances=found.instances,
            tokens=found.tokens,
            **{**asdict(tally), "seconds": round(tally.seconds, 3)},
        )


def execute(
    plan: ForcedPlan,
    journal: Journal,
    emit: Callable[[Event], None],
    watch: Callable[[float, str], None],
    command: str,
    walks: Walks | None = None,
) -> Finished:
    """Walk what is not yet in the record and tell all. Ctrl-C ends it early, with all that is done.

    walks: has schemas walked elsewhere.

    Raises SelectionError, OutputError, and ImplementationError where no worker starts.
    """
    began, task = time.monotonic(), plan.task
    emit(
        Started(
            time=now(),
            seed=task.seed,
            suite="forced",
            budget="none" if plan.limit is None else f"{plan.limit} schemas",
            command=command,
            versions=versions(),
            machine=machine(),
            confinement=probe.line(task.memory),
        )
    )
    emit(VocabularyLoaded.of(task.vocabulary, plan.source))
    walking, cut_off = Walking(plan, journal, watch, walks), None
    try:
        walking.go()
    except KeyboardInterrupt as interrupt:
        cut_off = exit_status(interrupt)
    finally:
        journal.close()
    for event in walking.events():
        emit(event)
    if walks is not None:
        emit(walks.used)
    found = walking.found
    reasons, status = judged(found, task.policies, complete=cut_off is None)
    if cut_off is not None:
        reasons.insert(0, "interrupted: the same command continues")
        status = cut_off
    finished = Finished(
        complete=cut_off is None,
        verdict="fail" if reasons else "pass",
        reasons=reasons,
        seconds=time.monotonic() - began,
        cases=found.instances,
        comparisons=sum(tally.sequences for tally in found.tallies.values()),
        exit_status=status,
        notes=[f"a worker {line}" for line in journal.left],
    )
    emit(finished)
    return finished


def judged(
    found: Walked, policies: Sequence[str], *, complete: bool = True
) -> tuple[list[str], int]:
    """Why the gate does not hold, and the exit status: the exact policy may not err."""
    reasons = []
    if EXACT in policies:
        wrong = found.tallies[EXACT]
        if wrong.non_canonical:
            reasons.append(f"exact forced {wrong.non_canonical:,} non-canonical sequences")
        if found.misjudged:
            reasons.append(f"{found.misjudged:,} answers of exact are contradicted by a sentence")
    if not found.instances and found.failed:
        name, how = next(iter(found.failed.items()))
        count = len(found.failed)
        several = f"{count:,} schemas broke off, {name} first" if count > 1 else f"{name} broke off"
        reasons.append(f"nothing was walked to its end: {several}: {how}")
    elif not found.instances and complete:
        reasons.append(
            "nothing was walked: no schema of the corpus has a valid instance that llguidance takes"
        )
    return reasons, exit_statuses.FAILS if reasons else exit_statuses.HOLDS
