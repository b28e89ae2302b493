"""``outlines-core`` as an engine: an index of a regular expression over the vocabulary's tokens.

It forces nothing by itself, so that the tokens without an alternative count. The index of a schema
takes seconds and more where the vocabulary is large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from impls.adapters.common import Library
from impls.constrained import only_ways
from impls.interface import Unsupported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

LIBRARY = Library(
    name="outlines-core",
    distribution="outlines-core",
    module="outlines_core",
    homepage="https://github.com/dottxt-ai/outlines-core",
    capabilities=frozenset(),
    language="rust",
    extra="engines",
)

WHITESPACE = {"flexible": r"[ \n\r\t]*", "compact": ""}


class OutlinesCore:
    """The engine of one vocabulary. Raises Unsupported where tokens are no bytes of a text."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        if vocabulary.pieces or vocabulary.normalizes:
            raise Unsupported("byte-level vocabularies only")
        self._library = LIBRARY.load()
        self._size = len(vocabulary.tokens)
        ids: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                ids.setdefault(token, []).append(token_id)
        # The end of a text has an id behind all others: no text has it.
        self._vocabulary = self._library.Vocabulary(self._size, ids)

    def start(self, schema: str, whitespace: Literal["flexible", "compact"]) -> _Matcher:
        """See :class:`impls.constrained.Constrains`."""
        regex = LIBRARY.load("json_schema").build_regex_from_schema(schema, WHITESPACE[whitespace])
        return _Matcher(self._library.Index(regex, self._vocabulary), self._size)


class _Matcher:
    def __init__(self, index: Any, size: int) -> None:
        self._index = index
        self._size = size
        self._state = index.get_initial_state()

    def _ways(self, state: Any) -> list[int]:
        # Behind the end of a text there is no state.
        found: list[int] = [] if state is None else self._index.get_allowed_tokens(state) or []
        return found

    def allowed(self) -> NDArray[np.bool_]:
        mask = np.zeros(self._size + 1, dtype=np.bool_)
        mask[self._ways(self._state)] = True
        return mask[: self._size]

    def consume(self, token_id: int) -> bool:
        after = self._index.get_next_state(self._state, token_id)
        if after is None:
            return False
        self._state = after
        return True

    def forced(self) -> list[int]:
        ids = only_ways(self._state, self._ways, self._index.get_next_state)
        return [one for one in ids if one < self._size]
