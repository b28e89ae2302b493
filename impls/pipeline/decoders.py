"""From tokens back to text: the ``decoder`` of a tokenizer.json."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.byte_alphabet import unspell
from corpora.vocabularies.tokenizer_json_steps import flat
from impls.piece_decoding import byte_fallback
from impls.pipeline.errors import Undefined, field_of
from impls.pipeline.expressions import spans_of
from impls.wordpiece.decoders import cleaned, words

if TYPE_CHECKING:
    from collections.abc import Callable

    Decoder = Callable[[list[str]], list[str]]

Json = dict[str, Any]


def decoders_of(part: object) -> list[Decoder]:
    """The steps in order. Raises Undefined."""
    return [_decoder_of(step) for _, step in flat(part, "decoder", "decoders", "")]


def decoded(decoders: list[Decoder], tokens: list[str]) -> str:
    """The text of tokens; spaced where a file has no decoder."""
    if not decoders:
        return " ".join(tokens)
    for decoder in decoders:
        tokens = decoder(tokens)
    return "".join(tokens)


def _decoder_of(step: Json) -> Decoder:
    kind = step["type"]
    if kind == "Replace":
        return _replace(step)
    if kind == "Strip":
        return _strip(step)
    if kind == "Metaspace":
        return _metaspace(step)
    if kind == "WordPiece":
        return _word_piece(field_of(step, "prefix"), bool(step.get("cleanup", True)))
    if kind == "BPEDecoder":
        return _suffixes(field_of(step, "suffix"))
    if kind == "CTC":
        return _ctc(step)
    plain: dict[str, Decoder] = {
        "ByteLevel": _byte_level,
        "ByteFallback": byte_fallback,
        "Fuse": lambda tokens: ["".join(tokens)],
    }
    if kind not in plain:
        raise Undefined(f"the decoder {kind}")
    return plain[kind]


def _byte_level(tokens: list[str]) -> list[str]:
    """A token with a character beyond the alphabet stands for its own bytes."""
    spelled = [(token, unspell(token)) for token in tokens]
    data = b"".join(token.encode() if raw is None else raw for token, raw in spelled)
    return [_lossy(data)]


def _lossy(data: bytes) -> str:
    """As UTF-8, with U+FFFD for each longest beginning of a character that goes wrong."""
    return data.decode(errors="replace")


def _replace(step: Json) -> Decoder:
    spans, content = spans_of(step), field_of(step, "content")
    if "$" in content and "String" not in step["pattern"]:
        raise Undefined("a decoder's Replace that refers to groups")

    def replace(token: str) -> str:
        for start, end in reversed(spans(token)):
            token = token[:start] + content + token[end:]
        return token

    return lambda tokens: [replace(token) for token in tokens]


def _strip(step: Json) -> Decoder:
    """So many of a character at the beginning of each token, and no more than there are."""
    character, most = field_of(step, "content"), int(step.get("start", 0))
    if step.get("stop") or len(character) != 1:
        raise Undefined("a decoder's Strip at the end")

    def strip(token: str) -> str:
        cut = 0
        while cut < min(most, len(token)) and token[cut] == character:
            cut += 1
        return token[cut:]

    return lambda tokens: [strip(token) for token in tokens]


def _metaspace(step: Json) -> Decoder:
    """The mark is a space, and nothing in the first token where it is put before a text."""
    mark = str(step.get("replacement", "\u2581"))
    scheme = step.get("prepend_scheme")
    if len(mark) != 1:
        raise Undefined("a Metaspace of another kind")
    dropped = step.get("add_prefix_space") is not False if scheme is None else scheme != "never"

    def decode(tokens: list[str]) -> list[str]:
        return [
            token.replace(mark, "" if dropped and place == 0 else " ")
            for place, token in enumerate(tokens)
        ]

    return decode


def _word_piece(prefix: str, cleanup: bool) -> Decoder:
    """Tokens but the first are words of their own, unless they have the prefix."""

    def decode(tokens: list[str]) -> list[str]:
        found = words(tokens, prefix)
        return [cleaned(token) for token in found] if cleanup else found

    return decode


def _suffixes(suffix: str) -> Decoder:
    """The suffix of a word is a space, and nothing in the last token."""
    if not suffix:
        raise Undefined("a BPEDecoder without a suffix")

    def decode(tokens: list[str]) -> list[str]:
        last = len(tokens) - 1
        return [
            token.replace(suffix, "" if place == last else " ")
            for place, token in enumerate(tokens)
        ]

    return decode


def _ctc(step: Json) -> Decoder:
    """Of equal tokens in a row one is left, and the padding inside tokens goes."""
    padding, delimiter = field_of(step, "pad_token"), field_of(step, "word_delimiter_token")
    if not padding or not delimiter:
        raise Undefined("a CTC decoder of empty tokens")

    def decode(tokens: list[str]) -> list[str]:
        found = [token.replace(padding, "") for token, _ in groupby(tokens)]
        if step.get("cleanup"):
            found = [cleaned(token).replace(delimiter, " ") for token in found]
        return [token for token in found if token]

    return decode
