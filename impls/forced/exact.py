"""The longest safely canonical tokens, decided and not guessed, for any tokenizer.

What a text can become is bounded first, by its tokenizer (:mod:`impls.forced.tokenizer`,
:mod:`impls.forced.piece_tokenizer`). Each bound is a beginning of the text's tokens that some
future may leave, and every future leaves one of them whole.

Under a grammar only the futures count that are viable. That is safe, but may keep one that no
whole sentence realises. So a bound is tried: its continuation is gone on with until nothing after
it can change the text's tokens any more, or to the end of a sentence, and encoded. If it parts
there, the bound is exact, and this is the witness; if not, the sentences are all encoded where the
grammar has few, and else it is followed further, the lowest bound first, within a budget.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

from impls.forced.futures import Bound, Window, common, ids_of
from impls.forced.interface import Future, Healed
from impls.forced.states import completion, remembered, settling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from impls.forced.interface import Context, GrammarState
    from impls.forced.tokenizer import AnyTokenizer

SENTENCES = 64
"""A grammar with at most so many continuations is decided by all of them: to list a JSON Schema's
costs a third of a millisecond each, and nearly as much where there are more."""

BUDGET = 24
"""States of the grammar that are looked into where the first bound is not proved."""

BRANCHES = 2
"""A state is left as it is where so many times the budget may come next: that is any character,
after which the next one may be any, too, and looking at each takes longer than all else."""


class Exact:
    """The exact policy. budget: see :data:`BUDGET`; 0 keeps to the first bound."""

    def __init__(self, tokenizer: AnyTokenizer, *, budget: int = BUDGET) -> None:
        self._tokenizer = tokenizer
        self._budget = budget

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        if not forced:
            return Healed((), b"")
        window = self._tokenizer.window(context, context.text + forced)
        bounds = self._search(window, grammar)
        return self._healed(context, forced, window, bounds)

    def _sentences(self, window: Window, ways: Sequence[bytes], kind: str) -> list[Bound]:
        """By the definition: each way to the end of a text, encoded."""
        kept = self._tokenizer.encoded(window, ways)
        return [Bound(one, way, kind) for one, way in zip(kept, ways, strict=True)]

    def _search(self, window: Window, grammar: GrammarState) -> list[Bound]:
        """Bounds whose common beginning is safe, and exact where the budget lasts."""
        order = count()
        proved: list[Bound] = []
        # Entries: what their bounds have in common, the text so far, the state after it, bounds.
        open_: list[tuple[int, int, bytes, GrammarState, list[Bound]]] = []

        def enter(more: bytes, state: GrammarState) -> int:
            state = remembered(state)
            bounds = self._tokenizer.bounds(window, more, state)
            heapq.heappush(open_, (common(bounds), next(order), more, state, bounds))
            return common(bounds)

        floor = enter(b"", grammar)
        budget = self._budget
        listed = False
        while open_:
            _, _, more, state, bounds = heapq.heappop(open_)
            if proved and common([*proved, *bounds]) == common(proved):
                continue  # whatever comes of it, it takes nothing away
            for bound in self._witnesses(window, state, bounds, len(more)):
                proved.append(bound)
                if common(proved) == floor:
                    return proved
            following = state.next_bytes()
            if not listed:
                # Asked only now, as most grammars that come here have many.
                listed = True
                few = len(following) <= SENTENCES
                sentences = grammar.sentences(SENTENCES) if few else None
                if sentences is not None:
                    return self._sentences(window, sentences or [b""], "sentence")
            if budget <= 0 or len(following) > BRANCHES * self._budget:
                return [*proved, *bounds, *(bound for entry in open_ for bound in entry[-1])]
            if state.complete:
                proved += self._sentences(window, [more], "sentence")
            for byte in following:
                budget -= 1
                after = state.after(bytes((byte,)))
                sure = after.forced()
                enter(more + bytes((byte,)) + sure, after.after(sure) if sure else after)
        return proved

    def _witnesses(
        self, window: Window, state: GrammarState, bounds: Iterable[Bound], skipped: int
    ) -> Iterator[Bound]:
        """Those of the bounds, the lowest first, that some sentence reaches, as far as is seen.

        skipped: bytes of the continuations that led to ``state``.
        """
        for bound in sorted(bounds, key=lambda bound: len(bound.kept)):
            way = bound.continuation[skipped:]
            if bound.kind == "stand-in" or not state.viable(way):
                continue
            after = state.after(way) if way else state
            found = self._settled(window, bound.continuation, after)
            if found is not None:
                yield found
                continue
            rest = completion(after)
            if rest is not None:
                yield from self._sentences(window, [bound.continuation + rest], "sentence")

    def _settled(self, window: Window, way: bytes, state: GrammarState) -> Bound | None:
        """The bound behind ``way`` and a little more, where nothing after that can change it.

        Far cheaper than the end of a sentence, which may be long.
        """
        for step, after in settling(state):
            way += step
            [bound] = self._sentences(window, [way], "settled")
            bounds = self._tokenizer.bounds(window, way, remembered(after))
            if all(one.whole and one.kept == bound.kept for one in bounds):
                return bound
        return None

    def _healed(
        self, context: Context, forced: bytes, window: Window, bounds: Sequence[Bound]
    ) -> Healed:
        """The common tokens of all bounds that lie within the forced bytes."""
        kept = bounds[0].kept[: common(bounds)]
        own = context.ids[window.first :]
        # Of the ways of one kind that keep as many tokens one is enough.
        ways = {(len(bound.kept), bound.kind): bound for bound in reversed(bounds)}
        proof = tuple(
            Future(bound.continuation, max(0, size - len(own)), bound.kind)
            for (size, _), bound in sorted(ways.items())
        )
        place = len(context.text) - window.start
        if ids_of(kept[: len(own)]) != own:
            return Healed((), forced, proof)
        if own and kept[len(own) - 1].end != place:
            return Healed((), forced, proof)
        new = self._tokenizer.forceable(kept[len(own) :])
        return Healed(ids_of(new), forced[new[-1].end - place if new else 0 :], proof)
