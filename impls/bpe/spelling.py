"""The bytes of each id, without the vocabulary, whose tokens are an object of Python's each."""

from __future__ import annotations

from array import array
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary


class Spellings:
    """The spellings of all ids, one behind another; None for those that are none."""

    def __init__(self, spelled: Sequence[bytes | None]) -> None:
        self._holes = frozenset(i for i, spelling in enumerate(spelled) if spelling is None)
        self._text = b"".join([spelling or b"" for spelling in spelled])
        lengths = (len(spelling or b"") for spelling in spelled)
        self._bounds = array("i", accumulate(lengths, initial=0))

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Spellings:
        """Those of a vocabulary, of special and added tokens their text."""
        special = vocabulary.special_spellings
        tokens = list(vocabulary.tokens)
        tokens += [None] * (max(special, default=-1) + 1 - len(tokens))
        return cls([special.get(i) if one is None else one for i, one in enumerate(tokens)])

    def get(self, token_id: int) -> bytes | None:
        """The bytes of an id, None for one that is none."""
        if not 0 <= token_id < len(self._bounds) - 1 or token_id in self._holes:
            return None
        return self._text[self._bounds[token_id] : self._bounds[token_id + 1]]

    def spell(self, ids: Sequence[int]) -> bytes:
        """The concatenated bytes of ``ids``. Raises KeyError for an unknown id."""
        return b"".join(self.each(ids))

    def each(self, ids: Sequence[int]) -> list[bytes]:
        """The bytes of each of ``ids``. Raises KeyError for an unknown id."""
        text, bounds, holes = self._text, self._bounds, self._holes
        known = range(len(bounds) - 1)
        if ids and not (min(ids) in known and max(ids) in known and holes.isdisjoint(ids)):
            raise KeyError(next(i for i in ids if self.get(i) is None))
        return [text[bounds[i] : bounds[i + 1]] for i in ids]

    @property
    def longest(self) -> int:
        """Bytes of the longest spelling."""
        return max((end - start for start, end in pairwise(self._bounds)), default=0)
