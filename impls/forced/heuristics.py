"""Policies that look back a little and hope: none, printed, healed, drop-pretoken.

After llguidance's documentation of fast-forward tokens, restated in its meaning: let F be the
forced bytes and T their tokens. A window of the last bytes of F is searched for the first place
from which some token goes on beyond F in a way that the grammar admits; the tokens before that
place are forced.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from impls.forced.characters import anything, whole_characters
from impls.forced.interface import Healed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.forced.boundaries import Boundaries
    from impls.forced.context import Context, GrammarState
    from impls.forced.tokenizer import AnyTokenizer, Tokenizer


def first_tokens(steps: Sequence[tuple[int, bytes]], most: int, forced: bytes) -> Healed:
    """The longest run of tokens from the front that has at most ``most`` bytes."""
    size = 0
    for count, (_, step) in enumerate(steps):
        if size + len(step) > most:
            return Healed(ids_of(steps[:count]), forced[size:])
        size += len(step)
    return Healed(ids_of(steps), forced[size:])


def ids_of(steps: Sequence[tuple[int, bytes]]) -> tuple[int, ...]:
    """The ids alone."""
    return tuple(token_id for token_id, _ in steps)


@dataclass(frozen=True)
class NoHealing:
    """All tokens of the forced bytes."""

    tokenizer: AnyTokenizer
    name: str = "none"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        return Healed(ids_of(self.tokenizer.steps_after(context, forced)), b"")


@dataclass(frozen=True)
class Printed:
    """The pseudo-code of llguidance's page as it is printed.

    Its inner ``break`` never leaves the outer loop, so that it ends at the last byte, whatever
    was found before, and the token that has it is dropped.
    """

    tokenizer: AnyTokenizer
    name: str = "printed"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        return first_tokens(self.tokenizer.steps_after(context, forced), len(forced) - 1, forced)


@dataclass(frozen=True)
class HealedBack:
    """The documented heuristic, as it is meant.

    max_tokens: the window, in tokens; 0 does not look back. max_length: or in bytes.
    conservative: the grammar is not asked, so that any extension counts.
    """

    tokenizer: AnyTokenizer
    max_tokens: int | None = 4
    max_length: int | None = None
    conservative: bool = False

    @property
    def name(self) -> str:
        """With its window: ``healed, grammar, 4 tokens``."""
        asked = "conservative" if self.conservative else "grammar"
        if self.max_length is not None:
            return f"healed, {asked}, {self.max_length} bytes"
        return f"healed, {asked}, {self.max_tokens} token{'' if self.max_tokens == 1 else 's'}"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        steps = self.tokenizer.steps_after(context, forced)
        window = self.max_length
        if window is None:
            # Not steps[-0:], which is everything.
            last = steps[max(0, len(steps) - (self.max_tokens or 0)) :]
            window = sum(len(step) for _, step in last)
        viable = anything if self.conservative else grammar.viable
        for place in range(max(0, len(forced) - window), len(forced)):
            if next(self.tokenizer.extensions(forced[place:], viable), None) is not None:
                return first_tokens(steps, place, forced)
        return Healed(ids_of(steps), b"")


@dataclass(frozen=True)
class DropPretoken:
    """All but the last pre-token of the context and the forced bytes together."""

    tokenizer: Tokenizer
    name: str = "drop-pretoken"

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
