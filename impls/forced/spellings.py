"""The spellings of a vocabulary in order: which tokens begin with some bytes, and go on."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from impls.forced.characters import anything

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Spellings:
    """Tokens by their bytes."""

    def __init__(self, ids: Mapping[bytes, int]) -> None:
        self._ids = dict(sorted(ids.items()))
        self._texts = list(self._ids)
        self.longest = max(map(len, self._texts), default=1)
        """Bytes of the longest of them."""

    def __contains__(self, text: bytes) -> bool:
        return text in self._ids

    def starts(self, text: bytes) -> list[int]:
        """The places of a text at which a token may begin that goes on over its end."""
        first = max(0, len(text) - self.longest + 1)
        return [at for at in range(first, len(text)) if any(self.extensions(text[at:]))]

    def extensions(
        self, suffix: bytes, viable: Callable[[bytes], bool] = anything
    ) -> Iterator[tuple[int, bytes]]:
        """The tokens that begin with ``suffix`` and go on with a viable e: (id, e), lazily.

        viable: whether something may go on with these bytes; asked for beginnings of e first.
        """
        texts, start = self._texts, len(suffix)
        at = bisect_right(texts, suffix)
        while at < len(texts) and (text := texts[at]).startswith(suffix):
            sizes = range(start + 1, len(text) + 1)
            wrong = next((size for size in sizes if not viable(text[start:size])), None)
            if wrong is None:
                yield self._ids[text], text[start:]
                at += 1
            else:  # nor do the others that begin so
                head = text[:wrong]
                at = bisect_right(texts, head, at, key=itemgetter(slice(wrong)))
