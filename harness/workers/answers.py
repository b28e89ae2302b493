"""What an encoder is asked, as calls; and what it answers, or raises, as an outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from harness.core.conversations import conversation
from harness.core.messages import (
    PAST_THE_LIMIT,
    Chat,
    Decode,
    Dropout,
    Padding,
    Serve,
    Strings,
    Template,
    Windows,
    numbers_of,
)
from harness.core.outcomes import Encoded, Failed, Outcome, Status
from harness.core.outcomes import Rejected as RejectedOutcome
from harness.core.outcomes import Unsupported as UnsupportedOutcome
from harness.workers.tracebacks import Tracebacks
from impls.interface import Capability, Died, Encoder, Mode, Rejected, Unsupported

if TYPE_CHECKING:
    from harness.core.messages import Encode, Shape

T = TypeVar("T")

Ids = Sequence[int]

INT32 = range(-(2**31), 2**31)

TRACEBACKS = Tracebacks()


def told(error: BaseException) -> Outcome:
    """What an encoder has raised, as an outcome.

    Ctrl-C is nobody's answer: it comes where the harness itself asks (:mod:`harness.conformance`).
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
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


def method(encoder: Encoder, name: str, claim: str = "") -> Callable[..., Any]:
    """A method that an encoder may have, looked up once for a request.

    claim: the capability that it has claimed, by which it must have it. Raises Unsupported of who
    lacks it, or TypeError for a claim.
    """
    found: Callable[..., Any] | None = getattr(encoder, name, None)
    if found is None:
        if claim:
            raise TypeError(f"claims the capability '{claim}' but has no method {name}")
        raise Unsupported(f"has no method {name}")
    return found


def expected_length(answer: Sequence[T], length: int) -> Sequence[T]:
    """The answer; ValueError if it has not as many members as it was asked for."""
    if len(answer) != length:
        message = f"{len(answer)} answers for {length} asked for"
        raise ValueError(message)
    return answer


def text_of(name: str, text: object) -> bytes:
    """What a method gave as a text; TypeError where it is none."""
    if not isinstance(text, bytes):
        message = f"{name} returned a {type(text).__name__}, not bytes"
        raise TypeError(message)
    return text


def decoder_of(encoder: Encoder, request: Decode) -> Callable[[list[int]], bytes]:
    """What gives the text of ids, as a request asks for it. Raises as :func:`method` does."""
    if at := request.prompt:
        after = method(encoder, "decode_stream_after")
        return lambda ids: b"".join(after(ids[:at], ids[at:]))
    if request.stream:
        stream = method(encoder, "decode_stream")
        return lambda ids: b"".join(stream(ids))
    name, claim = "decode", "decode"
    if request.skip or request.clean:
        name, claim = "decode_without_specials" if request.skip else "decode_cleaned", ""
    decode = method(encoder, name, claim)
    return lambda ids: text_of(name, decode(ids))


def located(data: bytes, answer: tuple[Ids, Sequence[tuple[int, int]]]) -> Outcome:
    """The outcome of ``encode_with_offsets``."""
    ids, spans = answer
    if len(ids) != len(spans):
        message = f"{len(ids)} ids but {len(spans)} offsets"
        raise ValueError(message)
    return Encoded(clean_ids(ids), offsets=tuple((int(a), int(b)) for a, b in spans))


def served(service: Capability, given: tuple[Any, ...], answer: Any) -> Outcome:
    """The outcome of a service, its numbers as ids."""
    text = None
    if service is Capability.HEAL:
        answer, text = answer
        text = text_of("heal", text)
    elif service in {Capability.COUNT, Capability.COUNT_TILL_LIMIT}:
        if answer is None and service is Capability.COUNT_TILL_LIMIT:
            return Encoded((PAST_THE_LIMIT,))
        answer = [answer]
    elif service is not Capability.SPLIT:
        answer = expected_length(answer, len(given[-1]))
    found = clean_ids(answer)
    if min(found, default=0) < 0:
        message = f"{service} gave {min(found)}, which is negative"
        raise ValueError(message)
    return Encoded(found, text=text)


