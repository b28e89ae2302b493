"""A walk of forced tokens on a cluster: batches of schemas are units of work.

What a schema comes to depends on the schema and the task alone, so that it does not matter which
batch it is in, or who walks it. Failures are made small on the driver's machine, as they are few.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.cluster.executor import ClusterError, Unit, UnitError
from harness.cluster.usage import Usage
from harness.core import stored
from harness.events import UnitDone
from harness.studies.forced.jobs import WalkSchema
from harness.studies.forced.pool import WorkersFailed, results
from harness.studies.forced.results import Walked

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from corpora.grammars.corpus import SchemaCase
    from harness.cluster.executor import Executor
    from harness.events import ClusterUsed, Event
    from harness.studies.forced.jobs import Task

BATCHES = 6
"""Batches for each slot: fewer would have slots wait for the last one, and each loads the
vocabulary."""

LARGEST = 64
"""Schemas of a batch at the most, so that little is walked again after a loss."""

AHEAD = 2
"""Batches for each slot that are submitted at a time."""

POLL_SECONDS = 0.5

MAX_BYTES = 1 << 30
"""The greatest size of a batch's results, unpacked."""


@dataclass
class Batch:
    """What a batch came to.

    walked: by schema, the results or how its walk broke. left: what workers left behind. failed: a
    line where no worker was to be had; supported: see :class:`WorkersFailed`.
    """

    walked: dict[str, Walked | str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    failed: str = ""
    supported: bool = True


def walk(keep: dict[str, Any], task: Task, cases: Sequence[SchemaCase]) -> bytes:
    """Walk a batch of schemas; keep: nothing is."""
    batch = Batch()
    try:
        for job, answer in results(task, map(WalkSchema, cases), 1, left=batch.left.append):
            batch.walked[job.case.name] = answer
    except WorkersFailed as error:
        batch.failed, batch.supported = str(error), error.supported
    return zlib.compress(json.dumps(msgspec.to_builtins(batch)).encode(), 6)


def sendable(policies: Sequence[str]) -> None:
    """Raise ClusterError for a policy whose file other machines do not find."""
    for name in policies:
        path = name.rpartition(":")[0]
        if path.endswith(".py") and not Path(path).is_absolute():
            raise ClusterError(
                f"--cluster: {name} names a file of this machine; put it on all nodes, and name it "
                "by its absolute path"
            )


class Walks:
    """Has schemas walked by an executor. tell: gets what happens on the cluster."""

    def __init__(self, executor: Executor, tell: Callable[[Event], None]) -> None:
        self._executor, self._emit = executor, tell
        self._usage = Usage()

    @property
    def used(self) -> ClusterUsed:
        """What the cluster did."""
        return self._usage.summary()

    def _tell(self, event: Event) -> None:
        self._usage.consume(event)
        self._emit(event)

    def results(
        self, task: Task, cases: Iterable[SchemaCase], count: int, left: Callable[[str], None]
    ) -> Generator[tuple[WalkSchema, Walked | str]]:
        """The results of so many schemas, as they come, as :func:`.pool.results` gives them.

        Raises WorkersFailed, ClusterError, UnitError.
        """
        executor = self._executor
        size = max(1, min(LARGEST, -(-count // (BATCHES * executor.slots))))
        waiting, number = iter(cases), 0
        underway: dict[str, dict[str, SchemaCase]] = {}
        try:
            executor.listen(self._tell)
            shared = executor.share("task", task)
            while True:
                while len(underway) < AHEAD * executor.slots:
                    batch = list(islice(waiting, size))
                    if not batch:
                        break
                    number += 1
                    name = f"schemas {number}, {batch[0].name} and {len(batch) - 1} more"
                    executor.submit(Unit(name, walk, (shared,), (batch,)))
                    underway[name] = {case.name: case for case in batch}
                if not underway:
                    return
                done = executor.next(POLL_SECONDS)
                if done is None:
                    continue
                found = unpacked(done.name, done.result)
                walked = [one for one in found.walked.values() if isinstance(one, Walked)]
                texts, known = sum(one.instances for one in walked), underway.pop(done.name)
                self._tell(
                    UnitDone(
                        done.name, done.node, done.tries, done.seconds, len(done.result), texts
                    )
                )
                for line in found.left:
                    left(line)
                for name, answer in found.walked.items():
                    if name in known:
                        yield WalkSchema(known[name]), answer
        finally:
            executor.close()


def unpacked(name: str, packed: bytes) -> Batch:
    """Return what :func:`walk` gave.

    Raises WorkersFailed where no worker was to be had, and UnitError for what is no result.
    """
    try:
        message = stored.parsed(stored.unzipped(packed, MAX_BYTES))
        batch = stored.typed(message, Batch)
    except ValueError as error:
        raise UnitError(f"{name}: its result cannot be read: {error}") from error
    if batch.failed:
        raise WorkersFailed(batch.failed, supported=batch.supported)
    return batch
