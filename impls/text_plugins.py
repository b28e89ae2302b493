"""Plug-ins for libraries that take text only, or that find special tokens in any text.

An implementation says so by an attribute, and :mod:`impls.registry` puts it into a wrapper that has
the interface of all others:

``text_only = True``     its encoder takes and gives ``str`` wherever the interface has bytes of a
                         text; what is not UTF-8 is Unsupported. Places in a text (offsets, ends of
                         chunks, ranges) count characters.
``always_special = True``  special tokens cannot be switched off: a text that has one is
                         Unsupported where special tokens are ordinary text.

A wrapper passes on whatever the encoder has: each method is wrapped by what its arguments and its
result are, so that a method that is added to the interface is passed on, too.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from impls.adapters.common import in_bytes, refusing_specials, text_of
from impls.interface import Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Encoder, Implementation
    from impls.kernels.layout import Ints, Longs

AGAIN = ("reloaded", "respelled")
"""These methods give another encoder, which is wrapped like the first one."""


def adapted(implementation: Implementation) -> Implementation:
    """The implementation itself, or with the interface that all others have.

    What it may have besides (``recipe``, ``native_formats``, ..) it keeps.
    """
    text_only = bool(getattr(implementation, "text_only", False))
    always_special = bool(getattr(implementation, "always_special", False))
    if not text_only and not always_special:
        return implementation

    def load(self: object, vocabulary: Vocabulary) -> Encoder:
        encoder = implementation.load(vocabulary)
        if text_only:
            encoder = _of_text(encoder)
        return _refusing(encoder, refusing_specials(vocabulary)) if always_special else encoder

    members: dict[str, Any] = {
        name: _passed_on(implementation, name) for name in _public(implementation)
    }
    members["load"] = load
    made: Implementation = type("Adapted", (), members)()
    return made


def _public(target: object) -> list[str]:
    return [name for name in dir(target) if not name.startswith("_")]


def _passed_on(target: object, name: str) -> property:
    return property(lambda self: getattr(target, name))


def _wrapped(encoder: Any, around: Callable[[str, Any], Callable[..., object]]) -> Any:
    """An object with all that the encoder has. around: makes a method of a name and its original.

    Attributes are found by the class, so each wrapper has a class of its own.
    """
    members: dict[str, Any] = {}
    for name in _public(encoder):
        computed = isinstance(inspect.getattr_static(encoder, name), property)
        if computed or not callable(getattr(encoder, name)):
            members[name] = _passed_on(encoder, name)
        else:
            members[name] = staticmethod(around(name, getattr(encoder, name)))
    return type("Wrapped", (), members)()


def _of_text(encoder: Any) -> Any:
    """An encoder of bytes that asks one of text."""

    def around(name: str, call: Any) -> Callable[..., object]:
        if name in AGAIN:
            return lambda: _again(call(), _of_text)
        counting = COUNTING.get(name)
        if counting is not None:
            return partial(counting, call)
        if name == "encode_str":
            return call  # type: ignore[no-any-return]
        return lambda *given: _bytes_of(call(*map(_text_of, given)))

    made = _wrapped(encoder, around)
    if hasattr(encoder, "encode") and not hasattr(encoder, "encode_str"):
        type(made).encode_str = staticmethod(encoder.encode)
    return made


def _again(encoder: Any, wrap: Callable[[Any], Any]) -> Any:
    return None if encoder is None else wrap(encoder)


def _text_of(value: Any) -> Any:
    """An argument with each bytes in it as ``str``. Raises Unsupported where one is not UTF-8."""
    if isinstance(value, bytes):
        return text_of(value)
    return [_text_of(one) for one in value] if _has_parts(value) else value


def _bytes_of(value: Any) -> Any:
    """A result with each ``str`` in it as bytes."""
    if isinstance(value, str):
        return value.encode()
    return type(value)(_bytes_of(one) for one in value) if _has_parts(value) else value


def _has_parts(value: object) -> bool:
    """Whether it is a list of something, and not of numbers, which may be long."""
    return type(value) in (list, tuple) and bool(value) and not isinstance(value[0], int)  # type: ignore[index]


# Of methods that count places in a text: in characters for the encoder, in bytes for who asks.


def _with_offsets(
    call: Any, data: bytes, mode: Mode
) -> tuple[Sequence[int], list[tuple[int, int]]]:
    text = text_of(data)
    ids, offsets = call(text, mode)
    return ids, in_bytes(text, [(start, end) for start, end in offsets])


def _split(call: Any, data: bytes, limit: int, mode: Mode) -> list[int]:
    text = text_of(data)
    ends = call(text, limit, mode)
    return [end for _, end in in_bytes(text, [(0, end) for end in ends])]


def _interval(
    call: Any, data: bytes, ranges: Sequence[tuple[int, int]], mode: Mode
) -> Sequence[int]:
    text, places = text_of(data), _characters(data)
    inside = [(int(places[start]), int(places[end])) for start, end in ranges]
    if any(-1 in pair for pair in inside):
        raise Unsupported("takes text only, and a range ends inside a character")
    counts: Sequence[int] = call(text, inside, mode)
    return counts


def _batch(call: Any, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
    text, places = text_of(data), _characters(data)
    inside = places[ends]
    if np.any(inside < 0):
        raise Unsupported("takes text only, and one of these is not UTF-8")
    ids, id_ends = call(text, inside, mode)
    return ids, id_ends


COUNTING: dict[str, Callable[..., object]] = {
    "encode_with_offsets": _with_offsets,
    "split": _split,
    "interval": _interval,
    "encode_batch": _batch,
}


def _characters(data: bytes) -> Longs:
    """For each place in UTF-8 the number of characters before it; -1 inside a character."""
    starts = np.append((np.frombuffer(data, np.uint8) & 0xC0) != 0x80, True)
    places: Longs = np.where(starts, np.cumsum(starts) - 1, -1)
    return places


def _refusing(encoder: Any, refuse: Callable[[bytes], None]) -> Any:
    """An encoder that refuses texts with special tokens where these are ordinary text."""

    def around(name: str, call: Any) -> Callable[..., object]:
        if name in AGAIN:
            return lambda: _again(call(), lambda other: _refusing(other, refuse))

        def method(*given: Any) -> object:
            if any(isinstance(one, Mode) and one.special == "none" for one in given):
                for value in given:
                    _look_into(value, refuse)
            return call(*given)

        return method

    return _wrapped(encoder, around)


def _look_into(value: Any, refuse: Callable[[bytes], None]) -> None:
    """Refuse what has a special token: a text, or texts, which may be chunks of one."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        refuse(value)
    elif _has_parts(value) and all(isinstance(one, bytes) for one in value):
        refuse(b"".join(value))
        refuse(b"".join(reversed(value)))
