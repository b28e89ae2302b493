"""The bytes of each id, without the vocabulary, whose tokens are an object of Python's each."""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary


class Spellings:
    """The spellings of all ids, of special and added tokens their text, one behind another."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        special = vocabulary.special_spellings
        tokens = list(vocabulary.tokens)
        tokens += [None] * (max(special, default=-1) + 1 - len(tokens))
        missing = [i for i, token in enumerate(tokens) if token is None]
        self._holes = frozenset(missing) - special.keys()
        for token_id in missing:
            tokens[token_id] = special.get(token_id, b"")
        spelled = cast("list[bytes]", tokens)
        self._text = b"".join(spelled)
        self._starts = array("i", accumulate(map(len, spelled), initial=0))

    def spell(self, ids: Sequence[int]) -> bytes:
        """The concatenated bytes of ``ids``. Raises KeyError for an unknown id."""
        return b"".join(self.each(ids))

    def each(self, ids: Sequence[int]) -> list[bytes]:
        """The bytes of each of ``ids``. Raises KeyError for an unknown id."""
        size = len(self._starts) - 1
        if ids and not (min(ids) >= 0 and max(ids) < size and self._holes.isdisjoint(ids)):
            raise KeyError(next(i for i in ids if not 0 <= i < size or i in self._holes))
        text, starts = self._text, self._starts
        return [text[starts[i] : starts[i + 1]] for i in ids]

    @property
    def longest(self) -> int:
        """Bytes of the longest spelling."""
        return int(np.diff(np.frombuffer(self._starts, dtype=np.int32)).max(initial=0))
