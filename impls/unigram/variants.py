"""The variants of unigram: where engines part, as data.

All of them normalize, look for the segmentation with the greatest sum of scores by Viterbi's
algorithm from left to right, relax an end under a strict ``>`` (so that of equal sums the earliest
start stays), and give the unknown piece to a character that no piece covers alone. They part in
the points below. Facts from the engines' sources: SentencePiece's ``unigram_model.cc``,
``model_interface.cc`` and ``normalizer.cc``, llama.cpp's ``llama-vocab.cpp``
(``llm_tokenizer_ugm``), and of tokenizers ``models/unigram/model.rs``,
``normalizers/precompiled.rs``, ``pre_tokenizers/metaspace.rs``; each confirmed by trials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from corpora.vocabularies.model import PieceType

FLOAT_MAX = 3.4028234663852886e38
"""The greatest float32."""
DOUBLE_MAX = 1.7976931348623157e308


class Splitting(IntEnum):
    """Whether user-defined symbols are cut out before anything else."""

    NEVER = 0
    """User-defined symbols are not cut out: they only compete in the lattice."""
    LONGEST_FIRST = 1
    """Symbol by symbol, the longest first, wherever the text is still whole (llama.cpp)."""
    LEFTMOST_LONGEST = 2
    """Symbols are found from the left, the longest of those that begin there, as an Aho-Corasick
    automaton finds them; special tokens are found likewise, and left in the text (tokenizers)."""


class Normalization(IntEnum):
    """How a text becomes the one that is segmented."""

    SENTENCEPIECE = 0
    """The longest symbol, else the longest charsmap rule, else a character; leading, doubled and
    trailing spaces removed; the dummy space once."""
    LLAMA_CPP = 1
    """The charsmap's prefixes are replaced as SentencePiece does, but the beginning of a symbol
    passes as a whole one does, though it may be a part of a character. Ill-formed characters are
    kept where their bits look right, and there is a space before each word where spaces are merged,
    dummy prefix or not."""
    HUGGING_FACE = 2
    """The charsmap for each grapheme cluster under 6 bytes, of which a prefix's shortest rule
    replaces all, else for each character; then the steps that transformers' converter writes:
    trailing white space stripped, runs of spaces replaced, and Metaspace, which parts words."""


class SymbolScore(StrEnum):
    """What a user-defined symbol of n bytes adds to a sum."""

    LENGTH = "0.1 * (n - 1)"
    GREATEST = "n * greatest - 0.1"
    """``greatest`` is the greatest NORMAL score, but at least FLT_MIN: in effect -0.1 where all
    scores are negative."""
    ZERO = "0"
    OWN = "the score in the file"


class Reading(StrEnum):
    """How a score comes out of the file."""

    BINARY = "binary"
    """The score is read as it was written, a float32."""
    SERDE_JSON = "serde_json"
    """Scores are read as decimal digits by serde_json without ``float_roundtrip``: the digits as
    one integer, rounded, and divided by a power of ten, rounded again. That is often the double
    beside the one that was written, which decides ties."""


class Fallback(IntEnum):
    """What becomes of a run of unknown characters."""

    UNKNOWN = 0
    """One unknown token."""
    CHARACTERS = 1
    """The bytes of each, if the vocabulary has byte fallback, else one unknown token."""
    RUN = 2
    """The piece that the whole run spells, if there is one; else its bytes, if the vocabulary has
    byte fallback and a piece for each of them; else one unknown token."""


class Decoding(StrEnum):
    """Whose rules turn ids back into text."""

    SENTENCEPIECE = "sentencepiece"
    LLAMA_CPP = "llama.cpp"
    HUGGING_FACE = "tokenizers"


@dataclass(frozen=True, slots=True)
class Variant:
    """One engine's unigram, in one range of its versions.

    name: of the implementation. engine: whose it is, with the versions it was held against.
    reading: of the scores.
    sums: the type in which the best sums are kept. scores: the type of a piece's score; a
        candidate is computed in the wider of the two. unknown: the same of the unknown score.
    rebase_above: sums beyond this are brought back to 0 at the character where they are met.
    unreached: a position that nothing has reached has this sum, and a candidate must exceed it;
        None accepts the first candidate, whatever it is.
    segmented: the types of the pieces that text can become.
    minimum_over: the types over which the unknown score's minimum is taken (less 10).
    no_minimum: the minimum where there is no piece of those types.
    symbol_score: of user-defined symbols in the lattice.
    symbols_stay: user-defined symbols pass the normalizer as they are.
    duplicates: two pieces may share a text; the last one has it.
    finite_scores: infinite scores are refused.
    text_only: inputs that are not UTF-8 are refused.
    """

    name: str
    engine: str
    reading: Reading
    sums: str
    scores: str
    unknown: str
    rebase_above: float
    unreached: float | None
    segmented: frozenset[PieceType]
    minimum_over: frozenset[PieceType]
    no_minimum: float
    symbol_score: SymbolScore
    symbols_stay: bool
    splitting: Splitting
    normalization: Normalization
    fallback: Fallback
    decoding: Decoding
    duplicates: bool
    finite_scores: bool
    text_only: bool


_NORMAL = frozenset({PieceType.NORMAL})
_EVERY = frozenset(PieceType)

SENTENCEPIECE = Variant(
    name="unigram.sentencepiece",
    engine="SentencePiece 0.2.3",
    reading=Reading.BINARY,
    sums="float32",
    scores="float32",
    unknown="float32",
    rebase_above=1e5,
    unreached=None,
    segmented=frozenset({PieceType.NORMAL, PieceType.USER_DEFINED}),
    minimum_over=_NORMAL,
    no_minimum=FLOAT_MAX,
    symbol_score=SymbolScore.LENGTH,
    symbols_stay=True,
    splitting=Splitting.NEVER,
    normalization=Normalization.SENTENCEPIECE,
    fallback=Fallback.CHARACTERS,
    decoding=Decoding.SENTENCEPIECE,
    duplicates=False,
    finite_scores=True,
    text_only=False,
)

SENTENCEPIECE_0_2_1 = replace(
    SENTENCEPIECE,
    name="unigram.sentencepiece-0.2.1",
    engine="SentencePiece 0.2.1",
    # A symbol's score is computed in double, and by it that of every piece: candidates are
    # compared in double, and rounded only when stored.
    scores="float64",
    rebase_above=math.inf,
    symbol_score=SymbolScore.GREATEST,
    finite_scores=False,
)

LLAMA_CPP = Variant(
    name="unigram.llama-cpp",
    engine="llama.cpp (xllamacpp 2026.10.11549)",
    reading=Reading.BINARY,
    sums="float64",
    scores="float64",
    unknown="float32",
    rebase_above=math.inf,
    unreached=-DOUBLE_MAX,
    segmented=frozenset({PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED}),
    minimum_over=_NORMAL,
    no_minimum=FLOAT_MAX,
    symbol_score=SymbolScore.ZERO,
    symbols_stay=True,
    splitting=Splitting.LONGEST_FIRST,
    normalization=Normalization.LLAMA_CPP,
    fallback=Fallback.UNKNOWN,
    decoding=Decoding.LLAMA_CPP,
    duplicates=False,
    finite_scores=False,
    text_only=False,
)

LLAMA_CPP_FLOAT = replace(
    LLAMA_CPP,
    name="unigram.llama-cpp-float",
    engine="llama.cpp while best_tokenization::score_sum was a float",
    sums="float32",
    unreached=-FLOAT_MAX,
)

HUGGING_FACE = Variant(
    name="unigram.huggingface",
    engine="tokenizers 0.23.3",
    reading=Reading.SERDE_JSON,
    sums="float64",
    scores="float64",
    unknown="float64",
    rebase_above=math.inf,
    unreached=None,
    # Its model has no types: the text of a control or byte piece matches like any other.
    segmented=_EVERY,
    minimum_over=_EVERY,
    no_minimum=math.inf,
    symbol_score=SymbolScore.OWN,
    symbols_stay=False,
    splitting=Splitting.LEFTMOST_LONGEST,
    normalization=Normalization.HUGGING_FACE,
    fallback=Fallback.RUN,
    decoding=Decoding.HUGGING_FACE,
    duplicates=True,
    finite_scores=True,
    text_only=True,
)

VARIANTS = {
    variant.name: variant
    for variant in (
        SENTENCEPIECE,
        LLAMA_CPP,
        HUGGING_FACE,
        SENTENCEPIECE_0_2_1,
        LLAMA_CPP_FLOAT,
    )
}
"""All of them by name."""
