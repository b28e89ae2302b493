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
    from collections.abc import Sequence

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


def shaped(encoder: Encoder, data: bytes, shape: Shape, mode: Mode) -> Sequence[int]:
    """The windows or rows one after another, as :class:`harness.core.messages.Encode` says.

    Raises Unsupported of who makes none, and ValueError for an answer that is none.
    """
    if isinstance(shape, Windows) and isinstance(encoder, Truncates):
        cut = encoder.truncated(data, shape.length, shape.overlap, shape.left, mode)
        return numbers_of(cut)
    if isinstance(shape, Padding) and isinstance(encoder, Pads):
        rows = encoder.padded([data, data + data, b""], shape.multiple, shape.left, mode)
        if len(rows) != 3 or any(len(ids) != len(mask) for ids, mask in rows):
            raise ValueError("padded gave no mask for each id, or not a row for each text")
        return [number for ids, mask in rows for number in (len(ids), *mask, *ids)]
    if isinstance(shape, Template) and isinstance(encoder, AddsSpecials):
        return encoder.encode_with_added(data, data + data if shape.pair else None, mode)
    if isinstance(shape, Dropout) and isinstance(encoder, DropsMerges):
        return numbers_of(encoder.encode_with_dropout(data, mode) for _ in range(shape.draws))
    if isinstance(shape, Unstable) and isinstance(encoder, EncodesUnstable):
        stable, completions = encoder.encode_with_unstable(data, mode)
        every = sorted(completions, key=tuple)
        # As far apart as there is room for.
        picked = every[:: -(-len(every) // shape.most) or 1]
        return numbers_of([stable, *picked])
    raise Unsupported("has no such shape of its encodings")
