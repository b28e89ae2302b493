"""The inside of a worker process: loads implementations and answers the harness's requests.

Started by :mod:`harness.confinement.start`, when the process is confined, with REQUESTS RESPONSES
PROGRESS MEMORY (three file descriptors, and bytes). Whatever an encoder raises, including the
``BaseException`` of a Rust panic, becomes an outcome of the one input; what kills this process is
told apart by the harness, which finds in the progress cell the index of the input at work.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from harness.confinement.plan import HINT, OFF, Held, refused
from harness.core.messages import (
    PAST_THE_LIMIT,
    Decode,
    Encode,
    Load,
    Loaded,
    Measure,
    Meter,
    Open,
    Progress,
    Request,
    Serve,
    Way,
)
from harness.core.outcomes import Encoded, Failed, Outcome, Results, Status
from harness.core.outcomes import Rejected as RejectedOutcome
from harness.core.outcomes import Unsupported as UnsupportedOutcome
from harness.workers import collecting, compiling, instructions, meters, wire
from harness.workers.calls import is_batch
from harness.workers.healing import healed
from harness.workers.opening import opened
from harness.workers.otherwise import otherwise
from harness.workers.shapes import cleaned_up, shaped, skipped, streamed
from harness.workers.timing import measured, undisturbed
from harness.workers.tracebacks import Tracebacks, frames
from impls import registry
from impls.external import ExternalEncoder, die_with_parent
from impls.interface import (
    Appends,
    Capability,
    Counts,
    CountsIntervals,
    CountsTillLimit,
    Decodes,
    Died,
    Encoder,
    EncodesBatches,
    EncodesMany,
    EncodesStr,
    GivesOffsets,
    Heals,
    Mode,
    Prepends,
    Rejected,
    Splits,
    Unsupported,
    WarmsUp,
)

T = TypeVar("T")

INT32 = range(-(2**31), 2**31)
THREADS = 4

DEATHS = 2
"""After so many deaths of a program the rest of a batch is not asked: each costs a new start, and
the batch has a time limit."""

TRACEBACKS = Tracebacks()

ENOUGH = Unsupported("not asked: the program died too often in this batch")


def outcome_of(call: Callable[[], Outcome]) -> Outcome:
    """Run ``call``; whatever it raises becomes an outcome.

    KeyboardInterrupt never comes from an encoder here, as workers ignore SIGINT.
    """
    try:
        return call()
    except Rejected as error:
        return RejectedOutcome(str(error))
    except Unsupported as error:
        return UnsupportedOutcome(str(error))
    except Died as error:
        message = f"{error}\n{error.log}".rstrip()
        return Failed(Status.of(error.kind), message)
    except MemoryError as error:
        return Failed(Status.OUT_OF_MEMORY, f"MemoryError {error}".rstrip())
    except Exception as error:
        return Failed(Status.ERRORED, TRACEBACKS.message(error, line_of(error)))
    except BaseException as error:
        # A Rust panic arrives as pyo3_runtime.PanicException, a BaseException: the library lost
        # its footing, even though the process lives on.
        line = f"{type(error).__module__}.{line_of(error)}"
        return Failed(Status.CRASHED, TRACEBACKS.message(error, line))


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


class Server:
    """Answers requests with one loaded encoder. held: what confines this process."""

    def __init__(self, progress: Progress, held: Held = OFF) -> None:
        self._progress = progress
        self._held = held
        self._encoder: Encoder | None = None
        self._others: dict[Way, Encoder] = {}

    def answer(self, request: Request) -> Loaded | Results:
        """One response a request."""
        self._progress.set(-1)
        TRACEBACKS.begin()
        if isinstance(request, Load):
            loaded = self._load(request)
            return replace(
                loaded,
                error=loaded.error and self._hinted(loaded.error),
                confined=self._held.to_json(),
            )
        if isinstance(request, Open):
            results = measured_of(lambda: opened(request))
        elif self._encoder is None:
            return Loaded("no vocabulary is loaded", "internal")
        else:
            results = self._results(request, self._encoder)
        results.messages.update(
            {row: self._hinted(text) for row, text in results.messages.items() if refused(text)}
        )
        return results

    def _hinted(self, message: str) -> str:
        """A failure's message, its first line with a word on confinement if that may be why."""
        if not (self._held.refuses and refused(message)):
            return message
        line, newline, rest = message.partition("\n")
        return f"{line} ({HINT}){newline}{rest}"

    def _results(self, request: Encode | Decode | Serve | Measure, encoder: Encoder) -> Results:
        if isinstance(request, Decode):
            return self._decode(request, encoder)
        if isinstance(request, Serve):
            return self._serve(request, encoder)
        if isinstance(request, Measure):
            return measured_of(lambda: measured(encoder, request))
        return self._encode(request, encoder)

    def _load(self, request: Load) -> Loaded:
        if isinstance(self._encoder, ExternalEncoder):
            self._encoder.close()
        self._encoder, self._others = None, {}  # the old vocabulary's memory goes first
        try:
            with collecting.seldom():
                implementation = registry.resolve(request.spec)
                vocabulary = pickle.loads(request.packed)
                self._encoder = implementation.load(vocabulary)
                if isinstance(self._encoder, WarmsUp):
                    self._encoder.warm_up(request.modes)
        except Died as error:
            return Loaded(f"{error}\n{error.log}".rstrip(), error.kind)
        except Unsupported as error:
            return Loaded(str(error) or "it does not run this vocabulary", "unsupported")
        except Exception as error:
            return Loaded(f"{line_of(error)}\n{frames(error)}".rstrip(), Status.ERRORED.label)
        except BaseException as error:  # a panic
            return Loaded(f"{line_of(error)}\n{frames(error)}".rstrip(), Status.CRASHED.label)
        finally:
            compiling.watch(self._progress)
        if not isinstance(self._encoder, Encoder):
            kind = type(self._encoder).__name__
            return Loaded(f"load() returned a {kind} without an encode method", "protocol")
        return Loaded()

    def _decode(self, request: Decode, encoder: Encoder) -> Results:
        ends: list[int] = request.ends.tolist()
        spans = zip([0, *ends], ends, strict=False)
        asked: list[list[int]] = [request.ids[start:end].tolist() for start, end in spans]
        if request.stream or request.skip or request.clean:
            other = streamed if request.stream else skipped if request.skip else cleaned_up
            return self._one_by_one(asked, lambda ids: Encoded(tuple(ids), other(encoder, ids)))
        return self._one_by_one(asked, lambda ids: decoded(encoder, ids))

    def _serve(self, request: Serve, encoder: Encoder) -> Results:
        numbers = iter(request.numbers)
        return self._one_by_one(
            request.inputs, lambda data: served(encoder, request, data, next(numbers))
        )

    def _encode(self, request: Encode, encoder: Encoder) -> Results:
        if request.way is not None:
            return self._by_way(request, encoder, request.way)
        if request.shape is not None:
            shape, mode = request.shape, request.mode
            return self._one_by_one(
                request.inputs, lambda data: Encoded(clean_ids(shaped(encoder, data, shape, mode)))
            )
        if request.threads:
            return self._in_threads(request, encoder)
        if request.offsets:
            return self._one_by_one(
                request.inputs, lambda data: located(encoder, data, request.mode)
            )
        if request.meter is not None:
            return self._metered(request, encoder, request.meter)
        if isinstance(encoder, EncodesBatches):
            inputs = request.inputs
            # Whatever goes wrong, input by input tells which one it was.
            with contextlib.suppress(BaseException):
                ids, ends = encoder.encode_batch(inputs.data, inputs.ends, request.mode)
                if is_batch(ids, ends, len(inputs)):
                    return Results.all_encoded(ids, ends)
        return self._plain(request, encoder)

    def _by_way(self, request: Encode, encoder: Encoder, way: Way) -> Results:
        inputs = list(request.inputs)
        if way is Way.SINGLY and isinstance(encoder, EncodesBatches):
            return self._plain(request, encoder)
        if way is Way.MANY and isinstance(encoder, EncodesMany):
            return Results.of(many(encoder, inputs, request.mode))
        if way is Way.STR and isinstance(encoder, EncodesStr):
            texts = [data.decode("utf-8", "surrogatepass") for data in inputs]
            return self._one_by_one(
                texts, lambda text: Encoded(clean_ids(encoder.encode_str(text, request.mode)))
            )
        if way not in self._others:
            outcome = outcome_of(lambda: self._open(encoder, way))
            if not isinstance(outcome, Encoded):
                return Results.of([outcome] * len(inputs))
        return self._plain(request, self._others[way])

    def _open(self, encoder: Encoder, way: Way) -> Encoded:
        self._others[way] = otherwise(encoder, way)
        return Encoded(())

    def _plain(self, request: Encode, encoder: Encoder) -> Results:
        """The hot loop: nothing but the call, unless something is out of the ordinary."""
        encode, mode, progress = encoder.encode, request.mode, self._progress.set
        flat: list[int] = []
        ends: list[int] = []
        troubles: dict[int, Outcome] = {}
        deaths = 0
        for index, data in enumerate(request.inputs):
            progress(index)
            try:
                if deaths == DEATHS:
                    raise ENOUGH
                flat.extend(encode(data, mode))
            except BaseException as error:
                del flat[ends[-1] if ends else 0 :]
                deaths += isinstance(error, Died)
                troubles[index] = outcome_of(lambda error=error: raise_(error))  # type: ignore[misc]
            ends.append(len(flat))
        ids = plain_ids(flat)
        if ids is None:
            return self._one_by_one(request.inputs, lambda data: encoded(encoder, data, mode))
        status = np.zeros(len(ends), dtype=np.uint8)
        messages: dict[int, str] = {}
        for index, outcome in troubles.items():
            status[index] = outcome.status
            messages[index] = getattr(outcome, "message", "")
        return Results(status, ids, np.array(ends, dtype=np.int64), messages)

    def _one_by_one(self, inputs: Iterable[T], call: Callable[[T], Outcome]) -> Results:
        outcomes: list[Outcome] = []
        deaths = 0

        def unless_dead(data: T) -> Outcome:
            nonlocal deaths
            if deaths == DEATHS:
                raise ENOUGH
            try:
                return call(data)
            except Died:
                deaths += 1
                raise

        for index, data in enumerate(inputs):
            self._progress.set(index)
            outcomes.append(outcome_of(lambda data=data: unless_dead(data)))  # type: ignore[misc]
        return Results.of(outcomes)

    def _in_threads(self, request: Encode, encoder: Encoder) -> Results:
        inputs = list(request.inputs)

        def run(data: bytes) -> Outcome:
            return outcome_of(lambda: encoded(encoder, data, request.mode))

        with ThreadPoolExecutor(THREADS) as pool:
            return Results.of(list(pool.map(run, inputs)))

    def _metered(self, request: Encode, encoder: Encoder, meter: Meter) -> Results:
        """As _one_by_one, with what each call cost; a call without an answer cost nothing."""
        outcomes: list[Outcome] = []
        costs: list[tuple[int, ...]] = []
        mode = request.mode
        with undisturbed():
            for index, data in enumerate(request.inputs):
                self._progress.set(index)
                spent = NOTHING[meter]

                def cost(data: bytes = data) -> Outcome:
                    nonlocal spent
                    spent = metered(encoder, data, mode, meter)
                    return Encoded(())

                outcomes.append(outcome_of(cost))
                costs.append(spent)
        return replace(Results.of(outcomes), costs=np.array(costs, dtype=np.int64))


