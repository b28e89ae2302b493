"""The documented heuristic of llguidance, as it is meant: it looks back a little, and hopes.

After llguidance's documentation of fast-forward tokens, restated in its meaning: let F be the
forced bytes and T their tokens. A window of the last bytes of F is searched for the first place
from which some token goes on beyond F in a way that the grammar admits; the tokens of T before that
place are forced. The window is a number of tokens of T, or of bytes. Conservatively, the grammar is
not asked, and any token that goes on counts. (``TokTrie::chop_tokens`` and ``ff_tokens`` of
llguidance, but that bytes of a cut-off character are merged here, and matched greedily there.)

A token that spans the end of F begins at one of these places, if it begins in the window: none of
it crosses the end of what is forced. It errs in two ways. The token may begin before the window,
and a byte more may change merges further back than any token reaches (docs/algorithms.md, section
3, bounds that; :mod:`impls.forced.exact` decides it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from impls.forced.interface import first_tokens
from impls.forced.spellings import anything

if TYPE_CHECKING:
    from impls.forced.interface import Context, GrammarState, Healed
    from impls.forced.tokenizer import AnyTokenizer


@dataclass(frozen=True)
class HealedBack:
    """The heuristic.

    size: of the window, in tokens, or in bytes; 0 does not look back. conservative: the grammar is
    not asked.
    """

    tokenizer: AnyTokenizer
    size: int = 4
    in_bytes: bool = False
    conservative: bool = False

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        steps = self.tokenizer.steps_after(context, forced)
        last = steps[max(0, len(steps) - self.size) :]  # not steps[-0:], which is everything
        window = self.size if self.in_bytes else sum(len(step) for _, step in last)
        viable = anything if self.conservative else grammar.viable
        for place in range(max(0, len(forced) - window), len(forced)):
            if next(self.tokenizer.extensions(forced[place:], viable), None) is not None:
                return first_tokens(steps, place, forced)
        return first_tokens(steps, len(forced), forced)
