"""The pseudo-code of llguidance's page on fast-forward tokens, as it is printed.

Its inner ``break`` never leaves the outer loop, so that it ends at the last byte, whatever was
found before, and the token that has it is dropped. A token that begins before that one and goes on
beyond the end makes the rest non-canonical all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from impls.forced.interface import first_tokens

if TYPE_CHECKING:
    from impls.forced.interface import Context, GrammarState, Healed
    from impls.forced.tokenizer import AnyTokenizer


@dataclass(frozen=True)
class Printed:
    """All tokens but the one with the last byte."""

    tokenizer: AnyTokenizer

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        return first_tokens(self.tokenizer.steps_after(context, forced), len(forced) - 1, forced)
