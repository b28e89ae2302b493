"""The spellings of a vocabulary in order: which tokens begin with some bytes, and go on."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Spellings:
    """Tokens by their bytes."""

    def __init__(self, ids: Mapping[bytes, int]) -> None:
        found = sorted(ids.items())
        self._texts = [text for text, _ in found]
        self._ids = [token_id for _, token_id in found]
        self.longest = max(map(len, self._texts), default=1)
        """Bytes of the longest of them."""

    @cached_property
    def _begun(self) -> frozenset[bytes]:
        """All that some token begins with and goes on after."""
        return frozenset(text[:size] for text in self._texts for size in range(1, len(text)))

    def starts(self, text: bytes, first: int) -> list[int]:
        """The places of a text, from ``first`` on, at which a token may begin that goes on over its
        end: all others have no extensions, and are far more.
        """
        first = max(first, len(text) - self.longest + 1)
        begun = self._begun
        return [start for start in range(first, len(text)) if text[start:] in begun]

    def extensions(
        self, suffix: bytes, viable: Callable[[bytes], bool]
    ) -> Iterator[tuple[int, bytes]]:
        """The tokens that begin with ``suffix`` and go on with a viable e: (id, e), lazily.

        viable: whether something may go on with these bytes; asked for beginnings of e first.
        """
        low = bisect_left(self._texts, suffix)
        high = self._end(suffix, low, len(self._texts))
        yield from self._below(low, high, len(suffix), len(suffix), viable)

    def _end(self, head: bytes, low: int, high: int) -> int:
        """Where the texts that begin with ``head`` end, among those from ``low`` to ``high``."""
        kept = head.rstrip(b"\xff")
        if not kept:
            return high
        # The first bytes that are above all that begin with ``head``.
        return bisect_left(self._texts, kept[:-1] + bytes((kept[-1] + 1,)), low, high)

    def _below(
        self, low: int, high: int, depth: int, start: int, viable: Callable[[bytes], bool]
    ) -> Iterator[tuple[int, bytes]]:
        """The tokens ``low`` to ``high``, which share their first ``depth`` bytes."""
        texts = self._texts
        if low < high and len(texts[low]) == depth:
            if depth > start:
                yield self._ids[low], texts[low][start:]
            low += 1
        while low < high:
            head = texts[low][: depth + 1]
            end = self._end(head, low, high)
            if viable(head[start:]):
                yield from self._below(low, end, depth + 1, start, viable)
            low = end
