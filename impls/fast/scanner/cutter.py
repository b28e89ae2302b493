"""Cutting inputs into pieces, as the plain cutter does, by the scanner that is there for speed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from impls.fast.kernels.intrinsics import lacking
from impls.pretokenize.pieces import Cutter

if TYPE_CHECKING:
    from impls.pretokenize.pieces import Split


class FastCutter(Cutter):
    """Cuts by windows of bytes the patterns that have a scanner, where it can be compiled."""

    def _scanner_of(self, splits: tuple[str, ...]) -> Split | None:
        if lacking() is not None:
            return super()._scanner_of(splits)
        # Only here, so that nothing of it is needed where it cannot be compiled.
        from impls.fast.scanner.kernel import split_parts  # noqa: PLC0415
        from impls.pretokenize.scanners import scanner_of  # noqa: PLC0415

        rules = scanner_of(splits)
        return None if rules is None else partial(split_parts, rules)