def shaper_of(encoder: Encoder, shape: Shape, mode: Mode) -> Callable[[bytes], Sequence[int]]:
    """What gives windows or rows one after another, as :class:`harness.core.messages.Encode` says.

    Raises as :func:`method` does, and in a call ValueError for an answer that is none.
    """
    if isinstance(shape, Windows):
        cut, how = method(encoder, "truncated"), (shape.length, shape.overlap, shape.left, mode)
        return lambda data: numbers_of(cut(data, *how))
    if isinstance(shape, Padding):
        pad = method(encoder, "padded")
        return lambda data: in_rows(pad([data, data + data, b""], shape.multiple, shape.left, mode))
    if isinstance(shape, Template):
        add, two = method(encoder, "encode_with_added"), shape.pair
        return lambda data: add(data, data + data if two else None, mode)
    if isinstance(shape, Chat):
        return chat_of(encoder, shape, mode)
    if isinstance(shape, Strings):
        name = method(encoder, "token_strings")
        return lambda data: numbers_of([*map(ord, one)] for one in name(data, mode))
    if isinstance(shape, Dropout):
        drop, draws = method(encoder, "encode_with_dropout"), range(shape.draws)
        return lambda data: numbers_of(drop(data, mode) for _ in draws)
    encode, most = method(encoder, "encode_with_unstable"), shape.most
    return lambda data: unstable(encode(data, mode), most)


def chat_of(encoder: Encoder, shape: Chat, mode: Mode) -> Callable[[bytes], Sequence[int]]:
    """What gives the ids of a conversation, or the characters of its text."""
    call = method(encoder, "render_chat" if shape.rendered else "encode_chat")

    def asked(data: bytes) -> Sequence[int]:
        try:
            content = data.decode()
        except UnicodeDecodeError:
            raise Unsupported("messages are text, and this is not UTF-8") from None
        answer = call(*conversation(shape.kind, shape.turns, content), mode)
        return [*map(ord, answer)] if shape.rendered else answer

    return asked


def in_rows(rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Sequence[int]:
    """Padded rows of a text, of it twice over, and of nothing: each its length, mask, and ids."""
    if len(rows) != 3 or any(len(ids) != len(mask) for ids, mask in rows):
        raise ValueError("padded gave no mask for each id, or not a row for each text")
    return [number for ids, mask in rows for number in (len(ids), *mask, *ids)]


def unstable(answer: tuple[Ids, Sequence[Ids]], most: int) -> Sequence[int]:
    """What is stable of a text, and some of its completions, as far apart as there is room for."""
    stable, completions = answer
    every = sorted(completions, key=tuple)
    return numbers_of([stable, *every[:: -(-len(every) // most) or 1]])


class Questions(NamedTuple):
    """What a request asks of an encoder, one thing after another.

    each: what is asked about. call: asks about one, and may be measured. outcome: what comes of the
    one that was asked about, and the answer.
    """

    each: Sequence[Any]
    call: Callable[[Any], Any]
    outcome: Callable[[Any, Any], Outcome]

    def answered(self, one: Any) -> Outcome:
        """The outcome of one. Raises what the encoder raises, and TypeError or ValueError."""
        return self.outcome(one, self.call(one))


def questions_of(encoder: Encoder, request: Encode | Decode | Serve) -> Questions:
    """What a request asks of an encoder. Raises as :func:`method` does."""
    if isinstance(request, Decode):
        bounds: list[int] = [0, *request.ends.tolist()]
        each = [request.ids[start:end].tolist() for start, end in pairwise(bounds)]
        return Questions(
            each, decoder_of(encoder, request), lambda ids, text: Encoded(tuple(ids), text)
        )
    mode = request.mode
    if isinstance(request, Serve):
        serve = method(encoder, request.service, request.service)
        outcome = partial(served, request.service)
        return Questions(request.given, lambda given: serve(*given, mode), outcome)
    inputs = list(request.inputs)
    if request.offsets:
        locate = method(encoder, "encode_with_offsets", "offsets")
        return Questions(inputs, lambda data: locate(data, mode), located)
    call: Callable[[bytes], Ids] = lambda data: encoder.encode(data, mode)  # noqa: E731
    if request.shape is not None:
        call = shaper_of(encoder, request.shape, mode)
    return Questions(inputs, call, lambda data, ids: Encoded(clean_ids(ids)))
