"""The inside of a worker process: loads implementations and answers the harness's requests.

Started by :mod:`harness.confinement.start`, when the process is confined.

Whatever an encoder raises, including the
``BaseException`` of a Rust panic, becomes an outcome of the one input; what kills this process is
told apart by the harness, which finds in the progress cell the index of the input at work.
"""

from __future__ import annotations

import gc
import pickle
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from harness.confinement.plan import HINT, OFF, Held, refused
from harness.core.excused import TOGETHER
from harness.core.messages import (
    Decode,
    Encode,
    Load,
    Loaded,
    Measure,
    Meter,
    Open,
    Request,
    Serve,
    Way,
)
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status
from harness.workers import compilation, meters
from harness.workers.answers import (
    TRACEBACKS,
    Questions,
    clean_ids,
    expected_length,
    method,
    outcome_of,
    plain_ids,
    questions_of,
    told,
)
from harness.workers.calls import is_batch
from harness.workers.cell import Progress
from harness.workers.inside import serve
from harness.workers.openings import opened
from harness.workers.requests import rows
from harness.workers.stopwatch import measured, undisturbed
from impls import registry
from impls.external import ExternalEncoder
from impls.external_times import Timed
from impls.interface import (
    Died,
    Encoder,
    EncodesBatches,
    Implementation,
    Mode,
    Unsupported,
    WarmsUp,
)

T = TypeVar("T")

THREADS = 4

DEATHS = 2
"""After so many deaths of a program the rest of a batch is not asked: each costs a new start, and
the batch has a time limit."""

ENOUGH = Unsupported("not asked: the program died too often in this batch")

SELDOM = (20_000, 20, 50)
"""Python's thresholds for collecting garbage while a vocabulary is loaded. By its own, a fifth of
the time goes into visiting again and again what is being built."""


