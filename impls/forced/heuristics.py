"""Policies that look back a little and hope: none, printed, healed, drop-pretoken.

After llguidance's documentation of fast-forward tokens, restated in its meaning: let F be the
forced bytes and T their tokens. A window of the last bytes of F is searched for the first place
from which some token goes on beyond F in a way that the grammar admits; the tokens before that
place are forced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from impls.forced.interface import Healed
from impls.forced.tokenizer import anything, whole_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.forced.interface import Context, GrammarState
    from impls.forced.tokenizer import Tokenizer


def forced_ids(tokenizer: Tokenizer, context: Context, forced: bytes) -> tuple[int, ...]:
    """The tokens of the forced bytes as an engine finds them.

    Encoded together with the last token of the context, which is taken off again where it comes
    out unchanged; else by themselves.
    """
    if context.ids:
        last = context.ids[-1]
        together = tokenizer.encode(tokenizer.spelling(last) + forced)
        if together[:1] == (last,):
            return together[1:]
    return tokenizer.encode(forced)


def first_tokens(tokenizer: Tokenizer, ids: Sequence[int], most: int, forced: bytes) -> Healed:
    """The longest run of ``ids`` from the front that has at most ``most`` bytes."""
    size = 0
    for count, token_id in enumerate(ids):
        after = size + len(tokenizer.spelling(token_id))
        if after > most:
            return Healed(tuple(ids[:count]), forced[size:])
        size = after
    return Healed(tuple(ids), forced[size:])


@dataclass(frozen=True)
class NoHealing:
    """All tokens of the forced bytes."""

    tokenizer: Tokenizer
    name: str = "none"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        return Healed(forced_ids(self.tokenizer, context, forced), b"")


@dataclass(frozen=True)
class Printed:
    """The pseudo-code of llguidance's page as it is printed.

    Its inner ``break`` never leaves the outer loop, so that it ends at the last byte, whatever
    was found before, and the token that has it is dropped.
    """

    tokenizer: Tokenizer
    name: str = "printed"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        ids = forced_ids(self.tokenizer, context, forced)
        return first_tokens(self.tokenizer, ids, len(forced) - 1, forced)


@dataclass(frozen=True)
class HealedBack:
    """The documented heuristic, as it is meant.

    max_tokens: the window, in tokens; 0 does not look back. max_length: or in bytes.
    conservative: the grammar is not asked, so that any extension counts.
    """

    tokenizer: Tokenizer
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
        ids = forced_ids(self.tokenizer, context, forced)
        window = self.max_length
        if window is None:
            # Not ids[-0:], which is everything.
            last = ids[max(0, len(ids) - (self.max_tokens or 0)) :]
            window = self.tokenizer.size(last)
        viable = anything if self.conservative else grammar.viable
        for place in range(max(0, len(forced) - window), len(forced)):
            if next(self.tokenizer.extensions(forced[place:], viable), None) is not None:
                return first_tokens(self.tokenizer, ids, place, forced)
        return Healed(tuple(ids), b"")


@dataclass(frozen=True)
class DropPretoken:
    """All but the last pre-token of the context and the forced bytes together."""

    tokenizer: Tokenizer
    name: str = "drop-pretoken"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        text = context.text + forced
        [ends] = self.tokenizer.piece_ends([text[: whole_characters(text)]])
        last = ends[-2] if len(ends) > 1 else 0
        ids = forced_ids(self.tokenizer, context, forced)
        return first_tokens(self.tokenizer, ids, max(0, last - len(context.text)), forced)
