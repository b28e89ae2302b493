"""Healing of forced tokens by a window of four tokens, as the documented heuristic has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from impls.forced.heuristics import first_tokens, ids_of
from impls.forced.interface import Healed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from impls.forced.context import Context, GrammarState
    from impls.forced.tokenizer import Tokenizer

    Steps = Sequence[tuple[int, bytes]]

WINDOW = 4
"""Tokens looked back at."""


class PlainHealing:
    """No error on our own schemas. Every method is a rule that a mistake may change."""

    name: ClassVar[str] = "plain.healing"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        steps = self.steps(context, forced)
        for place in self.places(forced, steps):
            if self.goes_on(forced[place:], grammar):
                return self.kept(steps, place, forced)
        return Healed(ids_of(steps), b"")

    def steps(self, context: Context, forced: bytes) -> Steps:
        """The tokens of the forced bytes with their bytes, after the context's last one."""
        return self.tokenizer.steps_after(context, forced)

    def places(self, forced: bytes, steps: Steps) -> Iterable[int]:
        """Where a token might begin that goes on beyond the forced bytes."""
        return range(max(0, len(forced) - size(steps[-WINDOW:])), len(forced))

    def goes_on(self, rest: bytes, grammar: GrammarState) -> bool:
        """Whether some token begins with ``rest`` and goes on as the grammar admits."""
        return next(self.tokenizer.extensions(rest, grammar.viable), None) is not None

    def kept(self, steps: Steps, place: int, forced: bytes) -> Healed:
        """The tokens before a place."""
        return first_tokens(steps, place, forced)


def size(steps: Steps) -> int:
    """How many bytes tokens have."""
    return sum(len(step) for _, step in steps)
