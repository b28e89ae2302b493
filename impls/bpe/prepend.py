"""Prepending: the number of tokens after each byte that a text grows by at its front.

The first token of a text is the longest of its beginnings that is a token and that may stand
before the encoding of the rest: the mirror of what holds for the last token. So the text is read
backwards, with an automaton over reversed tokens. (After the ``PrependableEncoder`` of the `bpe`
crate by GitHub.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.append import Appender
from impls.bpe.automaton import automaton_of
from impls.bpe.table import Tables
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.bpe.tokens import Tokens
    from impls.kernels.layout import Ints


class Prepender(Appender):
    """A text that grows at its front. tables: of :func:`mirrored`."""

    def extend(self, data: bytes) -> Ints:
        """Put ``data`` in front; the count after each of its bytes, from its last to its first.

        Rejected, and nothing done, for a byte without a token.
        """
        return self._extend(np.frombuffer(data[::-1], dtype=np.uint8))


def mirrored(tokens: Tokens, spellings: Sequence[bytes]) -> Tables:
    """The tables for texts that are read from their end. spellings: of the tokens, by age."""
    trie, _ = build_trie([text[::-1] for text in spellings])
    return Tables(tokens, automaton_of(trie, len(spellings)), True)
