"""The inside of a worker process: loads implementations and answers the harness's requests.

Started by :mod:`harness.confinement.start`, when the process is confined.

Whatever an encoder raises, including the
``BaseException`` of a Rust panic, becomes an outcome of the one input; what kills this process is
told apart by the harness, which finds in the progress cell the index of the input at work.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
from harness.core.outcomes import Encoded, Failed, Outcome, Results, Status
from harness.workers import collecting, compiling, meters
from harness.workers.answers import (
    TRACEBACKS,
    clean_ids,
    decoder_of,
    encoded,
    line_of,
    located,
    many,
    one_of_several,
    outcome_of,
    plain_ids,
    served,
    told,
)
from harness.workers.calls import is_batch
from harness.workers.cell import Progress
from harness.workers.opening import opened
from harness.workers.otherwise import otherwise
from harness.workers.requests import rows
from harness.workers.serving import serve
from harness.workers.shapes import cleaned_up, shaper_of, skipped, streamed
from harness.workers.timing import measured, undisturbed
from harness.workers.tracebacks import frames
from impls import registry
from impls.external import ExternalEncoder
from impls.external_timing import Timed
from impls.interface import (
    Died,
    Encoder,
    EncodesBatches,
    EncodesMany,
    EncodesStr,
    Unsupported,
    WarmsUp,
)

T = TypeVar("T")

THREADS = 4

DEATHS = 2
"""After so many deaths of a program the rest of a batch is not asked: each costs a new start, and
the batch has a time limit."""

ENOUGH = Unsupported("not asked: the program died too often in this batch")


class Server:
    """Answers requests with one loaded encoder. held: what confines this process."""

    def __init__(self, progress: Progress, held: Held = OFF) -> None:
        self._progress = progress
        self._held = held
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
        self._gives_batches = False
        self._encoder, self._others = None, {}  # the old vocabulary's memory goes first
        try:
            with collecting.seldom():
                implementation = registry.resolve(request.spec)
                vocabulary = pickle.loads(request.packed)
                before = time.process_time_ns()
                self._encoder = implementation.load(vocabulary)
                spent = time.process_time_ns() - before
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
        if isinstance(self._encoder, Timed):
            spent = self._encoder.processor_time()  # what this process did for it is the harness's
        return Loaded(spent=spent)

    def _decode(self, request: Decode, encoder: Encoder) -> Results:
        ends: list[int] = request.ends.tolist()
        spans = zip([0, *ends], ends, strict=False)
        asked: list[list[int]] = [request.ids[start:end].tolist() for start, end in spans]
        other = streamed if request.stream else skipped if request.skip else cleaned_up
        decoded = decoder_of(encoder)
        if request.timed:

            def call(ids: list[int]) -> object:
                return other(encoder, ids) if request.stream else decoded(ids)

            return self._metered(
                asked, 1, lambda ids: meters.processor_time(encoder, lambda: call(ids))
            )
        if request.stream or request.skip or request.clean:
            return self._one_by_one(asked, lambda ids: Encoded(tuple(ids), other(encoder, ids)))
        return self._one_by_one(asked, decoded)

    def _serve(self, request: Serve, encoder: Encoder) -> Results:
        numbers = iter(request.numbers)
        return self._one_by_one(
            request.inputs, lambda data: served(encoder, request, data, next(numbers))
        )

    def _encode(self, request: Encode, encoder: Encoder) -> Results:
        if request.way is not None:
            return self._by_way(request, encoder, request.way)
        if request.shape is not None:
            shaped = shaper_of(encoder, request.shape, request.mode)
            return self._one_by_one(request.inputs, lambda data: Encoded(clean_ids(shaped(data))))
        if request.threads:
            return self._in_threads(request, encoder)
        if request.offsets:
            return self._one_by_one(
                request.inputs, lambda data: located(encoder, data, request.mode)
            )
        if request.meter is Meter.HELD:
            return self._held_after(request, encoder)
        if request.meter is not None:
            (width, cost), inputs = METERS[request.meter], list(request.inputs)
            mode, encode = request.mode, encoder.encode
            return self._metered(
                inputs, width, lambda data: cost(encoder, lambda: encode(data, mode))
            )
        if isinstance(encoder, EncodesBatches):
            return self._together(request, encoder)
        return self._plain(request, encoder)

    def _together(self, request: Encode, encoder: Any) -> Results:
        """All inputs in one call. Where that fails, input by input tells which of them it was.

        A failure that none of them explains happened all the same: it is told of the first one.
        """
        try:
            return self._in_one_call(request, encoder)
        except BaseException as error:
            failure = told(error)
        results = self._plain(request, encoder)
        if not isinstance(failure, Failed) or self._explained(failure, results, encoder):
            return results
        first = Failed(failure.status, f"{failure.message}\n{TOGETHER}")
        return Results.of([first, *rows(results)[1:]])

    def _in_one_call(self, request: Encode, encoder: EncodesBatches) -> Results:
        inputs, mode = request.inputs, request.mode
        if isinstance(encoder, ExternalEncoder):
            each = encoder.encode_each(list(inputs), mode)
            return Results.of([one_of_several(ids) for ids in each])
        ids, ends = encoder.encode_batch(inputs.data, inputs.ends, mode)
        if not is_batch(ids, ends, len(inputs)):
            message = f"encode_batch gave no int32 ids with an int64 end for each of {len(inputs)}"
            raise TypeError(f"{message} inputs")
        self._gives_batches = True
        return Results.all_encoded(ids, ends)

    def _explained(self, failure: Failed, results: Results, encoder: EncodesBatches) -> bool:
        """Whether an input shows by itself why all of them together failed.

        A plug-in may raise anything for a batch in which one input is none to encode, and one that
        has never given a batch may have a method of that name for something else.
        """
        if not len(results):
            return True
        if isinstance(encoder, ExternalEncoder):
            return failure.status in results.status
        return not self._gives_batches or bool(results.status.any())

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
        try:
            if way not in self._others:
                self._others[way] = otherwise(encoder, way)
        except BaseException as error:
            return Results.of([told(error)] * len(inputs))
        return self._plain(request, self._others[way])

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
                troubles[index] = told(error)
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
        for index, data in enumerate(inputs):
            self._progress.set(index)
            try:
                if deaths == DEATHS:
                    raise ENOUGH
                outcomes.append(call(data))
            except BaseException as error:
                deaths += isinstance(error, Died)
                outcomes.append(told(error))
        return Results.of(outcomes)

    def _in_threads(self, request: Encode, encoder: Encoder) -> Results:
        inputs = list(request.inputs)

        def run(data: bytes) -> Outcome:
            return outcome_of(lambda: encoded(encoder, data, request.mode))

        with ThreadPoolExecutor(THREADS) as pool:
            return Results.of(list(pool.map(run, inputs)))

    def _held_after(self, request: Encode, encoder: Encoder) -> Results:
        """As _one_by_one, the ids thrown away; the last input's costs are what is held then."""
        mode = request.mode

        def forgotten(data: bytes) -> Outcome:
            encoder.encode(data, mode)
            return Encoded(())

        results = self._one_by_one(request.inputs, forgotten)
        costs = np.zeros((len(results), 2), dtype=np.int64)
        if len(costs):
            costs[-1] = meters.held(encoder)
        return replace(results, costs=costs)

    def _metered(self, asked: Sequence[T], width: int, cost: Callable[[T], Costs]) -> Results:
        """As _one_by_one, the answers thrown away, with what each call cost in ``costs``.

        A call without an answer cost nothing, in as many numbers.
        """
        costs = np.zeros((len(asked), width), dtype=np.int64)

        def forgotten(place: int) -> Outcome:
            costs[place] = cost(asked[place])
            return Encoded(())

        with undisturbed():
            results = self._one_by_one(range(len(asked)), forgotten)
        return replace(results, costs=costs)


def measured_of(measure: Callable[[], Results]) -> Results:
    """The results of a measurement, or the outcome of what it raises."""
    try:
        return measure()
    except BaseException as error:
        return Results.of([told(error)])


Costs = int | tuple[int, ...]

METERS: dict[Meter, tuple[int, Callable[[Encoder, Callable[[], object]], Costs]]] = {
    Meter.TIME: (1, meters.nanoseconds),
    Meter.MEMORY: (3, meters.memory),
    Meter.STEPS: (1, lambda encoder, call: meters.steps(call)),
    Meter.LINES: (1 + meters.PLACES, lambda encoder, call: meters.lines(call)),
    Meter.CLAIM: (6, meters.claimed),
}
"""How many numbers the cost of a call has, and what measures it."""


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve until the harness closes the pipe."""

    def begin(progress: Progress) -> Callable[[Request, object], Loaded | Results]:
        compiling.watch(progress)
        server = Server(progress, held)
        return lambda request, beat: server.answer(request)

    serve(arguments, begin)
