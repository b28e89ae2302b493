"""The clock inside a worker: a measurement of the fastest form of encoding that there is."""

from __future__ import annotations

import contextlib
import gc
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.core.outcomes import Results, Spent
from harness.workers.calls import (
    as_ids,
    batch_call,
    characters_apart,
    counting_call,
    encoding_call,
    without_pipe,
)
from impls.external_times import Timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from harness.core.messages import Measure
    from impls.interface import Encoder

RUNNING_SECONDS = 0.03
"""Several threads have been working for so long when the clock starts. Kernels look at how the
processors are loaded every few milliseconds."""


def measured(encoder: Encoder, request: Measure) -> Results:
    """The times that a request asks for, and the ids; raises what the encoder raises."""
    with contextlib.ExitStack() as stack:
        executor = _threads(request.threads) if request.threads > 1 and request.shared else None
        calls = [_call(encoder, data, request, executor) for data in request.inputs]
        before = [_call(encoder, request.before, request, executor)] if request.before else []
        stack.enter_context(undisturbed())
        for _ in range(request.warm_up):
            passes(encoder, calls, 1)
        if before:
            running = time.monotonic() + RUNNING_SECONDS
            while time.monotonic() < running:
                passes(encoder, before, 1)
        spent, answers = passes(encoder, calls, 1)
        # The first pass is the slowest, so that more may be needed than it foretells.
        while spent.cpu * spent.passes < request.least / 2:
            spent, _ = passes(encoder, calls, math.ceil(request.least / max(spent.cpu, 1)))
    parts = chain.from_iterable(answers) if request.document else answers
    found = [as_ids(part) for part in parts] if request.ids else []
    ids = np.concatenate(found) if found else np.empty(0, dtype=np.int32)
    results = Results.all_encoded(ids, np.array([len(ids)], dtype=np.int64))
    return replace(results, timed=spent)


@cache
def _threads(count: int) -> Executor:
    """Threads besides this one, which stay, as those of a server do.

    Encoders may remember texts for each of them.
    """
    return ThreadPoolExecutor(count - 1)


def _call(
    encoder: Encoder, data: bytes, request: Measure, executor: Executor | None
) -> Callable[[], Any]:
    """What is timed of one input."""
    if request.document:
        texts = list(characters_apart(data, request.document))
        return batch_call(encoder, texts, request.mode, request.threads, executor)
    prepare = counting_call if request.counting else encoding_call
    return prepare(encoder, data, request.mode)


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
    encoder: Encoder, calls: Sequence[Callable[[], Any]], count: int
) -> tuple[Spent, list[Any]]:
    """Make all calls ``count`` times between two looks at the clocks; with the last answers.

    CPU time is that of the process and not of this thread: a library may hand the work to threads
    of its own. What is done in another process is told by the encoder, and counted besides.
    """
    answers: list[Any] = []
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
    measured = without_pipe(elsewhere, measured // count) if calls else 0
    return Spent(measured, wall // count, count, counted // count), answers