class Server:
    """Answers requests with one loaded encoder.

    held: what confines this process. find: an implementation by its name.
    """

    def __init__(
        self,
        progress: Progress,
        held: Held = OFF,
        find: Callable[[str], Implementation] = registry.resolve,
    ) -> None:
        self._progress = progress
        self._held, self._find = held, find
        self._encoder: Encoder | None = None
        self._others: dict[Way, Encoder] = {}
        self._gives_batches = False

    def answer(self, request: Request) -> Loaded | Results:
        """One response a request."""
        self._progress.set(-1)
        TRACEBACKS.begin()
        if isinstance(request, Load):
            loaded = self._load(request)
            return replace(loaded, error=loaded.error and self._hinted(loaded.error))
        try:
            results = self._results(request)
        except BaseException as error:
            results = Results.of([told(error)] * len(request))
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

    @property
    def encoder(self) -> Encoder:
        """The encoder that is loaded."""
        assert self._encoder is not None, "no vocabulary is loaded"
        return self._encoder

    def close(self) -> None:
        """End the program behind the encoder, if there is one."""
        if isinstance(self._encoder, ExternalEncoder):
            self._encoder.close()

    def _load(self, request: Load) -> Loaded:
        self.close()
        self._gives_batches = False
        self._encoder, self._others = None, {}  # the old vocabulary's memory goes first
        gc.unfreeze()  # what a measurement left out is visited again
        usual = gc.get_threshold()
        gc.set_threshold(*SELDOM)
        try:
            implementation = self._find(request.spec)
            vocabulary = pickle.loads(request.packed)
            before = time.process_time_ns()
            self._encoder = implementation.load(vocabulary)
            spent = time.process_time_ns() - before
            if isinstance(self._encoder, WarmsUp):
                self._encoder.warm_up(request.modes)
        except BaseException as error:
            outcome = told(error)
            # A vocabulary is no input that can be rejected.
            kind = Status.ERRORED if outcome.status is Status.REJECTED else outcome.status
            said = getattr(outcome, "message", "")
            return Loaded(said or "it does not run this vocabulary", kind.label)
        finally:
            gc.set_threshold(*usual)
            compilation.watch(self._progress)
        if not isinstance(self._encoder, Encoder):
            name = type(self._encoder).__name__
            return Loaded(f"load() returned a {name} without an encode method", "protocol")
        if isinstance(self._encoder, Timed):
            spent = self._encoder.processor_time()  # what this process did for it is the harness's
        return Loaded(spent=spent)

    def _results(self, request: Encode | Decode | Serve | Measure | Open) -> Results:
        """The answer to a request; raises what makes one for all its inputs."""
        if isinstance(request, Open):
            return opened(request)
        encoder = self.encoder
        if isinstance(request, Measure):
            return measured(encoder, request)
        if isinstance(request, Encode):
            if request.way is Way.MANY:
                return asked_for_many(encoder, request)
            if request.way is not None:
                encoder = self._another(request.way, encoder)
            if not (request.shape or request.threads or request.offsets or request.meter):
                if request.way is None and isinstance(encoder, EncodesBatches):
                    return self._together(request.inputs, request.mode, encoder)
                return self._plain(request.inputs, request.mode, encoder)
        asked = questions_of(encoder, request)
        if isinstance(request, Decode) and request.timed:
            return self._metered(asked, 1, meters.processor_time, encoder)
        if isinstance(request, Encode) and request.meter is not None:
            results = self._metered(asked, *METERS[request.meter], encoder)
            if request.meter is Meter.HELD and results.costs is not None:
                results.costs[-1:] = meters.held(encoder)
            return results
        if isinstance(request, Encode) and request.threads:
            with ThreadPoolExecutor(THREADS) as pool:
                once = lambda data: outcome_of(lambda: asked.answered(data))  # noqa: E731
                return Results.of(list(pool.map(once, asked.each)))
        return self._each(asked.each, asked.answered)

    def _another(self, way: Way, encoder: Encoder) -> Encoder:
        """The encoder that is another way to the ids of one."""
        if way is Way.SINGLY:
            method(encoder, "encode_batch")  # or it is asked so anyway
            return encoder
        if way is Way.STR:
            return AsText(encoder)
        if way is Way.MIXED:
            return AmongOthers(encoder)
        if way not in self._others:
            made = method(encoder, way)()
            if made is None:
                raise Unsupported(f"no other way: {way}")
            self._others[way] = made
        return self._others[way]

    def _together(self, inputs: Inputs, mode: Mode, encoder: Any) -> Results:
        """All inputs in one call. Where that fails, input by input tells which of them it was.

        A failure that none of them explains happened all the same: it is told of the first one.
        """
        try:
            if isinstance(encoder, ExternalEncoder):
                each = encoder.encode_each(list(inputs), mode)
                return Results.of(list(map(one_of_several, each)))
            ids, ends = encoder.encode_batch(inputs.data, inputs.ends, mode)
            if not is_batch(ids, ends, len(inputs)):
                message = "encode_batch gave no int32 ids with an int64 end for each of"
                raise TypeError(f"{message} {len(inputs)} inputs")
            self._gives_batches = True
            return Results.all_encoded(ids, ends)
        except BaseException as error:
            failure = told(error)
        results = self._plain(inputs, mode, encoder)
        # Whether an input shows by itself why all of them together failed. A plug-in may raise
        # anything for a batch in which one input is none to encode, and one that has never given a
        # batch may have a method of that name for something else.
        if isinstance(encoder, ExternalEncoder):
            explained = failure.status in results.status
        else:
            explained = not self._gives_batches or bool(results.status.any())
        if explained or not (isinstance(failure, Failed) and len(results)):
            return results
        first = Failed(failure.status, f"{failure.message}\n{TOGETHER}")
        return Results.of([first, *rows(results)[1:]])

    def _plain(self, inputs: Inputs, mode: Mode, encoder: Encoder) -> Results:
        """The hot loop: nothing but the call, unless something is out of the ordinary."""
        encode, progress = encoder.encode, self._progress.set
        flat: list[int] = []
        ends: list[int] = []
        troubles: dict[int, Outcome] = {}
        deaths = 0
        for index, data in enumerate(inputs):
            progress(index)
            try:
                if deaths == DEATHS:
                    raise ENOUGH
                flat.extend(encode(data, mode))
            except BaseException as error:
                del flat[ends[-1] if ends else 0 :]
                deaths += isinstance(error, Died)
                troubles[index] = told(error)
            ends.append(len(flat))
        ids = plain_ids(flat)
        if ids is None:
            asked = questions_of(encoder, Encode(inputs, mode))
            return self._each(asked.each, asked.answered)
        results = Results.all_encoded(ids, np.array(ends, dtype=np.int64))
        for index, outcome in troubles.items():
            results.status[index] = outcome.status
            results.messages[index] = getattr(outcome, "message", "")
        return results

    def _each(self, asked: Iterable[T], call: Callable[[T], Outcome]) -> Results:
        outcomes: list[Outcome] = []
        deaths = 0
        for index, one in enumerate(asked):
            self._progress.set(index)
            try:
                if deaths == DEATHS:
                    raise ENOUGH
                outcomes.append(call(one))
            except BaseException as error:
                deaths += isinstance(error, Died)
                outcomes.append(told(error))
        return Results.of(outcomes)

    def _metered(
        self, asked: Questions, width: int, meter: MeterOfCalls, encoder: Encoder
    ) -> Results:
        """As :meth:`_each`, the answers thrown away, with what each call cost in ``costs``.

        A call without an answer cost nothing, in as many numbers.
        """
        costs = np.zeros((len(asked.each), width), dtype=np.int64)

        def forgotten(place: int) -> Outcome:
            costs[place] = meter(encoder, partial(asked.call, asked.each[place]))
            return Encoded(())

        with undisturbed():
            results = self._each(range(len(costs)), forgotten)
        return replace(results, costs=costs)