def measured_of(measure: Callable[[], Results]) -> Results:
    """The results of a measurement, or the outcome of what it raises."""
    taken: list[Results] = []

    def take() -> Outcome:
        taken.append(measure())
        return Encoded(())

    outcome = outcome_of(take)
    return taken[0] if taken else Results.of([outcome])


NOTHING: dict[Meter, tuple[int, ...]] = {
    Meter.TIME: (0,),
    Meter.MEMORY: (0, 0),
    Meter.STEPS: (0,),
    Meter.INSTRUCTIONS: (0,),
    Meter.LINES: (0,) * (1 + meters.PLACES),
}
"""The cost of a call without an answer, in as many numbers as the cost of any other."""


def metered(encoder: Encoder, data: bytes, mode: Mode, meter: Meter) -> tuple[int, ...]:
    """Encode, throw the ids away, and give the cost; raises what the encoder raises."""

    def call() -> object:
        return encoder.encode(data, mode)

    if meter is Meter.MEMORY:
        return meters.memory(call)
    if meter is Meter.STEPS:
        return (meters.steps(call),)
    if meter is Meter.INSTRUCTIONS:
        return (instructions.counted(call),)
    if meter is Meter.LINES:
        return meters.lines(call)
    return (meters.nanoseconds(encoder, call),)


