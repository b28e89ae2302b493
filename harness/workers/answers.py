"""What an encoder answers, or raises, as an outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from harness.core.messages import PAST_THE_LIMIT, Serve
from harness.core.outcomes import Encoded, Failed, Outcome, Status
from harness.core.outcomes import Rejected as RejectedOutcome
from harness.core.outcomes import Unsupported as UnsupportedOutcome
from harness.workers.healing import healed
from harness.workers.tracebacks import Tracebacks
from impls.interface import (
    Appends,
    Capability,
    Counts,
    CountsIntervals,
    CountsTillLimit,
    Decodes,
    Died,
    Encoder,
    EncodesMany,
    GivesOffsets,
    Heals,
    Mode,
    Prepends,
    Rejected,
    Splits,
    Unsupported,
)

T = TypeVar("T")

INT32 = range(-(2**31), 2**31)

TRACEBACKS = Tracebacks()


def told(error: BaseException) -> Outcome:
    """What an encoder has raised, as an outcome.

    KeyboardInterrupt never comes from an encoder here, as workers ignore SIGINT.
    """
    if isinstance(error, Rejected):
        return RejectedOutcome(str(error))
    if isinstance(error, Unsupported):
        return UnsupportedOutcome(str(error))
    if isinstance(error, Died):
        return Failed(Status.of(error.kind), f"{error}\n{error.log}".rstrip())
    if isinstance(error, MemoryError):
        return Failed(Status.OUT_OF_MEMORY, f"MemoryError {error}".rstrip())
    if isinstance(error, Exception):
        return Failed(Status.ERRORED, TRACEBACKS.message(error, line_of(error)))
    # A Rust panic arrives as pyo3_runtime.PanicException, a BaseException: the library lost its
    # footing, even though the process lives on.
    line = f"{type(error).__module__}.{line_of(error)}"
    return Failed(Status.CRASHED, TRACEBACKS.message(error, line))


def outcome_of(call: Callable[[], Outcome]) -> Outcome:
    """Run ``call``; whatever it raises becomes an outcome."""
    try:
        return call()
    except BaseException as error:
        return told(error)


def clean_ids(ids: Sequence[int]) -> tuple[int, ...]:
    """The ids as ints; TypeError if any is none (a float, a string, a bool)."""
    cleaned = tuple(ids)
    for token_id in cleaned:
        if type(token_id) is not int:
            if isinstance(token_id, np.integer):
                return clean_ids([int(i) for i in cleaned])
            message = f"token id {token_id!r} is a {type(token_id).__name__}, not an integer"
            raise TypeError(message)
        if token_id not in INT32:
            message = f"token id {token_id} does not fit 32 bits"
            raise ValueError(message)
    return cleaned


def line_of(error: BaseException) -> str:
    """An error as Python's tracebacks end with it."""
    return f"{type(error).__name__}: {error}"


def plain_ids(flat: list[int]) -> np.ndarray[Any, np.dtype[np.int32]] | None:
    """The ids as int32, or None if any of them is not a small integer."""
    try:
        table = np.array(flat, dtype=None if flat else np.int32)
    except (ValueError, OverflowError):
        return None
    if table.dtype.kind not in "iu" or table.ndim != 1:
        return None
    if len(table) and (table.min() < INT32.start or table.max() >= INT32.stop):
        return None
    # A list of ints and bools becomes an int array, so bools need a look of their own.
    if len(table) and table.max() <= 1 and any(type(i) is bool for i in flat):
        return None
    return table.astype(np.int32)


def encoded(encoder: Encoder, data: bytes, mode: Mode) -> Outcome:
    """The outcome of ``encode``."""
    return Encoded(clean_ids(encoder.encode(data, mode)))


def one_of_several(answer: Sequence[int] | Exception) -> Outcome:
    """The outcome of one input of several; an exception is what would have been raised for it."""
    if isinstance(answer, Exception):
        return told(answer)
    return outcome_of(lambda: Encoded(clean_ids(answer)))


