"""``tokgate forced``: a corpus walked by all policies, resumable, with a record like a run's."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.grammars.corpus import CorpusError, read_cases
from harness.confinement import probing
from harness.core import exit_statuses, stored
from harness.core.interruption import exit_status
from harness.core.writing import Lines, cannot_write, write_whole
from harness.engine.selection import SelectionError
from harness.events import (
    Event,
    Finished,
    Forced,
    ForcedCorpus,
    ForcedWitness,
    Started,
    VocabularyLoaded,
)
from harness.studies.forced import witnesses
from harness.studies.forced.jobs import Minimised, Task, WalkSchema
from harness.studies.forced.policies import EXACT
from harness.studies.forced.pool import WorkersFailed, results
from harness.studies.forced.results import CHECKED, SchemaResult, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from corpora.grammars.corpus import SchemaCase
    from harness.studies.forced.results import Totals
    from harness.studies.forced.scattered import Walks

OWN = "own"
"""The name of the schemas that ship with tokgate."""

JSON_SIGNS = b'{}[]":,'
"""A vocabulary that lacks a token for one of them spells no JSON."""

RECORD = "forced.jsonl"

WALKED = 0.95
"""The share of the walk in what the bar shows; the rest is making failures small."""


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
    minimised: int = witnesses.MINIMISED

    def cases(self) -> Iterator[SchemaCase]:
        """All cases of the corpus. Raises SelectionError."""
        if self.corpus == OWN:
            from corpora.grammars.own_schemas import own_cases  # noqa: PLC0415

            yield from own_cases(self.task.whitespace)
            return
        try:
            yield from read_cases(Path(self.corpus))
        except CorpusError as error:
            raise SelectionError(f"corpus {error}") from error

    def identity(self) -> dict[str, Any]:
        """What decides the results: a record of another one is not gone on with."""
        stamp = ""
        if self.corpus != OWN:
            try:
                status = Path(self.corpus).stat()
            except OSError as error:
                raise SelectionError(
                    f"corpus {self.corpus}: {error.strerror}; name a folder, an archive, or {OWN}"
                ) from error
            stamp = f"{Path(self.corpus).resolve()} {status.st_size} {status.st_mtime_ns}"
        return {
            "corpus": stamp or OWN,
            "vocabulary": self.task.vocabulary.fingerprint,
            "whitespace": self.task.whitespace,
            "policies": list(self.task.policies),
            "seed": self.task.seed,
            "versions": versions(),
        }


def versions() -> dict[str, str]:
    """Versions of what decides the results."""
    return {
        "tokgate": importlib.metadata.version("tokgate"),
        "python": platform.python_version(),
        "llguidance": importlib.metadata.version("llguidance"),
    }


class _Head(msgspec.Struct):
    """The first line: of what walk."""

    walk: dict[str, Any]


class _MinimisedLine(msgspec.Struct):
    """A line of a failure that was made small: which one, and what it came to."""

    minimised: witnesses.Key
    smallest: ForcedWitness | None


class _LeftLine(msgspec.Struct):
    """A line of processes that a worker has left behind."""

    left: str


class Record:
    """``forced.jsonl``: what is done, behind a line that says of what walk.

    A line has a schema's results, or, after all of these, a failure made small, or what a worker
    has left behind.

    A record of the same walk is gone on with; another one is kept beside it as ``.old``.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.path = folder / RECORD
        self.done: dict[str, SchemaResult] = {}
        self.minimised: dict[witnesses.Key, ForcedWitness | None] = {}
        self.left: list[str] = []
        head = json.dumps({"walk": identity})
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                self._take(head)
            lines = [head, *(json.dumps(one.to_dict()) for one in self.done.values())]
            lines += [_minimised_line(*pair) for pair in self.minimised.items()]
            lines += [json.dumps({"left": line}) for line in self.left]
            write_whole(self.path, "".join(f"{line}\n" for line in lines))
            self._file = Lines(self.path, afresh=False)
        except OSError as error:
            raise cannot_write(f"--out {folder}", error) from error

    def _take(self, head: str) -> None:
        lines = stored.lines(self.path)
        _, first = next(lines, (0, ""))
        try:
            if first:
                stored.typed(stored.parsed(first), _Head)
        except ValueError as error:
            raise stored.damaged(self.path, f"line 1: {error}") from error
        if first != head:
            self.path.replace(self.path.with_name(RECORD + ".old"))
            return
        for number, line in lines:
            try:
                self._take_line(stored.parsed(line))
            except ValueError as error:
                mend = "remove that line to walk it again"
                raise stored.damaged(self.path, f"line {number}: {error}", mend) from error

    def _take_line(self, raw: object) -> None:
        """Take in what a line says. Raises ValueError with the field at fault."""
        if isinstance(raw, dict) and "minimised" in raw:
            found = stored.typed(raw, _MinimisedLine)
            self.minimised[found.minimised] = found.smallest
            return
        if isinstance(raw, dict) and "left" in raw:
            self.left.append(stored.typed(raw, _LeftLine).left)
            return
        result = stored.typed(raw, SchemaResult)
        self.done[result.name] = result

    def add(self, result: SchemaResult) -> None:
        """Write a result at once. Raises OutputError."""
        self.done[result.name] = result
        self._file.add(json.dumps(result.to_dict()))

    def add_minimised(self, found: Minimised) -> None:
        """Write a failure made small at once. Raises OutputError."""
        key = witnesses.key(found.witness)
        self.minimised[key] = found.smallest
        self._file.add(_minimised_line(key, found.smallest))

    def add_left(self, line: str) -> None:
        """Write what a worker has left behind, once. Raises OutputError."""
        if line not in self.left:
            self.left.append(line)
            self._file.add(json.dumps({"left": line}))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _minimised_line(key: witnesses.Key, smallest: ForcedWitness | None) -> str:
    return json.dumps({"minimised": key, "smallest": smallest and asdict(smallest)})


