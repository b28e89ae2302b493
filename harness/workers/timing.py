"""The clock inside a worker: a measurement of the fastest form of encoding that there is."""

from __future__ import annotations

import contextlib
import gc
import math
import time
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from harness.core.outcomes import Results, Spent
from impls.interface import Counts, EncodesBatches, Prepares, PreparesCount, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.core.messages import Measure
    from impls.interface import Encoder, Mode


@runtime_checkable
class Timed(Protocol):
    """An encoder that works in another process, where the clock of this one does not reach.

    nanoseconds: what its last call took, as the other process says: finer than any clock, as the
    protocol is left out, but only its word. Whoever judges by it looks at the clock, too.
    """

    nanoseconds: int

    def processor_time(self) -> int:
        """Nanoseconds of CPU time that the other process has taken, by the kernel's count."""
        ...


def measured(encoder: Encoder, request: Measure) -> Results:
    """The times that a request asks for, and the ids; raises what the encoder raises."""
    prepare = counting_call if request.counting else encoding_call
    calls = [prepare(encoder, data, request.mode) for data in request.inputs]
    with undisturbed():
        for _ in range(request.warm_up):
            passes(encoder, calls, 1)
        spent, answers = passes(encoder, calls, 1)
        # The first pass is the slowest, so that more may be needed than it foretells.
        while spent.cpu * spent.passes < request.least / 2:
            spent, _ = passes(encoder, calls, math.ceil(request.least / max(spent.cpu, 1)))
    found = [as_ids(answer) for answer in answers] if request.ids else []
    ids = np.concatenate(found) if found else np.empty(0, dtype=np.int32)
    status, ends = np.zeros(1, dtype=np.uint8), np.array([len(ids)], dtype=np.int64)
    return Results(status, ids, ends, timed=spent)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """No collection of garbage inside: it would fall on whoever is measured just then.

    Nor does the one before it visit what was there already, a library's modules and a vocabulary's
    tables. It would drive out of the processor's caches what the encoder had there, the more the
    more modules a library has, and so measure these.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def passes(
    encoder: Encoder, calls: Sequence[Callable[[], object]], count: int
) -> tuple[Spent, list[object]]:
    """Make all calls ``count`` times between two looks at the clocks; with the last answers.

    CPU time is that of the process and not of this thread: a library may hand the work to threads
    of its own. What is done in another process is told by the encoder, and counted besides.
    """
    answers: list[object] = []
    elsewhere = encoder if isinstance(encoder, Timed) else None
    measured = 0
    theirs = elsewhere.processor_time() if elsewhere is not None else 0
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(count):
        # The answers before go now: a library gives its memory back as a part of its work.
        answers = []
        for call in calls:
            answers.append(call())
            if elsewhere is not None:
                measured += elsewhere.nanoseconds
    cpu = time.process_time_ns() - cpu
    wall = time.perf_counter_ns() - wall
    if elsewhere is None:
        return Spent(cpu // count, wall // count, count), answers
    counted = cpu + max(0, elsewhere.processor_time() - theirs)
    return Spent(measured // count, wall // count, count, counted // count), answers


def as_ids(answer: object) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """An answer as an array; the number that is a count's is an array of one.

    Raises TypeError for what is no sequence of integers that fit 32 bits.
    """
    found = np.atleast_1d(np.asarray(answer))
    if len(found) == 0:
        return np.empty(0, dtype=np.int32)
    if found.ndim != 1 or found.dtype.kind not in "iu" or int(found.max()) >= 2**31:
        message = f"gave {found.dtype} of {found.ndim} dimensions, not token ids"
        raise TypeError(message)
    return found.astype(np.int32)


def encoding_call(encoder: Encoder, data: bytes, mode: Mode) -> Callable[[], object]:
    """The fastest way to the ids of ``data``."""
    if isinstance(encoder, Prepares):
        return encoder.prepare(data, mode)
    if isinstance(encoder, EncodesBatches):
        batches, ends = encoder, np.array([len(data)], dtype=np.int64)
        return lambda: batches.encode_batch(data, ends, mode)[0]
    return lambda: encoder.encode(data, mode)


def counting_call(encoder: Encoder, data: bytes, mode: Mode) -> Callable[[], object]:
    """The fastest way to the number of ids of ``data``. Raises Unsupported where there is none."""
    if isinstance(encoder, PreparesCount):
        return encoder.prepare_count(data, mode)
    if isinstance(encoder, Counts):
        counts = encoder
        return lambda: counts.count(data, mode)
    raise Unsupported("does not count")
