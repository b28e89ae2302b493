"""Costs that grow faster than the text: everywhere, on some texts only, above a size only."""

from __future__ import annotations

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.growing import PlainBytes

ON = "toy_bytes"

STRIDE = 16
"""Bytes to each pass over the input: with them, the square is seen from a kilobyte on."""

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
