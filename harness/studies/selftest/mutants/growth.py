"""Costs that grow faster than the text: everywhere, on some texts only, above a size only.

And memory: that is taken while an input is encoded, and that is left behind. And costs that grow
with something else than the text: special tokens, texts in a batch, ids, tokens of the vocabulary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.growing import ABSENT, PlainBytes, PlainGrowing

if TYPE_CHECKING:
    from impls.interface import Mode

ON = "toy_bytes"

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
