"""The encodings of a text's beginnings, by the encoder itself, for merges in any order.

Where a token of an encoding ends no merge crossed, so that on the left of it every merge went as
it goes without the rest. Hence the tokens before any boundary of encode(y) are the encoding of that
beginning of y, whatever the order of the merges; likewise for the best path of unigram. A text x
that goes on keeps the encoding of x[:s], where s is its last boundary within x, and a token
x[s:] + e comes next, of which the encoding of x + e is the proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from impls.forced.futures import behind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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


class TokenTree(Tree, Protocol):
    """A tree that knows where tokens end."""

    @property
    def starts(self) -> Sequence[int]:
        """The beginnings from which a token may reach over the text's end."""
        ...

    def tokens(self, length: int, start: int = 0) -> tuple[Token, ...]:
        """The encoding of a beginning; those of its tokens behind the boundary ``start`` only."""
        ...


def surviving(
    tree: Tree, starts: Iterable[int], extension: Extension
) -> Iterator[tuple[int, bytes]]:
    """Beginnings that some future leaves, each lower than the one before, and what leads there.

    Besides the whole text. starts: the beginnings from which a token may reach over the text's
    end. extension: the bytes beyond it with which one goes on from there, or None.
    """
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
    """The tree of some beginnings of a text.

    encode: texts to tokens with their ends. starts: lengths of beginnings, besides the whole text;
    each costs an encoding.
    """

    def __init__(self, encode: Encode, text: bytes, starts: Iterable[int]) -> None:
        self._encode = encode
        self._text = text
        self.starts = tuple(starts)
        lengths = [*self.starts, len(text)]
        encoded = encode([text[:length] for length in lengths])
        self._encodings = dict(zip(lengths, encoded, strict=True))
        self._extended: dict[bytes, tuple[Token, ...]] = {}

    @property
    def size(self) -> int:
        """See :class:`Tree`."""
        return len(self._text)

    def tokens(self, length: int, start: int = 0) -> tuple[Token, ...]:
        """See :class:`TokenTree`."""
        return behind(self._encodings[length], start)

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
