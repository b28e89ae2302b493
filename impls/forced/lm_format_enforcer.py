"""``lm-format-enforcer`` as an engine: a character-level parser over a tree of the tokens.

It forces nothing by itself, so that the tokens without an alternative count. Tokens are text to
it: those that are no UTF-8 by themselves are left out, as it is used with Hugging Face's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from impls.adapters.common import Library
from impls.constrained import only_ways
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

LIBRARY = Library(
    name="lm-format-enforcer",
    distribution="lm-format-enforcer",
    module="lmformatenforcer",
    homepage="https://github.com/noamgat/lm-format-enforcer",
    capabilities=frozenset(),
    language="python",
    extra="engines",
)


class LmFormatEnforcer:
    """The engine of one vocabulary. Raises Unsupported where tokens are no bytes of a text."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        if vocabulary.pieces or vocabulary.normalizes:
            raise Unsupported("byte-level vocabularies only")
        self._library = LIBRARY.load()
        self._size = len(vocabulary.tokens)
        texts = {}
        for token_id, token in enumerate(vocabulary.tokens):
            try:
                text = (token or b"").decode()
            except UnicodeDecodeError:
                continue
            if text:
                texts[token_id] = text

        def decoded(ids: Sequence[int]) -> str:
            return vocabulary.spell([one for one in ids if one < self._size]).decode(
                "utf-8", "replace"
            )

        # The end of a text has an id behind all others: no text has it.
        self._data = self._library.TokenEnforcerTokenizerData(
            [(token_id, text, text.startswith(" ")) for token_id, text in texts.items()],
            decoded, self._size, False, self._size + 1,
        )  # fmt: skip

    def start(self, schema: str, whitespace: Literal["flexible", "compact"]) -> _Matcher:
        """See :class:`impls.constrained.Constrains`. White space is always admitted by it."""
        parser = self._library.JsonSchemaParser(json.loads(schema))
        return _Matcher(self._library.TokenEnforcer(self._data, parser), self._size)


class _Matcher:
    def __init__(self, enforcer: Any, size: int) -> None:
        self._enforcer = enforcer
        self._size = size
        self._taken: tuple[int, ...] = ()

    def _ways(self, taken: tuple[int, ...]) -> list[int]:
        found = self._enforcer.get_allowed_tokens(list(taken))
        ids: list[int] = list(getattr(found, "allowed_tokens", found))
        return ids

    def allowed(self) -> NDArray[np.bool_]:
        mask = np.zeros(self._size + 1, dtype=np.bool_)
        mask[self._ways(self._taken)] = True
        return mask[: self._size]

    def consume(self, token_id: int) -> bool:
        if token_id not in self._ways(self._taken):
            return False
        self._taken = (*self._taken, token_id)
        return True

    def forced(self) -> list[int]:
        ids = only_ways(self._taken, self._ways, lambda taken, one: (*taken, one))
        return [one for one in ids if one < self._size]
