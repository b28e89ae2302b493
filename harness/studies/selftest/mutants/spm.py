"""Mistakes of SentencePiece BPE: order, white space, byte fallback, user-defined symbols."""

from __future__ import annotations

import re

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.spm import SPACE, PlainSpm

TOY = "toy_characters"
REAL = "mistral_v3"


@planted("equivalence", on=TOY, mode="text", stages=("merges",), shows=(b"K aba",))
class RightmostFirst(PlainSpm):
    """The best pair that stands furthest to the right is merged, even before a better one."""

    def priority(self, merged: str, place: int) -> tuple[float, int]:
        return -place, 0


@planted("equivalence", on=REAL, mode="text", stages=("merges",), shows=(b"aaaa",))
class LastTie(PlainSpm):
    """Of pairs of one score the rightmost is merged first."""

    def priority(self, merged: str, place: int) -> tuple[float, int]:
        return -self.scores[merged], -place


@planted("equivalence", on=TOY, mode="text", stages=("merges",), shows=(b"aba",))
class WorstFirst(PlainSpm):
    """The pair of the worst score is merged first: the sign is lost."""

    def priority(self, merged: str, place: int) -> tuple[float, int]:
        return self.scores[merged], place


@planted("equivalence", on=TOY, mode="text", stages=("white-space", "merges"), shows=(b"a",))
class NoDummySpace(PlainSpm):
    """The space that belongs before the text is missing."""

    def prefixed(self, text: str) -> str:
        return text


@planted("equivalence", on=TOY, mode="text", stages=("white-space", "merges"), shows=(b" a",))
class SpaceOnlyIfNone(PlainSpm):
    """The space is put before the text only if it does not begin with one."""

    def prefixed(self, text: str) -> str:
        return text if text.startswith(" ") else super().prefixed(text)


@planted("equivalence", on=TOY, mode="text", shows=(b"a  b",))
class MergesSpaces(PlainSpm):
    """Runs of spaces become one, which the vocabulary does not ask for."""

    def escaped(self, text: str) -> str:
        return super().escaped(re.sub(" +", " ", text))


@planted("equivalence", on=TOY, mode="text", shows=(b"a\tb",))
class TabsAreSpaces(PlainSpm):
    """Tabs are escaped like spaces."""

    def escaped(self, text: str) -> str:
        return super().escaped(text).replace("\t", SPACE)


@planted("equivalence", on=TOY, mode="text", stages=("byte-fallback",), shows=("\u20ac".encode(),))
class NoByteFallback(PlainSpm):
    """A character without a piece is unknown, although there are byte pieces."""

    def bytes_of(self, part: str) -> list[int]:
        return [self.unknown]


@planted("equivalence", on=TOY, mode="text", shows=("\u20ac".encode(),))
class FirstByteOnly(PlainSpm):
    """Of a character without a piece only the first byte is kept."""

    def bytes_of(self, part: str) -> list[int]:
        return super().bytes_of(part)[:1]


@planted("equivalence", on=TOY, mode="text", shows=("\u20ac".encode(),))
class BytesBackwards(PlainSpm):
    """The bytes of a character without a piece are in the wrong order."""

    def bytes_of(self, part: str) -> list[int]:
        return super().bytes_of(part)[::-1]


@planted("equivalence", on=REAL, mode="text", shows=(b"[REFERENCE_DOC_1]",))
class UsersMerge(PlainSpm):
    """User-defined symbols are not cut out: their characters merge as any others."""

    def symbols(self, text: str) -> list[str]:
        return list(text)


@planted("equivalence", on=TOY, mode="text", shows=("a\u0301".encode(),))
class DropsMarks(PlainSpm):
    """Combining marks are dropped."""

    def escaped(self, text: str) -> str:
        return super().escaped("".join(one for one in text if not "\u0300" <= one < "\u0370"))
