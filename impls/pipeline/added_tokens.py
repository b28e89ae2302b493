"""Added tokens: what is found in a text before anything else happens to it, or once normalized."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import regex

from impls.interface import Unsupported
from impls.pipeline.characters import UNSETTLED, WHITE_SPACE
from impls.pipeline.errors import Undefined
from impls.pretokenize.unicode_version import as_of_unicode_16

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import AddedToken

COLLIDING = "two added tokens of one text, of which either may be found"
"""Why a file has no definition, and no two loads of it need be alike: the library keeps the tokens
that it finds in the normalized text in a table of random order."""

_WORD = regex.compile(r"\w")


class AddedTokens:
    """Tokens that are looked for in one go: the leftmost, and of these the longest.

    spelled: what is looked for, of each token. One that is not wanted stays text, and still hides
    another that begins in it.
    """

    def __init__(self, tokens: Sequence[AddedToken], spelled: Callable[[str], str]) -> None:
        self._tokens: dict[str, AddedToken] = {}
        for token in tokens:
            text = spelled(token.text)
            if not text:
                raise Undefined("an added token of which normalization leaves nothing")
            edges = token.text[0] in WHITE_SPACE or token.text[-1] in WHITE_SPACE
            if edges and (token.lstrip or token.rstrip):
                raise Undefined("an added token with white space at its edges that takes more")
            if text in self._tokens:
                raise Undefined(COLLIDING)
            self._tokens[text] = token
        longest_first = sorted(self._tokens, key=len, reverse=True)
        self._found = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def parts(self, text: str, specials: bool) -> Iterator[tuple[int, str, int | None]]:
        """The parts of a text: where each begins, what it is, and its id if it is a token."""
        position = 0
        for match in self._found.finditer(text):
            token = self._tokens[match.group()]
            start, end = match.span()
            if token.special and not specials:
                continue
            if token.single_word and not _alone(text, start, end):
                continue
            if token.lstrip:
                while start > position and text[start - 1] in WHITE_SPACE:
                    start -= 1
            if token.rstrip:
                while end < len(text) and text[end] in WHITE_SPACE:
                    end += 1
            if position < start:
                yield position, text[position:start], None
            yield start, text[start:end], token.id
            position = end
        if position < len(text):
            yield position, text[position:], None


def _alone(text: str, start: int, end: int) -> bool:
    """Whether no word goes on before or after."""
    around = text[start - 1 : start] + text[end : end + 1]
    if not UNSETTLED.isdisjoint(around):
        raise Unsupported("what a character of this text is depends on the version of Unicode")
    return not _WORD.search(as_of_unicode_16(around))
