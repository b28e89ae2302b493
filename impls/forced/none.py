"""No healing: all tokens of the forced bytes.

They are safely canonical where no continuation changes a token before the end of the forced bytes:
so after a boundary of pre-tokens that nothing moves, and hardly anywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from impls.forced.interface import first_tokens

if TYPE_CHECKING:
    from impls.forced.interface import Context, GrammarState, Healed
    from impls.forced.tokenizer import AnyTokenizer


@dataclass(frozen=True)
class NoHealing:
    """All tokens of the forced bytes."""

    tokenizer: AnyTokenizer

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        return first_tokens(self.tokenizer.steps_after(context, forced), len(forced), forced)
