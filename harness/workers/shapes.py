"""What a library makes of an encoding besides ids: windows, padded rows, and text id by id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.messages import Dropout, Padding, Template, Unstable, Windows, numbers_of
from impls.interface import (
    AddsSpecials,
    CleansSpaces,
    DecodesStreams,
    DropsMerges,
    EncodesUnstable,
    Pads,
    SkipsSpecials,
    Truncates,
    Unsupported,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.core.messages import Shape
    from impls.interface import Encoder, Mode


def streamed(encoder: Encoder, ids: Sequence[int]) -> bytes:
    """What ``decode_stream`` gives out, together. Raises Unsupported where there is none."""
    if not isinstance(encoder, DecodesStreams):
        raise Unsupported("has no decoder id by id")
    return b"".join(encoder.decode_stream(ids))


def skipped(encoder: Encoder, ids: Sequence[int]) -> bytes:
    """The text without special tokens. Raises Unsupported of a decoder that leaves none out."""
    if not isinstance(encoder, SkipsSpecials):
        raise Unsupported("leaves no special tokens out")
    return encoder.decode_without_specials(ids)


def cleaned_up(encoder: Encoder, ids: Sequence[int]) -> bytes:
    """The text with its spaces cleaned up. Raises Unsupported of a decoder that leaves them."""
    if not isinstance(encoder, CleansSpaces):
        raise Unsupported("cleans no spaces up")
    return encoder.decode_cleaned(ids)


def shaper_of(encoder: Encoder, shape: Shape, mode: Mode) -> Callable[[bytes], Sequence[int]]:
    """What gives windows or rows one after another, as :class:`harness.core.messages.Encode` says.

    It raises Unsupported of who makes none, and ValueError for an answer that is none. What an
    encoder can do is looked up once, as of :func:`harness.workers.answers.decoder_of`.
    """
    if isinstance(shape, Windows) and isinstance(encoder, Truncates):
        size, overlap, left = shape.length, shape.overlap, shape.left
        return lambda data: numbers_of(encoder.truncated(data, size, overlap, left, mode))
    if isinstance(shape, Padding) and isinstance(encoder, Pads):
        return lambda data: padded(encoder, data, shape, mode)
    if isinstance(shape, Template) and isinstance(encoder, AddsSpecials):
        two = shape.pair
        return lambda data: encoder.encode_with_added(data, data + data if two else None, mode)
    if isinstance(shape, Dropout) and isinstance(encoder, DropsMerges):
        draws = range(shape.draws)
        return lambda data: numbers_of(encoder.encode_with_dropout(data, mode) for _ in draws)
    if isinstance(shape, Unstable) and isinstance(encoder, EncodesUnstable):
        return lambda data: unstable(encoder, data, shape, mode)
    return shapeless


def shapeless(data: bytes) -> Sequence[int]:
    """Raise Unsupported."""
    raise Unsupported("has no such shape of its encodings")


def padded(encoder: Pads, data: bytes, shape: Padding, mode: Mode) -> Sequence[int]:
    """The rows of a text, of it twice over, and of nothing; each after its length, and its mask."""
    rows = encoder.padded([data, data + data, b""], shape.multiple, shape.left, mode)
    if len(rows) != 3 or any(len(ids) != len(mask) for ids, mask in rows):
        raise ValueError("padded gave no mask for each id, or not a row for each text")
    return [number for ids, mask in rows for number in (len(ids), *mask, *ids)]


def unstable(encoder: EncodesUnstable, data: bytes, shape: Unstable, mode: Mode) -> Sequence[int]:
    """What is stable of a text, and some of its completions, as far apart as there is room for."""
    stable, completions = encoder.encode_with_unstable(data, mode)
    every = sorted(completions, key=tuple)
    picked = every[:: -(-len(every) // shape.most) or 1]
    return numbers_of([stable, *picked])
