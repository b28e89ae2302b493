"""Mistakes of unigram: sums, ties, unknown pieces, symbols; and of SentencePiece's normalizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.base import Plain
from harness.studies.selftest.plain.unigram import UNKNOWN_PENALTY, PlainUnigram
from impls.unigram import variants
from impls.unigram.viterbi import ENGINES, Implementation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.unigram.variants import Variant

TOY = "toy_unigram"
BYTES = "unigram_bytes"
NFKC = "unigram_nfkc"
EURO = "\u20ac".encode()


@planted("equivalence", on=TOY, mode="text", stages=("tie",), shows=(b"ab",))
class LastTie(PlainUnigram):
    """Of equal sums the later candidate wins."""

    def better(self, total: float, known: float) -> bool:
        return total >= known


@planted("chunks", on=BYTES, mode="text", stages=("chunks",), shows=(b"and the",))
class FirstWordByCharacters(PlainUnigram):
    """The first word of a text that has others is cut into characters."""

    def segmented(self, text: str) -> list[str]:
        first, space, rest = text[1:].partition("\u2581")
        if not space or text[:1] != "\u2581":
            return super().segmented(text)
        return ["\u2581", *first, *super().segmented(space + rest)]


@planted("equivalence", on=BYTES, mode="text", stages=("scores",), shows=("\u6642\u5927".encode(),))
class LongestMatch(PlainUnigram):
    """From the left, the longest piece again and again, whatever its score."""

    def segmented(self, text: str) -> list[str]:
        parts = []
        start = 0
        while start < len(text):
            end = min(len(text), start + self.longest)
            while end > start + 1 and text[start:end] not in self.scores:
                end -= 1
            parts.append(text[start:end])
            start = end
        return parts


@planted("equivalence", on=BYTES, mode="text", stages=("scores", "tie"), shows=(b" murmustfu",))
class ShortWindow(PlainUnigram):
    """Pieces of more than six characters are not tried."""

    def longest_piece(self) -> int:
        return 6


@planted("equivalence", on=TOY, mode="text", shows=(b"xy",))
class UnknownsApart(PlainUnigram):
    """Each unknown character is a token of its own."""

    joins_unknown = False


@planted("equivalence", on=TOY, mode="text", shows=("\u65e5\u672c".encode(),))
class FreeUnknown(PlainUnigram):
    """An unknown character costs nothing."""

    def least(self) -> float:
        return UNKNOWN_PENALTY


@planted("equivalence", on=TOY, mode="text", shows=(b"cab",))
class UsersByScore(PlainUnigram):
    """User-defined symbols are punished where they should be preferred: the sign is lost."""

    def user_score(self, text: str) -> float:
        return -20.0 - super().user_score(text)


@planted(
    "equivalence", on=BYTES, mode="text", stages=("byte-fallback",), shows=("\u20ac".encode(),)
)
class NoByteFallback(PlainUnigram):
    """A character without a piece is unknown, although there are byte pieces."""

    def bytes_of(self, part: str) -> list[int]:
        return [self.unknown]


class Changed(Plain):
    """The compiled encoder with another variant, or another normalizer."""

    modes = ("text",)
    variant: ClassVar[Variant] = variants.SENTENCEPIECE
    normalizer: ClassVar[dict[str, object]] = {}

    def runs(self, vocabulary: Vocabulary) -> str | None:
        return None if vocabulary.algorithm == "unigram" else "unigram only"

    def prepare(self) -> None:
        spec = replace(self.vocabulary.normalizer, **self.normalizer)  # type: ignore[arg-type]
        # Who a variant is compared with is looked up by it: a changed one is nobody's.
        ENGINES.setdefault(self.variant, "")
        changed = replace(self.vocabulary, normalizer=spec)
        self.right = Implementation(self.variant).load(changed)

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        return self.right.encode(self.rewritten(data), mode)

    def rewritten(self, data: bytes) -> bytes:
        """The text that is encoded."""
        return data


@planted("equivalence", on=NFKC, mode="text", shows=("\ufb01".encode(),))
class NoCharsmap(Changed):
    """The charsmap is not applied."""

    normalizer: ClassVar[dict[str, object]] = {"charsmap": None}


@planted("equivalence", on=NFKC, mode="text", shows=(b"a  b",))
class KeepsSpaces(Changed):
    """Doubled spaces are kept."""

    normalizer: ClassVar[dict[str, object]] = {"remove_extra_whitespaces": False}


@planted("equivalence", on=NFKC, mode="text", shows=(b"a",))
class NoDummySpace(Changed):
    """The space that belongs before the text is missing."""

    normalizer: ClassVar[dict[str, object]] = {"add_dummy_prefix": False}


@planted("equivalence", on=NFKC, mode="text", shows=(b"a",))
class SpaceBehind(Changed):
    """The space is put behind the text."""

    normalizer: ClassVar[dict[str, object]] = {"treat_whitespace_as_suffix": True}


@planted("equivalence", on=NFKC, mode="text", shows=("e\u0301".encode(),))
class SymbolsNormalized(Changed):
    """User-defined symbols are normalized like any other text."""

    variant = replace(variants.SENTENCEPIECE, symbols_stay=False)


@planted("equivalence", on=NFKC, mode="text", shows=(b"a\0b",))
class EndsAtNul(Changed):
    """The text ends at its first NUL."""

    def rewritten(self, data: bytes) -> bytes:
        return data.partition(b"\0")[0]


@planted("equivalence", on=NFKC, mode="text", shows=(b"a\xff",))
class DropsInvalid(Changed):
    """Bytes that are not UTF-8 are dropped, not replaced."""

    def rewritten(self, data: bytes) -> bytes:
        return data.decode(errors="ignore").encode()


@planted("equivalence", on=NFKC, mode="text", shows=("a \u2047 b".encode(),))
class LosesUnknownMark(Changed):
    """The mark that stands for an unknown token in decoded text is dropped when it comes back."""

    def rewritten(self, data: bytes) -> bytes:
        return data.replace("\u2047".encode(), b"")
