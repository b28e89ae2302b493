"""Mistakes of unigram: sums, ties, unknown pieces, symbols; and of SentencePiece's normalizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain.base import Plain, longest_first
from harness.studies.selftest.plain.unigram import PlainUnigram
from impls.unigram import variants
from impls.unigram.viterbi import ENGINES, Implementation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.unigram.variants import Variant

__all__ = ["first_by_characters", "longest_first"]  # for the changed texts


class Compiled(Plain):
    """The compiled encoder, whose normalizer is what a mistake changes."""

    modes = ("text",)
    variant: ClassVar[Variant] = variants.SENTENCEPIECE
    normalizer: ClassVar[dict[str, object]] = {}

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """Unigram."""
        return None if vocabulary.algorithm == "unigram" else "unigram only"

    def read(self, vocabulary: Vocabulary) -> Vocabulary:
        """With another normalizer."""
        spec = replace(vocabulary.normalizer, **self.normalizer)  # type: ignore[arg-type]
        return replace(vocabulary, normalizer=spec)

    def prepare(self) -> None:
        """Compile, or find what was compiled."""
        # Who a variant is compared with is looked up by it: a changed one is nobody's.
        ENGINES.setdefault(self.variant, "")
        self.compiled = Implementation(self.variant).load(self.vocabulary)

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids."""
        return self.compiled.encode(data, mode)


toy = Mutant("equivalence", "toy_unigram", PlainUnigram, "text")
real = replace(toy, vocabulary="unigram_bytes")
nfkc = Mutant("equivalence", "unigram_nfkc", Compiled, "text")

PARTS = "self.parts(self.normalized(data))"
TEXT = "self.compiled.encode(data, mode)"


def first_by_characters(encoder: PlainUnigram, text: str) -> list[str]:
    """The parts, but for a first word with others after it, which is cut into characters."""
    first, space, rest = text[1:].partition("\u2581")
    if not space or text[:1] != "\u2581":
        return encoder.parts(text)
    return ["\u2581", *first, *encoder.parts(space + rest)]


MUTANTS = (
    replace(toy, stages=("tie",))(
        "last-tie", "Of equal sums the later candidate wins.",
        b"ab", "total > known", "total >= known",
    ),
    replace(real, check="chunks", stages=("chunks",))(
        "first-word-by-characters",
        "The first word of a text that has others is cut into characters.",
        b"and the", PARTS, "first_by_characters(self, self.normalized(data))",
    ),
    replace(real, stages=("scores",))(
        "longest-match", "From the left, the longest piece again and again, whatever its score.",
        "\u6642\u5927".encode(), PARTS,
        "longest_first(self.normalized(data), self.scores, self.longest)",
    ),
    replace(real, stages=("scores", "tie"))(
        "short-window", "Pieces of more than six characters are not tried.",
        b" murmustfu", "max(map(len, self.ids), default=1)", "6",
    ),
    toy(
        "unknowns-apart", "Each unknown character is a token of its own.",
        b"xy", "elif not unknown:", "else:",
    ),
    toy(
        "free-unknown", "An unknown character costs nothing.",
        "\u65e5\u672c".encode(), "float32(min(normal) - UNKNOWN_PENALTY)", "0.0",
    ),
    toy(
        "users-by-score",
        "User-defined symbols are punished where they should be preferred: the sign is lost.",
        b"cab", "float32(0.1 * (len(user.encode()) - 1))",
        "-20.0 - float32(0.1 * (len(user.encode()) - 1))",
    ),
    replace(real, stages=("byte-fallback",))(
        "no-byte-fallback",
        "A character without a piece is unknown, although there are byte pieces.",
        "\u20ac".encode(), "[self.byte_ids[byte] for byte in part.encode()]", "[self.unknown]",
    ),
    nfkc(
        "no-charsmap", "The charsmap is not applied.",
        "\ufb01".encode(), normalizer={"charsmap": None},
    ),
    nfkc(
        "keeps-spaces", "Doubled spaces are kept.",
        b"a  b", normalizer={"remove_extra_whitespaces": False},
    ),
    nfkc(
        "no-dummy-space", "The space that belongs before the text is missing.",
        b"a", normalizer={"add_dummy_prefix": False},
    ),
    nfkc(
        "space-behind", "The space is put behind the text.",
        b"a", normalizer={"treat_whitespace_as_suffix": True},
    ),
    nfkc(
        "symbols-normalized", "User-defined symbols are normalized like any other text.",
        "e\u0301".encode(), variant=replace(variants.SENTENCEPIECE, symbols_stay=False),
    ),
    nfkc(
        "ends-at-nul", "The text ends at its first NUL.",
        b"a\0b", TEXT, r"self.compiled.encode(data.partition(b'\0')[0], mode)",
    ),
    nfkc(
        "drops-invalid", "Bytes that are not UTF-8 are dropped, not replaced.",
        b"a\xff", TEXT, "self.compiled.encode(data.decode(errors='ignore').encode(), mode)",
    ),
    nfkc(
        "loses-unknown-mark",
        "The mark that stands for an unknown token in decoded text is dropped when it comes back.",
        "a \u2047 b".encode(), TEXT,
        r"self.compiled.encode(data.replace('\u2047'.encode(), b''), mode)",
    ),
)  # fmt: skip
