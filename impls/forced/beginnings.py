"""What a text keeps of its tokens when it goes on: the encodings of its beginnings.

Where a token of an encoding ends no merge crossed, so that on the left of it every merge went as
it goes without the rest. Hence the tokens before any boundary of encode(y) are the encoding of that
beginning of y, whatever the order of the merges; likewise for the best path of unigram. A text x
that goes on keeps the encoding of x[:s], where s is its last boundary within x, and a token
x[s:] + e comes next, of which the encoding of x + e is the proof. So what all futures have in
common is what the encoding of x shares with those of x[:s], for all s that some future leaves
(docs/algorithms.md, section 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.forced.futures import shared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from impls.forced.futures import Token
    from impls.forced.spellings import Spellings

    Encode = Callable[[Sequence[bytes]], list[tuple[Token, ...]]]


class Beginnings:
    """The encodings of a text, and of its beginnings after which a token may reach over its end.

    encode: texts to tokens with their ends.
    """

    def __init__(self, encode: Encode, text: bytes, spellings: Spellings) -> None:
        self._encode, self._text, self._spellings = encode, text, spellings
        starts = spellings.starts(text)
        self.whole, *encoded = encode([text, *(text[:start] for start in starts)])
        kept = (
            (shared(self.whole, one), start, one)
            for start, one in zip(starts, encoded, strict=True)
        )
        self._losing = sorted(one for one in kept if one[0] < len(self.whole))
        """The beginnings with which tokens are lost, those first that leave least."""
        self._extended: dict[bytes, tuple[Token, ...]] = {}

    def lowest(self, viable: Callable[[bytes], bool]) -> tuple[tuple[Token, ...], bytes] | None:
        """The encoding of a beginning that some future leaves, and the bytes that lead there.

        It is one that leaves least of the whole text's tokens; None if all futures keep these.
        viable: whether the text may go on with some bytes.
        """
        for _, start, before in self._losing:
            for token_id, e in self._spellings.extensions(self._text[start:], viable):
                after = self._after(e)
                if (
                    len(after) == len(before) + 1
                    and after[-1].id == token_id
                    and after[-2:-1] == before[-1:]
                ):
                    return before, e
        return None

    def _after(self, extension: bytes) -> tuple[Token, ...]:
        """The encoding of the text with more bytes."""
        if extension not in self._extended:
            [self._extended[extension]] = self._encode([self._text + extension])
        return self._extended[extension]
