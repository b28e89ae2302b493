"""From ids back to text, as each engine does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import pieces_alone
from corpora.vocabularies.sentencepiece_model import byte_of
from impls.interface import Unsupported
from impls.unigram.variants import Decoding, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

SYMBOL = "▁"
UNKNOWN_SURFACE = " ⁇ "
"""SentencePiece writes this for the unknown piece unless the model says otherwise."""


class Decoder:
    """The decoder of a vocabulary in one variant. Holds no state between calls."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        self._vocabulary = pieces_alone(vocabulary)
        self._decode = {
            Decoding.SENTENCEPIECE: sentencepiece,
            Decoding.LLAMA_CPP: llama_cpp,
            Decoding.HUGGING_FACE: hugging_face,
        }[variant.decoding]

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of ``ids``. Raises Unsupported for an id that is none."""
        size = len(self._vocabulary.pieces)
        outside = next((i for i in ids if not 0 <= i < size), None)
        if outside is not None:
            raise Unsupported(f"{outside} is no id of this vocabulary")
        return self._decode(self._vocabulary, [int(i) for i in ids])


def sentencepiece(vocabulary: Vocabulary, ids: list[int]) -> bytes:
    """SentencePiece's ``Decode``: one leading space is dropped (all, if extra ones are removed).

    Bytes that are not UTF-8 become U+FFFD one by one, control pieces nothing.
    """
    normalizer = vocabulary.normalizer
    strips = normalizer.add_dummy_prefix or normalizer.remove_extra_whitespaces
    out = bytearray()
    run = bytearray()
    at_start, stripped = True, False
    for token_id in [*ids, None]:
        piece = None if token_id is None else vocabulary.pieces[token_id]
        if piece is not None and piece.type is PieceType.BYTE:
            run.append(byte_of(piece.text) or 0)
            continue
        out += _each_malformed(bytes(run))
        run.clear()
        if piece is None:
            break
        if stripped or out:
            at_start = False
        stripped = False
        if piece.type is PieceType.CONTROL:
            continue
        if piece.type is PieceType.UNKNOWN:
            out += UNKNOWN_SURFACE.encode()
            continue
        text = piece.text
        if at_start and strips and text.startswith(SYMBOL):
            text = text[1:]
            stripped = not normalizer.remove_extra_whitespaces
        out += text.replace(SYMBOL, " ").encode()
    return bytes(out)


def _each_malformed(data: bytes) -> bytes:
    """The text of some bytes, U+FFFD for each byte that begins no character."""
    out = bytearray()
    position = 0
    while position < len(data):
        for length in (1, 2, 3, 4):
            part = data[position : position + length]
            try:
                part.decode()
            except UnicodeDecodeError:
                continue
            out += part
            position += length
            break
        else:
            out += "\ufffd".encode()
            position += 1
    return bytes(out)


def llama_cpp(vocabulary: Vocabulary, ids: list[int]) -> bytes:
    """``llama_detokenize`` with special tokens as their text: the first token loses a space.

    UNUSED pieces are nothing, though text becomes them.
    """
    out = bytearray()
    for place, token_id in enumerate(ids):
        piece = vocabulary.pieces[token_id]
        if piece.type is PieceType.UNUSED:
            continue
        if piece.type is PieceType.BYTE:
            text = bytes([byte_of(piece.text) or 0])
        else:
            named = piece.text or f"[EMPTY_{token_id}]"
            normal = piece.type is PieceType.NORMAL
            text = (named.replace(SYMBOL, " ") if normal else named).encode()
        if place == 0 and vocabulary.normalizer.add_dummy_prefix:
            text = text.removeprefix(b" ")
        out += text
    return bytes(out)


def hugging_face(vocabulary: Vocabulary, ids: list[int]) -> bytes:
    """The decoder of the tokenizer.json that is written from the vocabulary.

    ByteFallback and Metaspace, where Metaspace parts the words (the first token loses every
    U+2581); else Replace, ByteFallback, Fuse and Strip.
    """
    normalizer = vocabulary.normalizer
    tokens = [vocabulary.pieces[token_id].text for token_id in ids]
    if normalizer.escape_whitespaces and normalizer.remove_extra_whitespaces:
        if vocabulary.byte_fallback:
            tokens = _byte_fallback(tokens)
        if tokens and normalizer.add_dummy_prefix:
            tokens[0] = tokens[0].replace(SYMBOL, "")
        return "".join(tokens).replace(SYMBOL, " ").encode()
    text = "".join(_byte_fallback([token.replace(SYMBOL, " ") for token in tokens]))
    return (text.removeprefix(" ") if normalizer.add_dummy_prefix else text).encode()


def _byte_fallback(tokens: list[str]) -> list[str]:
    """Runs of ``<0xNN>`` as the text of their bytes; U+FFFD for each where that is not UTF-8."""
    made: list[str] = []
    run = bytearray()
    for token in [*tokens, None]:
        byte = None if token is None else byte_of(token)
        if byte is not None:
            run.append(byte)
            continue
        if run:
            try:
                made.append(run.decode())
            except UnicodeDecodeError:
                made.extend(["\ufffd"] * len(run))
            run.clear()
        if token is not None:
            made.append(token)
    return made
