"""What a request asks about, and what its outcomes say of it: pure functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from harness.core.messages import Decode, Encode, Measure, Serve
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.core.messages import Loaded

Asking = Encode | Decode | Serve | Measure
"""The requests to an implementation that is loaded."""

SLOW_DEATHS = frozenset({Status.TIMED_OUT, Status.OUT_OF_MEMORY})
"""Failures of which one costs a batch enough."""

NOT_MEASURED = "not asked: an input before it was not answered"

KILLED = "killed by SIGKILL"
"""The message of a death begins with this that the system may have brought about, short of memory
for all."""

PROGRAM_KILLED = "the program was killed by SIGKILL"
"""The message begins with this where such a death met a program that the worker runs."""

KILLED_WITH_KEEPER = "killed together with the process that the harness keeps it by"
"""The message begins with this where such a death met the keeper, which an implementation may have
killed, too."""

FAULT = "no process can be run for it here"
"""The message of a failure begins with this that is no implementation's fault: the machine gives no
further process."""

IN_DOUBT = (KILLED, PROGRAM_KILLED, KILLED_WITH_KEEPER, FAULT)


def doubtful(failure: Failed) -> bool:
    """Whether a failure may be the machine's doing, so that it has to come back to count."""
    return failure.status in SLOW_DEATHS or failure.message.startswith(IN_DOUBT)


def faulty(failure: Failed) -> bool:
    """Whether a failure is the machine's in any case, however often it comes back."""
    return failure.message.startswith(FAULT)


def load_in_doubt(loaded: Loaded) -> bool:
    """Whether a failure to load that was answered may be the machine's doing."""
    if loaded.error is None:
        return False
    lacking = loaded.kind == Status.OUT_OF_MEMORY.label
    return lacking or loaded.error.startswith((*IN_DOUBT, MemoryError.__name__))


def rows_in_doubt(results: Results) -> list[int]:
    """The rows of an answer whose failures may be the machine's doing."""
    failed = np.flatnonzero(results.status > Status.UNSUPPORTED).tolist()
    outcomes = ((row, results.outcome(row)) for row in failed)
    return [row for row, one in outcomes if isinstance(one, Failed) and doubtful(one)]


def size_of(request: Asking) -> int:
    """The bytes of what a request asks about."""
    return request.ids.nbytes if isinstance(request, Decode) else len(request.inputs.data)


def data_of(request: Asking) -> bytes:
    """The input of a request for one encoding; empty for any other."""
    return request.inputs.data if isinstance(request, Encode) else b""


def row_of(request: Asking, index: int) -> Asking:
    """The same request for one of its inputs."""
    if isinstance(request, Decode):
        start = int(request.ends[index - 1]) if index else 0
        ids = request.ids[start : int(request.ends[index])]
        return replace(request, ids=ids, ends=np.array([len(ids)], dtype=np.int64))
    if isinstance(request, Measure):
        return request
    inputs = Inputs.of([request.inputs[index]])
    if isinstance(request, Serve):
        return replace(request, inputs=inputs, numbers=(request.numbers[index],))
    return replace(request, inputs=inputs)


def parts(inputs: Sequence[bytes], most: int) -> Iterator[list[bytes]]:
    """The inputs in runs of at most ``most`` bytes together, or of a single longer one."""
    part: list[bytes] = []
    size = 0
    for data in inputs:
        if part and size + len(data) > most:
            yield part
            part, size = [], 0
        part.append(data)
        size += len(data)
    if part:
        yield part


def first_line(message: str) -> str:
    """The first line of a message, for one-line errors."""
    return message.split("\n", 1)[0]


def rows(results: Results) -> list[Outcome]:
    """All outcomes of a batch."""
    return [results.outcome(index) for index in range(len(results))]


def failed_at(index: int, failure: Failed, count: int) -> Results:
    """The outcomes of a measurement that ended at one input: those before it were answered.

    index: -1 where it is not known. Nothing of what was measured is left, so that there are no ids.
    """
    place = max(index, 0)
    rest: list[Outcome] = [Unsupported(NOT_MEASURED)] * (count - place - 1)
    return Results.of([*[Encoded(())] * place, failure, *rest])
