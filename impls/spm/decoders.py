"""From ids back to text, as the engines do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import pieces_alone
from corpora.vocabularies.sentencepiece_model import byte_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Piece, Vocabulary
    from impls.spm.variants import Variant

SPACE_SYMBOL = "\u2581".encode()
UNKNOWN_SURFACE = " \u2047 ".encode()
"""SentencePiece shows this for the unknown piece."""
REPLACEMENT = "\ufffd".encode()


def decoder_of(vocabulary: Vocabulary, variant: Variant) -> Callable[[Sequence[int]], bytes]:
    """The decoder of a variant; it raises IndexError for an id that does not exist."""
    decode = _decode_sentencepiece if variant.normalizes else _decode_llama_cpp
    held = pieces_alone(vocabulary)
    return lambda ids: decode(held, _pieces(held, ids))


def _pieces(vocabulary: Vocabulary, ids: Sequence[int]) -> list[Piece]:
    size = len(vocabulary.pieces)
    for token_id in ids:
        if not 0 <= token_id < size:
            raise IndexError(f"id {token_id} does not exist: there are {size} pieces")
    return [vocabulary.pieces[token_id] for token_id in ids]


def _decode_sentencepiece(vocabulary: Vocabulary, pieces: list[Piece]) -> bytes:
    """``SentencePieceProcessor::Decode`` of 0.2.3.

    Control pieces vanish, bytes become characters (U+FFFD for each that begins none), and a space
    at the beginning is dropped, where the normalizer adds one or removes them.
    """
    spec = vocabulary.normalizer
    strips = spec.add_dummy_prefix or spec.remove_extra_whitespaces
    text: list[bytes] = []
    pending = bytearray()
    at_start = True
    dropped = False  # the piece before gave its space away
    for piece in pieces:
        if piece.type is PieceType.BYTE:
            pending.append(byte_of(piece.text) or 0)
            continue
        text += _characters(bytes(pending))
        pending.clear()
        if dropped or any(text):
            at_start = False
        dropped = False
        if piece.type is PieceType.CONTROL:
            continue
        if piece.type is PieceType.UNKNOWN:
            text.append(UNKNOWN_SURFACE)
            continue
        spelled = piece.text.encode()
        if at_start and strips and spelled.startswith(SPACE_SYMBOL):
            spelled = spelled[len(SPACE_SYMBOL) :]
            # Where white space is removed, every leading one goes.
            dropped = not spec.remove_extra_whitespaces
        text.append(spelled.replace(SPACE_SYMBOL, b" "))
    return b"".join(text + _characters(bytes(pending)))


def _characters(data: bytes) -> list[bytes]:
    """The characters of some bytes, U+FFFD for each byte that begins none."""
    found = []
    position = 0
    while position < len(data):
        for length in range(1, 5):
            character = data[position : position + length]
            try:
                character.decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            character, length = REPLACEMENT, 1
        found.append(character)
        position += min(length, len(data) - position)
    return found


def _decode_llama_cpp(vocabulary: Vocabulary, pieces: list[Piece]) -> bytes:
    """``llama_detokenize`` without removing or hiding special tokens.

    Bytes are joined as they are, UNUSED pieces vanish, and one space at the very beginning is
    dropped where the vocabulary adds one.
    """
    text: list[bytes] = []
    for i, piece in enumerate(pieces):
        if piece.type is PieceType.BYTE:
            spelled = bytes([byte_of(piece.text) or 0])
        elif piece.type is PieceType.NORMAL:
            spelled = piece.text.encode().replace(SPACE_SYMBOL, b" ")
        else:
            spelled = b"" if piece.type is PieceType.UNUSED else piece.text.encode()
        if i == 0 and vocabulary.normalizer.add_dummy_prefix and spelled.startswith(b" "):
            spelled = spelled[1:]
        text.append(spelled)
    return b"".join(text)
