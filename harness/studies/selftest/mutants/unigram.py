"""Mistakes of unigram: sums, ties, unknown pieces, symbols; and of SentencePiece's normalizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import Algorithm
from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.base import Plain, longest_first
from harness.studies.selftest.plain.pieces import PlainUnigram
from impls.unigram import variants
from impls.unigram.viterbi import Implementation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

__all__ = ["first_by_characters", "longest_first"]  # for the changed texts


class Compiled(Plain):
    """The compiled encoder, whose normalizer is what a mistake changes."""

    modes = ("text",)
    variant = variants.SENTENCEPIECE

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """Unigram."""
        return None if vocabulary.algorithm is Algorithm.UNIGRAM else "unigram only"

    def prepare(self) -> None:
        """Compile, or find what was compiled."""
        self.compiled = Implementation(self.variant).load(self.vocabulary)

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids."""
        return self.compiled.encode(data, mode)


def normalizer(**fields: object) -> dict[str, Any]:
    """A change of the vocabulary's normalizer."""

    def read(_: Compiled, vocabulary: Vocabulary) -> Vocabulary:
        spec = replace(vocabulary.normalizer, **fields)  # type: ignore[arg-type]
        return replace(vocabulary, normalizer=spec)

    return {"read": read}


def first_by_characters(encoder: PlainUnigram, text: str) -> list[str]:
    """The parts, but for a first word with others after it, which is cut into characters."""
    first, space, rest = text[1:].partition("\u2581")
    if not space or text[:1] != "\u2581":
        return encoder.parts(text)
    return ["\u2581", *first, *encoder.parts(space + rest)]


toy = Mutant("equivalence", "toy_unigram", PlainUnigram, "text")
real = Mutant(
    "equivalence", "unigram_bytes", PlainUnigram, "text", at="self.parts(self.normalized(data))"
)
nfkc = Mutant(
    "equivalence", "unigram_nfkc", Compiled, "text", at="self.compiled.encode(data, mode)"
)

MUTANTS = (
    toy(
        "last-tie", "Of equal sums the later candidate wins.",
        b"ab", "score > held", "score >= held", stage="tie",
    ),
    real(
        "first-word-by-characters",
        "The first word of a text that has others is cut into characters.",
        b"and the", "first_by_characters(self, self.normalized(data))",
        check="chunks", stage="chunks",
    ),
    real(
        "longest-match", "From the left, the longest piece again and again, whatever its score.",
        "\u6642\u5927".encode(), "longest_first(self.normalized(data), self.vocab, 99)",
        stage="scores",
    ),
    real(
        "short-window", "Pieces of more than six characters are not tried.",
        b" murmustfu", "while end <= len(piece)", "while end <= min(len(piece), start + 6)",
        stage="scores tie",
    ),
    toy(
        "unknowns-apart", "Each unknown character is a token of its own.",
        b"xy", "elif not unknown:", "else:",
    ),
    toy(
        "free-unknown", "An unknown character costs nothing.",
        "\u65e5\u672c".encode(), "np.float32(min(normal) - PENALTY)", "0.0",
    ),
    toy(
        "users-by-score",
        "User-defined symbols are punished where they should be preferred: the sign is lost.",
        b"cab", "0.1 * (len(user.encode()) - 1)", "-20.0 - @",
    ),
    real(
        "no-byte-fallback",
        "A character without a piece is unknown, although there are byte pieces.",
        "\u20ac".encode(), "[self.byte_ids[byte] for byte in part.encode()]", "[self.unknown]",
        stage="byte-fallback",
    ),
    nfkc(
        "no-charsmap", "The charsmap is not applied.",
        "\ufb01".encode(), **normalizer(charsmap=None),
    ),
    nfkc(
        "keeps-spaces", "Doubled spaces are kept.",
        b"a  b", **normalizer(remove_extra_whitespaces=False),
    ),
    nfkc(
        "no-dummy-space", "The space that belongs before the text is missing.",
        b"a", **normalizer(add_dummy_prefix=False),
    ),
    nfkc(
        "space-behind", "The space is put behind the text.",
        b"a", **normalizer(treat_whitespace_as_suffix=True),
    ),
    nfkc(
        "symbols-normalized", "User-defined symbols are normalized like any other text.",
        "e\u0301".encode(), variant=replace(variants.SENTENCEPIECE, symbols_stay=False),
    ),
    nfkc(
        "ends-at-nul", "The text ends at its first NUL.",
        b"a\0b", r"self.compiled.encode(data.partition(b'\0')[0], mode)",
    ),
    nfkc(
        "drops-invalid", "Bytes that are not UTF-8 are dropped, not replaced.",
        b"a\xff", "self.compiled.encode(data.decode(errors='ignore').encode(), mode)",
    ),
    nfkc(
        "loses-unknown-mark",
        "The mark that stands for an unknown token in decoded text is dropped when it comes back.",
        "a \u2047 b".encode(),
        r"self.compiled.encode(data.replace('\u2047'.encode(), b''), mode)",
    ),
)  # fmt: skip
