"""A walk of forced tokens on a cluster: batches of schemas are units of work.

What a schema comes to depends on the schema and the task alone, so that it does not matter which
batch it is in, or who walks it. Failures are made small on the driver's machine, as they are few.
"""

from __future__ import annotations

import json
import zlib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cluster.executor import ClusterError, Unit, UnitError
from harness.cluster.usage import Usage
from harness.core import stored
from harness.events import UnitDone
from harness.studies.forced.jobs import WalkSchema
from harness.studies.forced.pool import WorkersFailed, results
from harness.studies.forced.results import SchemaResult

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


def walk(keep: dict[str, Any], task: Task, cases: Sequence[SchemaCase]) -> bytes:
    """Walk a batch of schemas; keep: nothing is."""
    left: list[str] = []
    message: dict[str, Any] = {"left": left, "failed": None}
    try:
        answers = list(results(task, map(WalkSchema, cases), 1, left=left.append))
        message["results"] = [one.to_dict() for one in answers]
    except WorkersFailed as error:
        message["failed"] = [str(error), error.supported]
    return zlib.compress(json.dumps(message).encode(), 6)


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
    ) -> Generator[SchemaResult]:
        """The results of so many schemas, as they come, as :func:`.pool.results` gives them.

        Raises WorkersFailed, ClusterError, UnitError.
        """
        executor = self._executor
        size = max(1, min(LARGEST, -(-count // (BATCHES * executor.slots))))
        waiting = iter(cases)
        number = underway = 0
        try:
            executor.listen(self._tell)
            shared = executor.share("task", task)
            while True:
                while underway < AHEAD * executor.slots:
                    batch = list(islice(waiting, size))
                    if not batch:
                        break
                    number += 1
                    name = f"schemas {number}, {batch[0].name} and {len(batch) - 1} more"
                    executor.submit(Unit(name, walk, (shared,), (batch,)))
                    underway += 1
                if not underway:
                    return
                done = executor.next(POLL_SECONDS)
                if done is None:
                    continue
                underway -= 1
                found, lines = unpacked(done.name, done.result)
                texts = sum(one.instances for one in found)
                self._tell(
                    UnitDone(
                        done.name, done.node, done.tries, done.seconds, len(done.result), texts
                    )
                )
                for line in lines:
                    left(line)
                yield from found
        finally:
            executor.close()


def unpacked(name: str, packed: bytes) -> tuple[list[SchemaResult], list[str]]:
    """Return what :func:`walk` gave: the results, and lines on what workers left behind.

    Raises WorkersFailed where no worker was to be had, and UnitError for what is no result.
    """
    try:
        message = stored.parsed(stored.unzipped(packed, MAX_BYTES).decode())
        if not isinstance(message, dict):
            raise TypeError("it is no object")
        if message.get("failed") is not None:
            line, supported = stored.typed(message["failed"], tuple[str, bool], "failed")
            raise WorkersFailed(line, supported=supported)
        found = stored.typed(message.get("results"), list[SchemaResult], "results")
        return found, stored.typed(message.get("left"), list[str], "left")
    except (ValueError, TypeError) as error:
        raise UnitError(f"{name}: its result cannot be read: {error}") from error
