"""What a request asks about, and what its outcomes say of it: pure functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from harness.core.messages import Decode, Encode, Measure, Serve
from harness.core.outcomes import Encoded, Failed, Outcome, Results, Status, Unsupported

if TYPE_CHECKING:
    from harness.core.messages import Loaded

T = TypeVar("T")

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


def load_in_doubt(loaded: Loaded) -> bool:
    """Whether a failure to load that was answered may be the machine's doing."""
    lacking = loaded.kind == Status.OUT_OF_MEMORY.label
    return lacking or (loaded.error or "").startswith((*IN_DOUBT, MemoryError.__name__))


def failures_in_doubt(results: Results) -> dict[int, Failed]:
    """The failures in an answer, by row, that may be the machine's doing."""
    failed = np.flatnonzero(results.status > Status.UNSUPPORTED).tolist()
    outcomes = {row: results.outcome(row) for row in failed}
    return {row: one for row, one in outcomes.items() if isinstance(one, Failed) and doubtful(one)}


def size_of(request: Asking) -> int:
    """The bytes of what a request asks about."""
    return request.ids.nbytes if isinstance(request, Decode) else len(request.inputs.data)


def whole(request: Asking) -> bool:
    """Whether a request cannot be asked in parts: what is measured is measured together."""
    if isinstance(request, Decode):
        return request.timed
    return isinstance(request, Measure) or (isinstance(request, Encode) and bool(request.meter))


def row_of(request: Asking, row: int) -> Asking:
    """The request for one row and no other, which needs no threads."""
    if isinstance(request, Decode):
        start, end = [0, *request.ends.tolist()][row : row + 2]
        return replace(
            request, ids=request.ids[start:end], ends=request.ends[row : row + 1] - start
        )
    inputs = request.inputs.part(row, row + 1)
    if isinstance(request, Serve):
        return replace(request, inputs=inputs, given=request.given[row : row + 1])
    return (
        replace(request, inputs=inputs, threads=False) if isinstance(request, Encode) else request
    )


def failed_at(index: int, failure: Failed, count: int) -> Results:
    """The outcomes of a measurement that ended at one input: those before it were answered.

    index: -1 where it is not known. Nothing of what was measured is left, so that there are no ids.
    """
    place = max(index, 0)
    rest: list[Outcome] = [Unsupported(NOT_MEASURED)] * (count - place - 1)
    return Results.of([*[Encoded(())] * place, failure, *rest])


def taken(noted: list[T]) -> list[T]:
    """What was noted so far, and is forgotten with that; others may note on meanwhile."""
    found = noted[:]
    del noted[: len(found)]
    return found


def first_line(message: str) -> str:
    """The first line of a message, for one-line errors."""
    return message.split("\n", 1)[0]


def rows(results: Results) -> list[Outcome]:
    """All outcomes of a batch."""
    return list(results)
