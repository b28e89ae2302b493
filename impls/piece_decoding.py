"""From the ids of pieces back to text, as three engines do it for any algorithm.

Facts from the engines' sources: SentencePiece 0.2.3's ``sentencepiece_processor.cc`` (``Decode``)
and llama.cpp's ``llama-vocab.cpp`` (``llama_vocab::impl::detokenize`` and ``token_to_piece``);
tokenizers' ``decoders/byte_fallback.rs`` and ``pre_tokenizers/metaspace.rs``.
"""

from __future__ import annotations

import codecs
import re
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.sentencepiece_model import byte_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Piece, Vocabulary

    Decode = Callable[[Sequence[int]], bytes]
    """The text of some ids. Raises IndexError for an id that does not exist."""

Text = TypeVar("Text")

SYMBOL = "▁"
UNKNOWN_SURFACE = " ⁇ ".encode()
"""SentencePiece writes this for the unknown piece unless the model says otherwise."""

BYTE_BY_BYTE = "tokgate-byte-by-byte"
"""How bytes that are not UTF-8 are decoded: U+FFFD for each that begins no character."""


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd", error.start + 1


codecs.register_error(BYTE_BY_BYTE, _replaced)


def sentencepiece(vocabulary: Vocabulary) -> Decode:
    """SentencePiece's ``Decode``: control pieces vanish, U+FFFD for each byte that begins nothing.

    A space at the beginning is dropped where the normalizer adds one or removes extra ones; where
    it removes extra ones, all of them are.
    """
    texts = PieceTexts(vocabulary, _sentencepiece_spelling)
    types, normalizer = texts.types, vocabulary.normalizer
    strips = normalizer.add_dummy_prefix or normalizer.remove_extra_whitespaces
    one_alone = not normalizer.remove_extra_whitespaces

    def decode(ids: Sequence[int]) -> bytes:
        out, run = bytearray(), bytearray()
        at_start, dropped = strips, False
        for token_id in ids:
            text = texts[token_id]
            kind = types[token_id]
            if kind == PieceType.BYTE:
                run += text
                continue
            if run:
                out += run.decode(errors=BYTE_BY_BYTE).encode()
                run.clear()
            if at_start:
                if dropped or out:
                    at_start = False
                elif kind in _SPELLED and texts.begin_with_symbol(token_id):
                    text = text[1:]
                    dropped = one_alone
            out += text
        return bytes(out) + run.decode(errors=BYTE_BY_BYTE).encode()

    return decode


_SPELLED = {PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED}


def _sentencepiece_spelling(piece: Piece, _token_id: int) -> bytes:
    if piece.type is PieceType.BYTE:
        return _byte(piece)
    if piece.type is PieceType.CONTROL:
        return b""
    return UNKNOWN_SURFACE if piece.type is PieceType.UNKNOWN else _spaced(piece.text)


def llama_cpp(vocabulary: Vocabulary) -> Decode:
    """``llama_detokenize`` with special tokens as their text: the first token loses a space.

    Bytes are joined as they are, and UNUSED pieces are nothing, though text becomes them.
    """
    texts = PieceTexts(vocabulary, _llama_cpp_spelling)
    strips = vocabulary.normalizer.add_dummy_prefix

    def decode(ids: Sequence[int]) -> bytes:
        found = [texts[token_id] for token_id in ids]
        if found and strips:
            found[0] = found[0].removeprefix(b" ")
        return b"".join(found)

    return decode


def _llama_cpp_spelling(piece: Piece, token_id: int) -> bytes:
    if piece.type is PieceType.UNUSED:
        return b""
    if piece.type is PieceType.BYTE:
        return _byte(piece)
    named = piece.text or f"[EMPTY_{token_id}]"
    return _spaced(named) if piece.type is PieceType.NORMAL else named.encode()


def hugging_face(vocabulary: Vocabulary) -> Decode:
    """The decoder of the tokenizer.json that is written from the vocabulary.

    ByteFallback and Metaspace, where Metaspace parts the words (the first token loses every
    U+2581); else Replace, ByteFallback, Fuse and Strip.
    """
    texts = PieceTexts(vocabulary, lambda piece, _: piece.text)
    normalizer, has_bytes = vocabulary.normalizer, vocabulary.byte_fallback

    def decode(ids: Sequence[int]) -> bytes:
        tokens = [texts[token_id] for token_id in ids]
        if normalizer.escape_whitespaces and normalizer.remove_extra_whitespaces:
            if has_bytes:
                tokens = byte_fallback(tokens)
            if tokens and normalizer.add_dummy_prefix:
                tokens[0] = tokens[0].replace(SYMBOL, "")
            return "".join(tokens).replace(SYMBOL, " ").encode()
        text = "".join(byte_fallback([token.replace(SYMBOL, " ") for token in tokens]))
        return (text.removeprefix(" ") if normalizer.add_dummy_prefix else text).encode()

    return decode


_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")


def byte_fallback(tokens: list[str]) -> list[str]:
    """tokenizers: bytes in a row are a text, or U+FFFD for each where that is not UTF-8."""
    found: list[str] = []
    for is_byte, run in groupby(tokens, lambda token: _BYTE.fullmatch(token) is not None):
        if not is_byte:
            found += run
            continue
        data = bytes(int(token[3:5], 16) for token in run)
        try:
            found.append(data.decode())
        except UnicodeDecodeError:
            found += ["\ufffd"] * len(data)
    return found


def _byte(piece: Piece) -> bytes:
    return bytes([byte_of(piece.text) or 0])


def _spaced(text: str) -> bytes:
    return text.replace(SYMBOL, " ").encode()


class PieceTexts(dict[int, Text]):
    """What each piece becomes, found out when it is asked for; IndexError for what is no id.

    It holds the pieces alone, in columns: a vocabulary's tokens, merges and file take as much
    memory again. spelling: of a piece with its id.
    """

    def __init__(self, vocabulary: Vocabulary, spelling: Callable[[Piece, int], Text]) -> None:
        super().__init__()
        self._pieces = Pieces.of(vocabulary.pieces).bare()
        self._spelling = spelling

    @property
    def types(self) -> bytes:
        """The type of each piece, a byte each."""
        return self._pieces.types

    def begin_with_symbol(self, token_id: int) -> bool:
        """Whether the text of a piece begins with U+2581."""
        return self._pieces[token_id].text.startswith(SYMBOL)

    def __missing__(self, token_id: int) -> Text:
        size = len(self._pieces)
        if not 0 <= token_id < size:
            raise IndexError(f"id {token_id} does not exist: there are {size} pieces")
        self[token_id] = made = self._spelling(self._pieces[token_id], token_id)
        return made
