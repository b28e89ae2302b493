"""Plug-ins as a user writes them, which the gate must not pass: :mod:`.gate` has the table.

They are given to the gate by the path of this file, as those of a user are, so that nothing is
known of their inside.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from harness.studies.selftest.plain.bpe import SERVICES, PlainBpe
from impls.interface import Capability, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

ODD = "\u2581".encode()
"""A character that some treat otherwise, as is known and expected. It has a token in ``toy_bytes``,
which U+FEFF and unassigned code points have not."""

WRONG_ANSWERS = 60

LONGEST = 512
"""Bytes of a run from which on ``CubicOnRuns`` becomes no slower."""

CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d|"
"""With what the pattern of ``toy_bytes`` begins."""


class Right(PlainBpe):
    """Right: what the others are without their faults."""

    name = "gate.right"


class AnswersNothing(PlainBpe):
    """Raises Unsupported for every input."""

    name = "gate.answers-nothing"

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        raise Unsupported("not today")


class WrongOnce(PlainBpe):
    """Gives wrong answers, and Unsupported where it is asked again."""

    name = "gate.wrong-once"

    def prepare(self) -> None:
        super().prepare()
        self.wrong: set[tuple[bytes, str]] = set()

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        asked = data, mode.label
        if asked in self.wrong:
            raise Unsupported("not again")
        ids = super().encode(data, mode)
        if len(ids) > 2 and len(self.wrong) < WRONG_ANSWERS:
            self.wrong.add(asked)
            return ids[:-1]
        return ids


class LacksServices(PlainBpe):
    """Claims services, and has no method for any."""

    name = "gate.lacks-services"
    capabilities = SERVICES


class DeclinesServices(PlainBpe):
    """Claims services, and raises Unsupported for each."""

    name = "gate.declines-services"
    capabilities = SERVICES

    def count(self, *asked: Any) -> Any:
        """The answer to any request."""
        raise Unsupported("not yet")

    count_till_limit = split = append = prepend = interval = count


class UnmergedOdd(PlainBpe):
    """Encodes a character byte by byte: a known difference."""

    name = "gate.unmerged"

    def segment(self, piece: bytes) -> list[int]:
        first, *rest = (PlainBpe.segment(self, part) for part in piece.split(ODD))
        return [*first, *(i for part in rest for i in (*self.symbols(ODD), *part))]


class MasksContractions(UnmergedOdd):
    """Does not split contractions off words, beside the known difference."""

    name = "gate.masks-contractions"

    def read(self, vocabulary: Vocabulary) -> Vocabulary:
        splits = tuple(split.removeprefix(CONTRACTIONS) for split in vocabulary.splits)
        return replace(vocabulary, splits=splits)


class MasksSwappedMerges(UnmergedOdd):
    """Has two merges in the wrong order, beside the known difference."""

    name = "gate.masks-swapped-merges"

    def prepare(self) -> None:
        super().prepare()
        # An e with an accent is C3 A9: of two in a row, the bytes in the middle merge first now.
        one, other = (self.pair(token) for token in (b"\xc3\xa9", b"\xa9\xc3"))
        low, high = self.merges[one], self.merges[other]
        self.merges |= {one: (high[0], low[1]), other: (low[0], high[1])}

    def pair(self, token: bytes) -> tuple[int, int]:
        """The ids of the two bytes of a token."""
        return self.ids[token[:1]], self.ids[token[1:]]


class CubicOnRuns(PlainBpe):
    """Takes the cube of the longest run of one byte: no listed family of prose brings it out."""

    name = "gate.cubic-on-runs"

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        longest = max((len(list(run)) for _, run in groupby(data)), default=0)
        sum(range(min(longest, LONGEST) ** 3 // 8))
        return super().encode(data, mode)


class StreamsWrong(PlainBpe):
    """Takes text only, and streams "WRONG" for each id."""

    name = "gate.streams-wrong"
    text_only = True
    modes = ("text",)
    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.DECODE})

    def encode(self, text: str, mode: Mode) -> list[int]:  # type: ignore[override]
        return super().encode(text.encode(), mode)

    def decode(self, ids: Sequence[int]) -> str:  # type: ignore[override]
        return super().decode(ids).decode(errors="replace")

    def decode_stream(self, ids: Sequence[int]) -> list[str]:
        """See ``DecodesStreams``."""
        return ["WRONG" for _ in ids]
