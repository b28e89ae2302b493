"""The bytes of each id, without the vocabulary, whose tokens are an object of Python's each."""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary


class Spellings:
    """The spellings of all ids, one behind another; None for those that are none."""

    def __init__(self, spelled: Sequence[bytes | None]) -> None:
        self._holes = frozenset(i for i, spelling in enumerate(spelled) if spelling is None)
        self._text = b"".join([spelling or b"" for spelling in spelled])
        self._ends = array("i", accumulate(len(spelling or b"") for spelling in spelled))
        self._starts = array("i", [0, *self._ends[:-1]])

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Spellings:
        """Those of a vocabulary, of special and added tokens their text."""
        special = vocabulary.special_spellings
        tokens = list(vocabulary.tokens)
        tokens += [None] * (max(special, default=-1) + 1 - len(tokens))
        for token_id in [i for i, token in enumerate(tokens) if token is None]:
            tokens[token_id] = special.get(token_id)
        return cls(tokens)

    def get(self, token_id: int) -> bytes | None:
        """The bytes of an id, None for one that is none."""
        if not 0 <= token_id < len(self._ends) or token_id in self._holes:
            return None
        return self._text[self._starts[token_id] : self._ends[token_id]]

    def spell(self, ids: Sequence[int]) -> bytes:
        """The concatenated bytes of ``ids``. Raises KeyError for an unknown id."""
        return b"".join(self.each(ids))

    def each(self, ids: Sequence[int]) -> list[bytes]:
        """The bytes of each of ``ids``. Raises KeyError for an unknown id."""
        text, starts, ends = self._text, self._starts, self._ends
        try:
            found = [text[starts[i] : ends[i]] for i in ids if i >= 0]
        except IndexError:
            found = []
        if len(found) != len(ids) or not self._holes.isdisjoint(ids):
            raise KeyError(next(i for i in ids if not 0 <= i < len(ends) or i in self._holes))
        return found

    @property
    def longest(self) -> int:
        """Bytes of the longest spelling."""
        starts, ends = (np.frombuffer(one, dtype=np.int32) for one in (self._starts, self._ends))
        return int((ends - starts).max(initial=0))
