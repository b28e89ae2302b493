"""What SentencePiece and llama.cpp do differently with one SentencePiece BPE vocabulary, as data.

Both merge the characters of a text pairwise, the best-scoring piece first and the leftmost of
equals. Read from SentencePiece 0.2.3 (``src/bpe_model.cc``, ``src/model_interface.cc``) and from
llama.cpp (``src/llama-vocab.cpp``: ``llm_tokenizer_spm_session``, ``tokenizer_st_partition``), and
held against both by tests.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpora.vocabularies.model import PieceType

_ALL = frozenset(PieceType)
_ORDINARY = frozenset({PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED})


@dataclass(frozen=True, slots=True)
class Variant:
    """How one engine reads a vocabulary of scored pieces.

    name: of the engine, for errors.
    merged_types: types of the pieces that two neighbours may merge to.
    known_types: types of the pieces that a character may be; any other character is unknown.
    normalizes: the vocabulary's normalizer is applied. Otherwise spaces become U+2581 after one
        was added where the vocabulary has a dummy prefix, and nothing else happens.
    freezes: user-defined symbols are found in the normalized text, the longest first at each
        character, and never merge. Otherwise they are cut out of the input, one symbol after
        another (longest first), and what lies between them is encoded as texts of their own.
    longest_frozen: of the user-defined symbols that begin at one character so many are seen,
        shortest first (the engine's result buffer), or None for all.
    resegments: an UNUSED piece is split again as it was last *offered* for merging, anywhere in
        the text and not where it stands.
    resegment_depth: how often, one split inside the other; deeper ones are emitted as they are.
    falls_back_to_bytes: always; otherwise where the vocabulary says so.
    orders_by_bits: scores are compared as the integers of their bits, so that -0.0 is below 0.0
        and each NaN has its place. Otherwise as numbers, and NaN has no order.
    joins_unknown: neighbouring unknown symbols are one unknown token.
    checks: the vocabulary must have what SentencePiece asks for when it loads: one unknown piece,
        the 256 byte pieces under byte fallback and none without it, no NUL, no overlong piece.
    names_empty: an empty piece gets this text, with its id; None where it is an error.
    """

    name: str
    merged_types: frozenset[PieceType]
    known_types: frozenset[PieceType]
    normalizes: bool
    freezes: bool
    longest_frozen: int | None
    resegments: bool
    resegment_depth: int
    falls_back_to_bytes: bool
    orders_by_bits: bool
    joins_unknown: bool
    checks: bool
    names_empty: str | None


SENTENCEPIECE = Variant(
    name="sentencepiece",
    merged_types=_ORDINARY,
    known_types=frozenset({PieceType.NORMAL, PieceType.USER_DEFINED}),
    normalizes=True,
    freezes=True,
    longest_frozen=64,
    resegments=True,
    resegment_depth=100,
    falls_back_to_bytes=False,
    orders_by_bits=True,
    joins_unknown=True,
    checks=True,
    names_empty=None,
)
"""SentencePiece 0.2.3. Control, unknown and byte pieces, and UNUSED single characters, are unknown
where a text spells them."""

LLAMA_CPP = Variant(
    name="llama.cpp",
    merged_types=_ALL,
    known_types=_ALL,
    normalizes=False,
    freezes=False,
    longest_frozen=None,
    resegments=False,
    resegment_depth=0,
    falls_back_to_bytes=True,
    orders_by_bits=False,
    joins_unknown=False,
    checks=False,
    names_empty="[EMPTY_{}]",
)
"""llama.cpp. A text that merges to ``</s>`` or ``<0x41>`` yields that token, whatever its type. Its
resegmentation is never reached: what was offered for merging is a token."""