def line_of(error: BaseException) -> str:
    """An error as Python's tracebacks end with it."""
    return f"{type(error).__name__}: {error}"


def raise_(error: BaseException) -> Outcome:
    """Raise as an expression."""
    raise error


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


def many(encoder: EncodesMany, inputs: Sequence[bytes], mode: Mode) -> list[Outcome]:
    """The outcomes of one call for all inputs; if it fails, it fails for all."""
    found: list[Outcome] = []

    def ask() -> Outcome:
        answers = encoder.encode_many(inputs, mode)
        expected_length(answers, len(inputs))
        found.extend(Encoded(clean_ids(ids)) for ids in answers)
        return Encoded(())

    outcome = outcome_of(ask)
    return found if isinstance(outcome, Encoded) else [outcome] * len(inputs)


def decoded(encoder: Encoder, ids: list[int]) -> Outcome:
    """The outcome of ``decode``; a claim without the method is an error of its own."""
    if not isinstance(encoder, Decodes):
        message = "claims the capability 'decode' but has no method decode"
        raise TypeError(message)
    text = encoder.decode(ids)
    if not isinstance(text, bytes):
        message = f"decode returned a {type(text).__name__}, not bytes"
        raise TypeError(message)
    return Encoded(tuple(ids), text=text)


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


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve until the harness closes the pipe."""
    requests, responses, progress, memory = map(int, arguments)
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the harness's to handle
    faulthandler.enable()
    # Private writable memory, which is what a runaway allocation takes; mapped files are free.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # confined or not
    # What a library prints must not land among the harness's own output.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    watched = Progress(progress)
    compiling.watch(watched)
    server = Server(watched, held)
    with open(requests, "rb") as inlet, open(responses, "wb") as outlet:  # noqa: PTH123 (descriptors)
        while (asked := wire.read_request(inlet.read)) is not None:
            sequence, request = asked
            answer = server.answer(request)
            watched.set(-1)
            if isinstance(answer, Loaded):
                outlet.write(wire.packed_loaded(sequence, answer))
            else:
                outlet.write(wire.packed_results(sequence, answer))
            outlet.flush()
