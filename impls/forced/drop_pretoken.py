"""All but the last pre-token of the context and the forced bytes together.

Where what follows moves no boundary of pre-tokens but the last one, what is forced is safely
canonical: no token crosses a boundary. Most patterns look one character further, and so this errs
before white space, contractions and runs of capitals (:mod:`impls.forced.boundaries`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from impls.forced.interface import first_tokens
from impls.forced.spellings import whole_characters

if TYPE_CHECKING:
    from impls.forced.boundaries import Boundaries
    from impls.forced.interface import Context, GrammarState, Healed
    from impls.forced.tokenizer import Tokenizer


@dataclass(frozen=True)
class DropPretoken:
    """All but the last pre-token."""

    tokenizer: Tokenizer

    @cached_property
    def _boundaries(self) -> Boundaries:
        return self.tokenizer.boundaries()

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        text = context.text + forced
        text = text[: whole_characters(text)]
        start = self._boundaries.start(text, len(text)) if self._boundaries.known else 0
        ends = self.tokenizer.piece_ends(text[start:])
        last = start + (ends[-2] if len(ends) > 1 else 0)
        steps = self.tokenizer.steps_after(context, forced)
        return first_tokens(steps, max(0, last - len(context.text)), forced)
