"""The forced tokens of engines, asked at the same state of the same grammar.

``llguidance``: ``LLMatcher.compute_ff_tokens``, which takes back up to four tokens where a token
goes on that the grammar admits. ``llguidance.partial``: ``LLTokenizer.tokenize_partial``, which
knows the recent tokens but no grammar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from impls.adapters.llguidance import LIBRARY
from impls.forced.interface import Healed

if TYPE_CHECKING:
    from impls.forced.context import Context, GrammarState
    from impls.forced.tokenizer import AnyTokenizer

RECENT = 16
"""Tokens before the forced bytes that are shown to ``tokenize_partial``."""


def healed(tokenizer: AnyTokenizer, ids: tuple[int, ...], forced: bytes) -> Healed:
    """Tokens from the front of ``forced``, with the bytes that they leave over."""
    size = sum(len(tokenizer.spelling(token_id)) for token_id in ids)
    return Healed(ids, forced[size:])


class LlguidanceMatcher:
    """``compute_ff_tokens`` of a matcher that follows the context.

    engine: the ``LLTokenizer`` of the vocabulary. grammar: as ``LLMatcher`` takes it; it must be
    that of the states with which :meth:`heal` is asked. Contexts that go on from one another are
    cheap; others cost their tokens.
    """

    name = "llguidance"

    def __init__(self, tokenizer: AnyTokenizer, engine: Any, grammar: str) -> None:
        self._tokenizer = tokenizer
        self._engine = engine
        self._matcher = LIBRARY.load().LLMatcher(engine, grammar, log_level=0)
        self._taken: tuple[int, ...] = ()
        self._check()

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`. ValueError where the engine gives up."""
        self._follow(self._shown(context.ids))
        ids = tuple(self._matcher.compute_ff_tokens())
        self._check()
        return healed(self._tokenizer, ids, forced)

    def _shown(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """The context as the engine would have it: it knows no space before a text."""
        if not (ids and self._tokenizer.vocabulary.normalizer.add_dummy_prefix):
            return ids
        first = self._tokenizer.spelling(ids[0]).removeprefix(b" ")
        return (*self._engine.tokenize_bytes(first), *ids[1:])

    def _follow(self, ids: tuple[int, ...]) -> None:
        known = len(self._taken)
        if ids[:known] != self._taken:
            # Not rolled back: llguidance 1.9.1 keeps what it knew of the place it was at.
            self._matcher.reset()
            known = 0
        more = ids[known:]
        if more and not self._matcher.consume_tokens(list(more)):
            self._check()
            raise ValueError("llguidance does not take the context's tokens")
        self._taken = ids

    def _check(self) -> None:
        if self._matcher.is_error():
            line = " ".join(str(self._matcher.get_error()).split())[:200]
            raise ValueError(f"llguidance gave up: {line}")


@dataclass(frozen=True)
class LlguidancePartial:
    """``tokenize_partial`` of the forced bytes after the context's last tokens."""

    tokenizer: AnyTokenizer
    engine: Any
    name: str = "llguidance.partial"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        recent = list(context.ids[-RECENT:])
        ids, leftover = self.engine.tokenize_partial(forced, recent_tokens=recent)
        return Healed(tuple(ids), bytes(leftover))
