"""Bytes of tokens and characters: which tokens begin with some bytes, and go on; where characters
are cut off."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def anything(_: bytes) -> bool:
    """The test of a grammar that admits whatever comes."""
    return True


def whole_characters(data: bytes) -> int:
    """Where the last whole UTF-8 character of ``data`` ends, if only its end is cut off."""
    end = len(data)
    for back in range(1, min(4, end) + 1):
        lead = data[end - back]
        if lead & 0xC0 == 0x80:
            continue
        size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        return end if size <= back else end - back
    return end


def cut_off(data: bytes) -> int:
    """How many bytes at the front end a character that began before."""
    size = 0
    while size < min(3, len(data)) and data[size] & 0xC0 == 0x80:
        size += 1
    return size


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
