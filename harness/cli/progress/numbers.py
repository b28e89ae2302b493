"""How numbers of things are written."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """``1 finding``, ``2,000 findings``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
