"""Engines of constrained decoding as :mod:`impls.constrained` has them, of the extra ``engines``.

``outlines-core``: an index of a regular expression over the vocabulary's tokens, which takes
seconds and more where the vocabulary is large. ``lm-format-enforcer``: a character-level parser
over a tree of the tokens, which are text to it: those that are no UTF-8 by themselves are left out,
as it is used with Hugging Face's. Neither forces anything by itself, so that the tokens without an
alternative count.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from impls.adapters.common import Library
from impls.constrained import only_ways
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from impls.forced.tokenizer import AnyTokenizer

OUTLINES = Library(
    name="outlines-core",
    distribution="outlines-core",
    module="outlines_core",
    homepage="https://github.com/dottxt-ai/outlines-core",
    capabilities=frozenset(),
    language="rust",
    extra="engines",
)

ENFORCER = Library(
    name="lm-format-enforcer",
    distribution="lm-format-enforcer",
    module="lmformatenforcer",
    homepage="https://github.com/noamgat/lm-format-enforcer",
    capabilities=frozenset(),
    language="python",
    extra="engines",
)

WHITESPACE = {"flexible": r"[ \n\r\t]*", "compact": ""}


class ByWays:
    """A matcher of an engine that says which ids a state admits.

    size: of the vocabulary; the end of a text has an id from there on, as no text has it. ways: the
    ids that a state admits. after: the state behind one of them.
    """

    def __init__(
        self, size: int, state: Any, ways: Callable[[Any], list[int]], after: Callable[..., Any]
    ) -> None:
        self._size, self._state, self._ways, self._after = size, state, ways, after

    def allowed(self) -> NDArray[np.bool_]:
        """See :class:`impls.constrained.Matcher`."""
        mask = np.zeros(self._size + 1, dtype=np.bool_)
        mask[self._ways(self._state)] = True
        return mask[: self._size]

    def consume(self, token_id: int) -> bool:
        """See :class:`impls.constrained.Matcher`."""
        if token_id not in self._ways(self._state):
            return False
        self._state = self._after(self._state, token_id)
        return True

    def forced(self) -> list[int]:
        """See :class:`impls.constrained.Matcher`."""
        ids = only_ways(self._state, self._ways, self._after)
        return [one for one in ids if one < self._size]


class OutlinesCore:
    """The engine of one vocabulary. Raises Unsupported where tokens are no bytes of a text."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._library, tokens = OUTLINES.load(), _tokens(tokenizer)
        self._size = len(tokens)
        ids: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(tokens):
            if token:
                ids.setdefault(token, []).append(token_id)
        self._vocabulary = self._library.Vocabulary(self._size, ids)

    def start(self, schema: str, whitespace: Literal["flexible", "compact"]) -> ByWays:
        """See :class:`impls.constrained.Constrains`."""
        build = OUTLINES.load("json_schema").build_regex_from_schema
        index = self._library.Index(build(schema, WHITESPACE[whitespace]), self._vocabulary)

        def ways(state: Any) -> list[int]:
            # Behind the end of a text there is no state.
            return [] if state is None else index.get_allowed_tokens(state) or []

        return ByWays(self._size, index.get_initial_state(), ways, index.get_next_state)


class LmFormatEnforcer:
    """The engine of one vocabulary. Raises Unsupported where tokens are no bytes of a text."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._library, tokens = ENFORCER.load(), _tokens(tokenizer)
        self._size = size = len(tokens)
        texts = []
        for token_id, token in enumerate(tokens):
            text = (token or b"").decode("utf-8", "replace")
            if text and text.encode() == token:
                texts.append((token_id, text, text.startswith(" ")))

        def decoded(ids: Sequence[int]) -> str:
            spelled = tokenizer.vocabulary.spell([one for one in ids if one < size])
            return spelled.decode("utf-8", "replace")

        self._data = self._library.TokenEnforcerTokenizerData(texts, decoded, size, False, size + 1)

    def start(self, schema: str, whitespace: Literal["flexible", "compact"]) -> ByWays:
        """See :class:`impls.constrained.Constrains`. White space is always admitted by it."""
        parser = self._library.JsonSchemaParser(json.loads(schema))
        enforcer = self._library.TokenEnforcer(self._data, parser)

        def ways(taken: tuple[int, ...]) -> list[int]:
            found = enforcer.get_allowed_tokens(list(taken))
            return list(getattr(found, "allowed_tokens", found))

        return ByWays(self._size, (), ways, lambda taken, one: (*taken, one))


def _tokens(tokenizer: AnyTokenizer) -> Sequence[bytes | None]:
    vocabulary = tokenizer.vocabulary
    if vocabulary.pieces or vocabulary.normalizes:
        raise Unsupported("byte-level vocabularies only")
    return vocabulary.tokens
