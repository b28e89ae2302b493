"""Small vocabularies for the tests of generators and strategies."""

from dataclasses import replace

from corpora.vocabularies.model import AddedToken, Algorithm, Piece, PieceType, Vocabulary
from corpora.vocabularies.sources import resolve

_BYTES, _PIECES = resolve("toy_bytes"), resolve("toy_unigram")
_SIZE = len(_BYTES)
_ODD = {"zz": PieceType.UNUSED, "<0x0A>": PieceType.BYTE}

VOCABULARIES = {
    # All bytes, words of which one ends as another begins, a special token that begins another.
    "byte-level": replace(
        _BYTES,
        tokens=(*_BYTES.tokens, b"stat", b"ation", b"ions"),
        special_tokens={"<|end|>": _SIZE + 3, "<|end|><|end|>": _SIZE + 4},
        added_tokens=(AddedToken("<tool call>", _SIZE + 5, lstrip=True),),
    ),
    # Three letters: nothing else can be encoded.
    "toy": resolve("toy_acbb"),
    # Pieces of every type.
    "unigram": replace(
        _PIECES,
        tokens=(*_PIECES.tokens, b"zz", b"\n"),
        pieces=(*_PIECES.pieces, *(Piece(text, -9.0, kind) for text, kind in _ODD.items())),
    ),
    # The least that a loader can hand over.
    "empty": Vocabulary(id="empty", algorithm=Algorithm.BPE, format="toy", tokens=()),
}
