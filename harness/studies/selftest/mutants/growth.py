"""Costs that grow faster than the text: everywhere, on some texts only, above a size only.

And memory: that is taken while an input is encoded, and that is left behind. And costs that grow
with something else than the text: special tokens, texts in a batch, ids, tokens of the vocabulary.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe
from harness.studies.selftest.plain.growing import ABSENT, PlainBytes, PlainGrowing

if TYPE_CHECKING:
    from impls.interface import Mode

ON = "toy_bytes"

MERGING = "tekken_240718"
"""A vocabulary with merges of everything: runs of one byte, newlines, words."""

SPECIAL = "tekken_240911"
"""A vocabulary that has special tokens, each of which begins with ``<`` or ``[``."""

STRIDE = 16
"""Bytes to each pass over the input: with them, the square is seen from a kilobyte on."""

HELD = 1024
"""Bytes that ``HoldsMegabytes`` takes for each byte: 1 MiB for each KiB."""

LEFT = 2 << 10
"""Bytes that ``LeavesBehind`` keeps of each input."""

LOADED = 4
"""Tokens to each pass of ``SquareInLoading``: a second for 30,000 tokens."""

LARGE = 8 << 10
"""Bytes up to which ``SquareWhenLarge`` is linear."""


@planted("scaling", on=ON)
class Square(PlainBytes):
    """Goes over its input once for every so many bytes of it."""

    def passes(self, data: bytes) -> int:
        return len(data) // STRIDE


@planted("scaling", on=ON)
class SquareOnRuns(PlainBytes):
    """Likewise, where all bytes are alike."""

    def passes(self, data: bytes) -> int:
        return len(data) // STRIDE if len(set(data)) == 1 else 1


@planted("scaling", on=ON)
class SquareWhenLarge(PlainBytes):
    """Likewise, above 8 KiB: a table that is searched from its beginning."""

    def passes(self, data: bytes) -> int:
        return max(0, len(data) - LARGE) // STRIDE


@planted("scaling", on=ON)
class SquareOnSpaces(PlainBytes):
    """Each white space looks at all that come after it: a pattern that backtracks."""

    def passes(self, data: bytes) -> int:
        return sum(data.count(space) for space in (b" ", b"\n", b"\t")) // STRIDE


@planted("scaling", on=ON)
class PowerOfOneAndAHalf(PlainBytes):
    """Grows with the power 1.5: a list searched in blocks of its root."""

    def passes(self, data: bytes) -> int:
        return 4 * int(len(data) ** 0.5)


BRACKET = b"["

FEW_NEWLINES = 16
"""Newlines in a piece up to which ``RescansNewlines`` is right."""


@planted("scaling", on=ON)
class ExponentialOnBrackets(PlainBytes):
    """Tries twice as much for every other bracket of a run that is never closed."""

    def passes(self, data: bytes) -> int:
        run = len(data) - len(data.rstrip(BRACKET))
        return 1 << run // 2


@planted("scaling", on=ON)
class CopiesForEachCharacter(PlainBytes):
    """Copies the normalized text for each of its characters."""

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        return [list(data)[place] for place in range(len(data))]


@planted("scaling", on=ON)
class KeepsAnswers(PlainBytes):
    """Keeps the answers to all texts, and a square is inside."""

    def prepare(self) -> None:
        self.known: dict[bytes, list[int]] = {}

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        if data not in self.known:
            self.known[data] = super().encode(data, mode)
        return self.known[data]

    def passes(self, data: bytes) -> int:
        return len(data) // STRIDE


class Rescanning(PlainBpe):
    """Finds each merge by a scan of the whole piece, where ``rescans`` says so."""

    modes = ("text",)
    max_input = None

    def rescans(self, piece: bytes) -> bool:
        """Whether this piece is scanned."""
        raise NotImplementedError

    def merge(self, piece: bytes) -> list[int]:
        """As by the heap."""
        if not self.rescans(piece):
            return super().merge(piece)
        symbols = self.symbols(piece)
        while found := [
            (self.merges[pair], place)
            for place, pair in enumerate(pairwise(symbols))
            if pair in self.merges
        ]:
            (_, merged), place = min(found)
            symbols[place : place + 2] = [merged]
        return symbols


@planted("scaling", on=MERGING, mode="text")
class Rescans(Rescanning):
    """Scans the whole piece for each merge."""

    def rescans(self, piece: bytes) -> bool:
        return True


@planted("scaling", on=MERGING, mode="text")
class RescansRuns(Rescanning):
    """Scans the whole piece for each merge, in runs of one byte."""

    def rescans(self, piece: bytes) -> bool:
        return len(set(piece)) == 1


@planted("scaling", on=MERGING, mode="text")
class RescansNewlines(Rescanning):
    """Scans the whole piece for each merge, where it has many newlines."""

    def rescans(self, piece: bytes) -> bool:
        return piece.count(b"\n") > FEW_NEWLINES


@planted("scaling", on=ON)
class HoldsMegabytes(PlainBytes):
    """Takes 1 MiB for each KiB of its input, and gives it back: a matrix in place of a row."""

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        taken = b"\x01" * (HELD * len(data))
        return super().encode(data[: len(taken)], mode)


@planted("scaling", on=ON)
class LeavesBehind(PlainBytes):
    """Keeps 2 KiB of each input that nobody will ask for: a log of calls."""

    def prepare(self) -> None:
        super().prepare()
        self.log: list[bytes] = []

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        self.log.append(b"\x01" * LEFT)
        return super().encode(data, mode)


@planted("scaling", on=SPECIAL, mode="special")
class SquareInSpecials(PlainGrowing):
    """Looks for the next special token from the beginning of the text, for each of them."""

    def passes(self, data: bytes) -> int:
        return data.count(b"<") + data.count(b"[")


@planted("scaling", on=ON)
class SquareInBatch(PlainGrowing):
    """Joins what it has so far for each text of a batch."""

    def batch_passes(self, count: int) -> int:
        return count


@planted("scaling", on=ON)
class SquareInDecoding(PlainGrowing):
    """Joins what it has so far for each id."""

    def decode_passes(self, count: int) -> int:
        return STRIDE * count


@planted("scaling", on=ON)
class SquareInLoading(PlainGrowing):
    """Looks for each token among all that come before it."""

    def prepare(self) -> None:
        super().prepare()
        whole = b"".join(token or b"" for token in self.vocabulary.tokens)
        for _ in range(len(self.vocabulary) // LOADED):
            whole.count(ABSENT)