def many(encoder: EncodesMany, inputs: Sequence[bytes], mode: Mode) -> list[Outcome]:
    """The outcomes of one call for all inputs; if it fails, it fails for all."""
    try:
        answers = expected_length(encoder.encode_many(inputs, mode), len(inputs))
        return [Encoded(clean_ids(ids)) for ids in answers]
    except BaseException as error:
        return [told(error)] * len(inputs)


def decoder_of(encoder: Encoder) -> Callable[[list[int]], Outcome]:
    """What gives the outcome of ``decode``; a claim without the method is an error of its own.

    What an encoder can do is looked up once: that takes ten times as long as a call.
    """
    decode = encoder.decode if isinstance(encoder, Decodes) else None

    def decoded(ids: list[int]) -> Outcome:
        if decode is None:
            message = "claims the capability 'decode' but has no method decode"
            raise TypeError(message)
        text = decode(ids)
        if not isinstance(text, bytes):
            message = f"decode returned a {type(text).__name__}, not bytes"
            raise TypeError(message)
        return Encoded(tuple(ids), text=text)

    return decoded


def located(encoder: Encoder, data: bytes, mode: Mode) -> Outcome:
    """The outcome of ``encode_with_offsets``."""
    if not isinstance(encoder, GivesOffsets):
        message = "claims the capability 'offsets' but has no method encode_with_offsets"
        raise TypeError(message)
    ids, spans = encoder.encode_with_offsets(data, mode)
    if len(ids) != len(spans):
        message = f"{len(ids)} ids but {len(spans)} offsets"
        raise ValueError(message)
    return Encoded(clean_ids(ids), offsets=tuple((int(a), int(b)) for a, b in spans))


def served(encoder: Encoder, request: Serve, data: bytes, numbers: tuple[int, ...]) -> Outcome:
    """The outcome of a service, its numbers as ids; see :class:`harness.core.messages.Serve`."""
    service, mode = request.service, request.mode
    answer: Sequence[int]
    if service is Capability.HEAL and isinstance(encoder, Heals):
        ids, leftover = healed(encoder, data, numbers, mode)
        return Encoded(clean_ids(ids), text=leftover)
    if service is Capability.COUNT and isinstance(encoder, Counts):
        answer = [encoder.count(data, mode)]
    elif service is Capability.COUNT_TILL_LIMIT and isinstance(encoder, CountsTillLimit):
        counted = encoder.count_till_limit(data, numbers[0], mode)
        if counted is None:
            return Encoded((PAST_THE_LIMIT,))
        answer = [counted]
    elif service is Capability.SPLIT and isinstance(encoder, Splits):
        answer = encoder.split(data, numbers[0], mode)
    elif service is Capability.APPEND and isinstance(encoder, Appends):
        bounds = (0, *numbers)
        chunks = [data[start:end] for start, end in pairwise(bounds)]
        answer = expected_length(encoder.append(chunks, mode), len(chunks))
    elif service is Capability.PREPEND and isinstance(encoder, Prepends):
        bounds = (len(data), *numbers)
        chunks = [data[start:end] for end, start in pairwise(bounds)]
        answer = expected_length(encoder.prepend(chunks, mode), len(chunks))
    elif service is Capability.INTERVAL and isinstance(encoder, CountsIntervals):
        ranges = list(zip(numbers[::2], numbers[1::2], strict=True))
        answer = expected_length(encoder.interval(data, ranges, mode), len(ranges))
    else:
        message = f"claims the capability '{service}' but has no method {service}"
        raise TypeError(message)
    found = clean_ids(answer)
    if min(found, default=0) < 0:
        message = f"{service} gave {min(found)}, less than none"
        raise ValueError(message)
    return Encoded(found)


def expected_length(answer: Sequence[T], length: int) -> Sequence[T]:
    """The answer; ValueError if it has not as many members as it was asked for."""
    if len(answer) != length:
        message = f"{len(answer)} answers for {length} asked for"
        raise ValueError(message)
    return answer
