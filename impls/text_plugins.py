"""Plug-ins for libraries that take text only, or that find special tokens in any text.

An implementation says so by an attribute, and :mod:`impls.registry` puts it into a wrapper that has
the interface of all others:

``text_only = True``     its encoder takes and gives ``str``; what is not UTF-8 is Unsupported.
                         Offsets count characters.
``always_special = True``  special tokens cannot be switched off: a text that has one is
                         Unsupported where special tokens are ordinary text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impls.adapters.common import in_bytes, refusing_specials, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Encoder, Implementation, Mode


def adapted(implementation: Implementation) -> Implementation:
    """The implementation itself, or with the interface that all others have.

    What it may have besides (``recipe``, ``native_formats``, ..) it keeps: attributes are found by
    the class, so each wrapper has a class of its own.
    """
    text_only = bool(getattr(implementation, "text_only", False))
    always_special = bool(getattr(implementation, "always_special", False))
    if not text_only and not always_special:
        return implementation

    def load(self: object, vocabulary: Vocabulary) -> Encoder:
        encoder = implementation.load(vocabulary)
        if text_only:
            encoder = _of_text(encoder)
        return _with_specials(encoder, vocabulary) if always_special else encoder

    names = [name for name in dir(implementation) if not name.startswith("_")]
    members: dict[str, Any] = {name: _passed_on(implementation, name) for name in names}
    members["load"] = load
    made: Implementation = type("Adapted", (), members)()
    return made


def _passed_on(implementation: Implementation, name: str) -> property:
    return property(lambda self: getattr(implementation, name))


def _of_text(encoder: Any) -> Any:
    """An encoder of bytes that asks one of text."""

    def encode(self: object, data: bytes, mode: Mode) -> Sequence[int]:
        ids: Sequence[int] = encoder.encode(text_of(data), mode)
        return ids

    def encode_str(self: object, text: str, mode: Mode) -> Sequence[int]:
        ids: Sequence[int] = encoder.encode(text, mode)
        return ids

    def encode_many(self: object, inputs: Sequence[bytes], mode: Mode) -> Sequence[Sequence[int]]:
        ids: Sequence[Sequence[int]] = encoder.encode_many([text_of(one) for one in inputs], mode)
        return ids

    def encode_with_offsets(
        self: object, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], list[tuple[int, int]]]:
        text = text_of(data)
        ids, offsets = encoder.encode_with_offsets(text, mode)
        return ids, in_bytes(text, [(start, end) for start, end in offsets])

    def count(self: object, data: bytes, mode: Mode) -> int:
        number: int = encoder.count(text_of(data), mode)
        return number

    def decode(self: object, ids: Sequence[int]) -> object:
        text = encoder.decode(ids)
        return text.encode() if isinstance(text, str) else text

    methods: dict[str, Callable[..., object]] = {
        "encode": encode,
        "encode_many": encode_many,
        "encode_with_offsets": encode_with_offsets,
        "count": count,
        "decode": decode,
    }
    made = _made("OfText", encoder, methods)
    type(made).encode_str = encode_str
    return made


def _with_specials(encoder: Any, vocabulary: Vocabulary) -> Any:
    """An encoder that refuses texts with special tokens where these are ordinary text."""
    refuse = refusing_specials(vocabulary)

    def refusing(name: str) -> Callable[..., object]:
        def method(self: object, data: bytes, *rest: Any) -> object:
            mode: Mode = rest[-1]
            inputs = [data] if isinstance(data, bytes) else data
            for text in inputs if mode.special == "none" else ():
                refuse(text)
            return getattr(encoder, name)(data, *rest)

        return method

    names = ("encode", "encode_many", "encode_with_offsets", "count", "count_till_limit", "split")
    methods = {name: refusing(name) for name in names}
    if hasattr(encoder, "decode"):
        methods["decode"] = lambda self, ids: encoder.decode(ids)
    return _made("WithSpecials", encoder, methods)


def _made(name: str, encoder: Any, methods: dict[str, Callable[..., object]]) -> Any:
    """An object with those of the methods that the encoder has; others are asked bytes or ids."""
    return type(name, (), {one: call for one, call in methods.items() if hasattr(encoder, one)})()
