"""The vocabularies of a run that no session has begun yet, and which of them a pool takes next.

To start an implementation costs most of a second of a processor, and each pool of workers starts
those that it needs. So a pool keeps to the algorithms that it has begun with, as far as the others
have enough to do: then few implementations are started twice.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Unvisited:
    """Vocabularies in the order in which they matter. Thread-safe.

    algorithm: of a vocabulary by its name, or None where that is not known before it is loaded.
    weight: the part of the time that a vocabulary gets beside the others.
    """

    def __init__(
        self,
        sources: Iterable[str],
        algorithm: Callable[[str], str | None],
        weight: Callable[[str], float] = lambda source: 1.0,
    ) -> None:
        self._left = list(sources)
        self._algorithm = algorithm
        self._weight = weight
        self._takers: dict[str, int] = {}
        """Who was the first to take a vocabulary of each algorithm."""
        self._lock = threading.Lock()

    def take(self, taker: int) -> str | None:
        """The vocabulary for a pool to do next, or None if there is no more.

        taker: the pool's number. It is the first vocabulary of an algorithm that no other pool has
        begun with, or else the first of all: nobody is idle while there is something to do. A small
        vocabulary is not passed over for a larger one that comes behind it.
        """
        with self._lock:
            if not self._left:
                return None
            most = self._weight(self._left[0])
            as_small = (one for one in self._left if self._weight(one) <= most)
            own = (one for one in as_small if self._taker(one) in (None, taker))
            chosen = next(own, self._left[0])
            self._left.remove(chosen)
            kind = self._algorithm(chosen)
            if kind is not None:
                self._takers.setdefault(kind, taker)
            return chosen

    def _taker(self, source: str) -> int | None:
        """Who has begun with the algorithm of a vocabulary."""
        kind = self._algorithm(source)
        return None if kind is None else self._takers.get(kind)