def chosen(names: Sequence[str], limit: int | None) -> list[str]:
    """So many of the names, evenly spread: sorted names go by kind."""
    if limit is None or limit >= len(names):
        return list(names)
    return [names[index * len(names) // limit] for index in range(limit)]


def execute(
    plan: ForcedPlan,
    out: Path,
    emit: Callable[[Event], None],
    watch: Callable[[float, str], None],
    command: str,
    record: Record,
    walks: Walks | None = None,
) -> Finished:
    """Walk what is not yet in the record and tell all. Ctrl-C ends it early, with all that is done.

    walks: has schemas walked elsewhere.

    Raises SelectionError, OutputError, and ImplementationError where no worker starts.
    """
    began = time.monotonic()
    vocabulary = plan.task.vocabulary
    emit(
        Started(
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            seed=plan.task.seed,
            suite="forced",
            budget="none" if plan.limit is None else f"{plan.limit} schemas",
            command=command,
            versions=versions(),
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            confinement=probing.line(plan.task.memory),
        )
    )
    emit(VocabularyLoaded.of(vocabulary, plan.source))
    watch(0.0, "reading the corpus")
    names: list[str] = []
    cut_off: int | None = None
    cases: dict[str, SchemaCase] = {}
    try:
        names = chosen([case.name for case in plan.cases()], plan.limit)
        _walk(plan, set(names), record, watch, walks)
        cases = _minimise(plan, names, record, watch)
    except KeyboardInterrupt as interrupt:
        cut_off = exit_status(interrupt)
    except WorkersFailed as error:
        raise error.mendable("forced tokens") from error
    finally:
        record.close()
    found = _sum(plan, names, record)
    for event in outcome_events(plan, found, record, cases):
        emit(event)
    if walks is not None:
        emit(walks.used)
    reasons, status = judged(found, plan.task.policies, complete=cut_off is None)
    if cut_off is not None:
        reasons.insert(0, "interrupted before its end: the same command goes on")
        status = cut_off
    finished = Finished(
        complete=cut_off is None,
        verdict="fail" if reasons else "pass",
        reasons=reasons,
        seconds=time.monotonic() - began,
        cases=found.instances,
        comparisons=sum(tally.sequences for tally in found.tallies.values()),
        exit_status=status,
        notes=[f"a worker {line}" for line in record.left],
    )
    emit(finished)
    return finished


def _walk(
    plan: ForcedPlan,
    names: set[str],
    record: Record,
    watch: Callable[[float, str], None],
    walks: Walks | None,
) -> None:
    left = names - set(record.done)
    cases = (case for case in plan.cases() if case.name in left)
    done = len(names) - len(left)
    gone_on = f", {done:,} of them before" if done else ""
    if walks is not None:
        answers = walks.results(plan.task, cases, len(left), record.add_left)
    else:
        processes = min(plan.jobs, max(1, len(left)))
        answers = results(plan.task, map(WalkSchema, cases), processes, left=record.add_left)
    with contextlib.closing(answers):  # while the record can still be written
        for result in answers:
            record.add(result)
            done += 1
            share = WALKED * done / len(names)
            watch(share, f"{done:,} of {len(names):,} schemas{gone_on}: {result.name}")


def _sum(plan: ForcedPlan, names: Sequence[str], record: Record) -> Totals:
    return total((record.done[name] for name in names if name in record.done), plan.task.policies)


def _minimise(
    plan: ForcedPlan, names: Sequence[str], record: Record, watch: Callable[[float, str], None]
) -> dict[str, SchemaCase]:
    """Make failures small that are not yet in the record; the schemas of all that are told."""
    shown = witnesses.shown(_sum(plan, names, record).witnesses, plan.task.policies)
    concerned = {witness.schema for witness in shown}
    if not concerned:
        return {}
    watch(WALKED, "reading the schemas of failures")
    cases = {case.name: case for case in plan.cases() if case.name in concerned}
    wanted = witnesses.to_minimise(shown, plan.minimised)
    left = [witness for witness in wanted if witnesses.key(witness) not in record.minimised]
    done = len(wanted) - len(left)

    def heard(found: Minimised) -> None:
        nonlocal done
        record.add_minimised(found)
        done += 1
        share = WALKED + (1 - WALKED) * done / len(wanted)
        watch(share, f"made small: {done:,} of {len(wanted):,} failures")

    watch(WALKED, f"making {len(left):,} failures small")
    witnesses.minimise(plan.task, left, cases, plan.jobs, heard, record.add_left)
    return cases


def outcome_events(
    plan: ForcedPlan, found: Totals, record: Record, cases: Mapping[str, SchemaCase]
) -> Iterator[Event]:
    """The events of what was found."""
    vocabulary = plan.task.vocabulary.id
    corpus = plan.corpus if plan.corpus == OWN else Path(plan.corpus).name
    yield ForcedCorpus(
        corpus=corpus,
        vocabulary=vocabulary,
        whitespace=plan.task.whitespace,
        schemas=found.schemas,
        instances=found.instances,
        tokens=found.tokens,
        refused_schemas=found.refused_schemas,
        refused_instances=found.refused_instances,
        failed=found.failed,
        differing=found.differing,
        **{count: getattr(found, count) for count in CHECKED},
    )
    yield from rows(found, vocabulary, corpus, plan.task.whitespace)
    for one in witnesses.shown(found.witnesses, plan.task.policies):
        smallest = record.minimised.get(witnesses.key(one))
        yield witnesses.completed(one, cases.get(one.schema), smallest)


def rows(found: Totals, vocabulary: str, corpus: str, whitespace: str) -> Iterator[Forced]:
    """One row of the table for each policy."""
    for name, tally in found.tallies.items():
        yield Forced(
            implementation="llguidance" if name.startswith("llguidance") else "tokgate",
            vocabulary=vocabulary,
            method=name,
            sequences=tally.sequences,
            forced_tokens=tally.forced_tokens,
            non_canonical=tally.non_canonical,
            corpus=corpus,
            whitespace=whitespace,
            schemas=found.schemas,
            instances=found.instances,
            tokens=found.tokens,
            non_canonical_instances=tally.instances,
            non_canonical_schemas=tally.schemas,
            seam=tally.seam,
            unsafe=tally.unsafe,
            undecided=tally.undecided,
            longer=tally.longer,
            shorter=tally.shorter,
            gave_up=tally.gave_up,
            seconds=round(tally.seconds, 3),
            not_admitted=tally.not_admitted,
            outside_mask=tally.outside_mask,
        )


def judged(
    found: Totals, policies: Sequence[str], *, complete: bool = True
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
