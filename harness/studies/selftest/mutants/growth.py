"""Costs that grow faster than the text: everywhere, on some texts only, above a size only.

And memory: that is taken while an input is encoded, and that is left behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.growing import PlainBytes

if TYPE_CHECKING:
    from impls.interface import Mode

ON = "toy_bytes"

STRIDE = 16
"""Bytes to each pass over the input: with them, the square is seen from a kilobyte on."""

HELD = 1024
"""Bytes that ``HoldsMegabytes`` takes for each byte: 1 MiB for each KiB."""

LEFT = 2 << 10
"""Bytes that ``LeavesBehind`` keeps of each input."""

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
