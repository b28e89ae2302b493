"""A whole engine (:mod:`impls.constrained`) as a policy: what it forces, with its masks watched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from impls.constrained import NotAdmitted, OutsideMask
from impls.forced.engines import healed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impls.constrained import Constrains, Matcher
    from impls.forced.context import Context, GrammarState
    from impls.forced.interface import Healed
    from impls.forced.tokenizer import AnyTokenizer


class EnginePolicy:
    """The forced tokens of an engine on one schema.

    Contexts that go on from one another are cheap; others begin the text anew.
    """

    def __init__(
        self,
        name: str,
        tokenizer: AnyTokenizer,
        engine: Constrains,
        schema: Mapping[str, Any] | bool,
        whitespace: Literal["flexible", "compact"],
    ) -> None:
        self.name = name
        self._tokenizer = tokenizer
        self._engine = engine
        self._schema = json.dumps(schema)
        self._whitespace = whitespace
        self._matcher: Matcher | None = None
        self._taken: tuple[int, ...] = ()

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`.

        Raises NotAdmitted where a mask lacks a token of the context, OutsideMask where the first
        forced token is not in the mask, ValueError where the engine gives up.
        """
        matcher = self._followed(context.ids)
        ids = tuple(map(int, matcher.forced()))
        if ids and not self._admits(matcher, ids[0]):
            raise OutsideMask(f"{self.name} forces {ids[0]}, which its mask does not admit")
        return healed(self._tokenizer, ids, forced)

    def _followed(self, ids: tuple[int, ...]) -> Matcher:
        """The engine behind these tokens."""
        known = len(self._taken)
        if self._matcher is None or ids[:known] != self._taken:
            self._matcher = self._engine.start(self._schema, self._whitespace)
            self._taken, known = (), 0
        for token_id in ids[known:]:
            if not (self._admits(self._matcher, token_id) and self._matcher.consume(token_id)):
                self._matcher, self._taken = None, ()
                raise NotAdmitted(f"{self.name} does not admit {token_id}, which is valid here")
            self._taken = (*self._taken, token_id)
        return self._matcher

    @staticmethod
    def _admits(matcher: Matcher, token_id: int) -> bool:
        mask = matcher.allowed()
        return token_id < len(mask) and bool(mask[token_id])
