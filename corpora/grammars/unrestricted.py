"""The language of all byte strings."""

from __future__ import annotations

from dataclasses import dataclass

from corpora.grammars.base import Grammar

_ALL_BYTES = tuple(range(256))


@dataclass(frozen=True, slots=True)
class Unrestricted(Grammar):
    """Every byte string, valid UTF-8 or not: nothing is forced, and everywhere may be the end."""

    def forced(self) -> bytes:
        """Nothing."""
        return b""

    def viable(self, data: bytes) -> bool:
        """True for any bytes."""
        return True

    def after(self, data: bytes) -> Unrestricted:
        """The same."""
        return self

    @property
    def complete(self) -> bool:
        """True."""
        return True

    def next_bytes(self) -> tuple[int, ...]:
        """All 256."""
        return _ALL_BYTES

    def sentences(self, most: int) -> None:
        """None: there are infinitely many."""
        return None
