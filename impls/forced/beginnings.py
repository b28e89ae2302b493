"""The encodings of a text's beginnings, by the encoder itself, for merges in any order.

Where a token of an encoding ends no merge crossed, so that on the left of it every merge went as
it goes without the rest. Hence the tokens before any boundary of encode(y) are the encoding of that
beginning of y, whatever the order of the merges; likewise for the best path of unigram. A text x
that goes on keeps the encoding of x[:s], where s is its last boundary within x, and a token
x[s:] + e comes next, of which the encoding of x + e is the proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from impls.forced.futures import Token

    Encode = Callable[[Sequence[bytes]], list[tuple[Token, ...]]]
    Extension = Callable[[int], bytes | None]


class Tree(Protocol):
    """The beginnings of a text, each with its encoding, which a shorter one's begins."""

    @property
    def size(self) -> int:
        """Bytes of the whole text."""
        ...

    def common(self, one: int, other: int) -> int:
        """The longest beginning whose encoding both begin with."""
        ...

    def may_follow(self, length: int, token_id: int, extension: bytes) -> bool:
        """Whether the token, which ends with ``extension``, may follow that beginning."""
        ...


def surviving(tree: Tree, longest: int, extension: Extension) -> Iterator[tuple[int, bytes]]:
    """Beginnings that some future leaves, each lower than the one before, and what leads there.

    Besides the whole text. longest: bytes of the longest token. extension: bytes with which a
    token goes on from a beginning over the text's end, or None.
    """
    starts = range(max(0, tree.size - longest + 1), tree.size)
    reached = tree.size
    # Those first that leave least: nearly always one is enough.
    for start in sorted(starts, key=lambda start: (tree.common(tree.size, start), start)):
        if tree.common(reached, start) == reached:
            continue
        found = extension(start)
        if found is not None:
            reached = tree.common(reached, start)
            yield start, found


class Beginnings:
    """A tree of the beginnings that a token of at most ``longest`` bytes can go on from.

    encode: texts to tokens with their ends. Costs an encoding for each beginning.
    """

    def __init__(self, encode: Encode, text: bytes, longest: int) -> None:
        self._encode = encode
        self._text = text
        lengths = range(max(0, len(text) - longest + 1), len(text) + 1)
        encoded = encode([text[:length] for length in lengths])
        self._encodings = dict(zip(lengths, encoded, strict=True))
        self._extended: dict[bytes, tuple[Token, ...]] = {}

    @property
    def size(self) -> int:
        """See :class:`Tree`."""
        return len(self._text)

    def tokens(self, length: int) -> tuple[Token, ...]:
        """The encoding of a beginning."""
        return self._encodings[length]

    def encoding(self, length: int) -> tuple[int, ...]:
        """The ids of a beginning."""
        return tuple(token.id for token in self._encodings[length])

    def common(self, one: int, other: int) -> int:
        """See :class:`Tree`."""
        if one == other:
            return one
        mine, theirs = self._encodings[one], self._encodings[other]
        pairs = zip(mine, theirs, strict=False)
        shorter = min(len(mine), len(theirs))
        count = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
        length = mine[count - 1].end if count else 0
        self._encodings.setdefault(length, mine[:count])
        return length

    def may_follow(self, length: int, token_id: int, extension: bytes) -> bool:
        """See :class:`Tree`."""
        found = self._extended.get(extension)
        if found is None:
            [found] = self._encode([self._text + extension])
            self._extended[extension] = found
        before = self._encodings[length]
        return (
            len(found) == len(before) + 1
            and found[-1].id == token_id
            and found[-2:-1] == before[-1:]
        )
