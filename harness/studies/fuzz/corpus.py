"""Inputs that showed something new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

LONGEST = 4096
"""Bytes of an input that may join: what a longer one shows, a part of it mostly shows, too, and
long inputs are other generators' job."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An input of the corpus, and by whom it was made."""

    data: bytes
    origin: str


class Corpus:
    """The entries in the order in which they joined, each input once."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._known = {entry.data for entry in entries}

    def join(self, entry: Entry) -> bool:
        """Take an entry in, unless it is too long, empty, or there."""
        if not 0 < len(entry.data) <= LONGEST or entry.data in self._known:
            return False
        self._known.add(entry.data)
        self.entries.append(entry)
        return True

    def parent(self, rng: random.Random) -> bytes:
        """An entry to mutate. The newest is drawn twice as often as one in the middle, since those
        that are older had their turns before it joined; none is left out for ever."""
        return self.entries[int(len(self.entries) * rng.random() ** 0.5)].data