class AsText:
    """An encoder that is given ``str``."""

    def __init__(self, encoder: Encoder) -> None:
        self._encode = method(encoder, "encode_str")

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids of an input that is UTF-8, but for the surrogates that it has."""
        ids: Sequence[int] = self._encode(data.decode("utf-8", "surrogatepass"), mode)
        return ids


class AmongOthers:
    """An encoder that is asked for other things before each text, as far as it has them.

    What these give, or raise, is for other checks. Their order depends on the text.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids, after the other calls."""
        calls: list[tuple[str, tuple[Any, ...]]] = [
            ("padded", ([data, data + data, b""], 8, True, mode)),
            ("encode", (data, replace(mode, special="none"))),
            ("truncated", (data, 3, 0, False, mode)),
            *(("encode", (text, mode)) for text in (data.strip(), data.swapcase(), data + b" ")),
            ("encode_with_offsets", (data, mode)),
        ]
        first = zlib.crc32(data) % len(calls)
        for name, given in calls[first:] + calls[:first]:
            ask = getattr(self._encoder, name, None)
            if ask is not None:
                outcome_of(partial(ask, *given))
        return self._encoder.encode(data, mode)


def asked_for_many(encoder: Encoder, request: Encode) -> Results:
    """All inputs by the library's own call for many."""
    answers = method(encoder, "encode_many")(list(request.inputs), request.mode)
    every = expected_length(answers, len(request))
    return Results.of([Encoded(clean_ids(ids)) for ids in every])


def one_of_several(answer: Sequence[int] | Exception) -> Outcome:
    """The outcome of one input of several; an exception is what would have been raised for it."""
    if isinstance(answer, Exception):
        return told(answer)
    return outcome_of(lambda: Encoded(clean_ids(answer)))


def kept_for_the_end(encoder: Encoder, call: Callable[[], object]) -> tuple[int, int]:
    """Make a call, of which nothing is measured: what is held is looked at after the last one."""
    call()
    return 0, 0


MeterOfCalls = Callable[[Encoder, Callable[[], object]], int | tuple[int, ...]]

METERS: dict[Meter, tuple[int, MeterOfCalls]] = {
    Meter.TIME: (1, meters.nanoseconds),
    Meter.MEMORY: (3, meters.memory),
    Meter.STEPS: (1, lambda encoder, call: meters.steps(call)),
    Meter.LINES: (1 + meters.PLACES, lambda encoder, call: meters.lines(call)),
    Meter.HELD: (2, kept_for_the_end),
    Meter.CLAIM: (6, meters.claimed),
}
"""How many numbers the cost of a call has, and what measures it."""


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve until the harness closes the pipe."""

    def begin(progress: Progress) -> Callable[[Request, object], Loaded | Results]:
        compilation.watch(progress)
        server = Server(progress, held)
        return lambda request, beat: server.answer(request)

    serve(arguments, begin)
