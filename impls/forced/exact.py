"""The longest safely canonical tokens, decided and not guessed, for byte-level BPE.

Inside a pre-token: a continuation changes the encoding of a text only through a token that spans
the text's end. For each start s such that text[s:] is a proper beginning of a token text[s:] + e
which may follow the encoding of text[:s], the text with e encodes to the encoding of text[:s] and
that token; and every continuation leaves either the whole encoding or that of text[:s] for one of
these s. So what all futures have in common is their lowest common ancestor in the tree of
beginnings (ALGORITHMS.md, section 3). At the end of a text the pre-tokenizer adds the ways in
which the last pre-tokens may come out; these are finite.

Under a grammar only those s count whose e is viable. That is safe, but may keep an s that no
whole sentence realises. So the bound is tried: e is gone on with until nothing after it can
change the text's tokens any more, or to the end of a sentence, and encoded. If it parts there, the
bound is exact, and this is the witness; if not, the sentences are all encoded where the grammar
has few, and else it is followed further, the lowest bound first, within a budget.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, pairwise
from typing import TYPE_CHECKING

from impls.forced.boundaries import Boundaries
from impls.forced.interface import Future, Healed
from impls.forced.prefix_tree import PrefixTrees
from impls.forced.tokenizer import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from impls.forced.interface import Context, GrammarState
    from impls.forced.prefix_tree import PrefixTree
    from impls.forced.tokenizer import Tokenizer

SENTENCES = 256
"""A grammar with at most so many continuations is decided by all of them."""

WINDOW_PIECES = 6
"""Pre-tokens at the end of a text that may still change; the known patterns change two."""

BUDGET = 24
"""States of the grammar that are looked into where the first bound is not proved."""

SETTLING = 3
"""Steps beyond a bound after which it is looked whether anything can still change it."""

COMPLETION = 200
"""Bytes after which no way to complete a sentence is looked for any more."""

ENDING = b'"}]):,;.>0nta[{('
"""Bytes that tend to bring a sentence to its end, in the order in which they are tried.
White space, of which a grammar may admit any amount, is not among them."""

SINGLE_BYTES = tuple(bytes((byte,)) for byte in range(256))


@dataclass(frozen=True)
class _Window:
    """The end of a text: what may still change. first: how many tokens stand before it."""

    text: bytes
    start: int
    first: int


@dataclass(frozen=True)
class _Bound:
    """What a future leaves. ids: of the window. continuation: see :class:`Future`."""

    ids: tuple[int, ...]
    continuation: bytes
    kind: str


class Exact:
    """The exact policy. budget: see :data:`BUDGET`; 0 keeps to the first bound."""

    def __init__(self, tokenizer: Tokenizer, *, budget: int = BUDGET) -> None:
        self._tokenizer = tokenizer
        self._budget = budget
        self._trees = PrefixTrees(tokenizer.vocabulary)
        self._boundaries = Boundaries(tokenizer)
        vocabulary, built = tokenizer.vocabulary, self._trees.by_id
        self._late = self._trees.late
        self._late_within = re.compile(b"|".join(map(re.escape, self._late)))
        self._late_to_come = lru_cache(maxsize=4096)(self._late_endings)
        self._whole = sorted(
            text
            for text, token_id in vocabulary.ids.items()
            if vocabulary.ignore_merges and token_id not in built
        )
        """What merges do not build, and what comes out only where it is a whole pre-token."""

    @property
    def name(self) -> str:
        """As in tables."""
        return "exact" if self._budget else "exact, first bound"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        if not forced:
            return Healed((), b"")
        text = context.text + forced
        window = self._window(context, text)
        bounds = self._search(window, grammar)
        return self._healed(context, forced, window, bounds)

    def _window(self, context: Context, text: bytes) -> _Window:
        """From a boundary of pre-tokens that nothing after ``text`` can move."""
        whole = whole_characters(text)
        ends = self._tokenizer.piece_ends([text[:whole]])[0]
        # No later than the context's end, so that it shows where its tokens change.
        start = 0
        for end in ends[: max(0, len(ends) - WINDOW_PIECES)]:
            if end <= len(context.text):
                start = end
        first, size = 0, 0
        while size < start:
            size += len(self._tokenizer.spelling(context.ids[first]))
            first += 1
        if size > start:
            return _Window(text, 0, 0)
        return _Window(text[start:], start, first)

    def _all(self, window: _Window, sentences: Sequence[bytes]) -> list[_Bound]:
        """By the definition: each sentence, encoded."""
        ways = sentences or [b""]
        encoded = self._tokenizer.encode_many([window.text + way for way in ways])
        return [
            _Bound(self._within(window, ids), way, "sentence")
            for ids, way in zip(encoded, ways, strict=True)
        ]

    def _search(self, window: _Window, grammar: GrammarState) -> list[_Bound]:
        """Bounds whose common beginning is safe, and exact where the budget lasts."""
        order = count()
        proved: list[_Bound] = []
        # Entries: what their bounds have in common, the text so far, the state after it, bounds.
        open_: list[tuple[int, int, bytes, GrammarState, list[_Bound]]] = []

        def enter(more: bytes, state: GrammarState) -> int:
            state = remembered(state)
            bounds = [
                _Bound(self._within(window, bound.ids), bound.continuation, bound.kind)
                for bound in self._bounds(window, more, state)
            ]
            heapq.heappush(open_, (_common(bounds), next(order), more, state, bounds))
            return _common(bounds)

        floor = enter(b"", grammar)
        budget = self._budget
        listed = False
        while open_:
            _, _, more, state, bounds = heapq.heappop(open_)
            if proved and _common([*proved, *bounds]) == _common(proved):
                continue  # whatever comes of it, it takes nothing away
            for bound in self._witnesses(window, state, bounds, len(more)):
                proved.append(bound)
                if _common(proved) == floor:
                    return proved
            if proved and _common(proved) == floor:
                break
            if not listed:
                # Asked only now, as most grammars that come here have many.
                listed = True
                sentences = grammar.sentences(SENTENCES)
                if sentences is not None:
                    return self._all(window, sentences)
            if budget <= 0:
                return [*proved, *bounds, *(bound for entry in open_ for bound in entry[-1])]
            if state.complete:
                [ids] = self._tokenizer.encode_many([window.text + more])
                proved.append(_Bound(self._within(window, ids), more, "sentence"))
            for byte in state.next_bytes():
                budget -= 1
                after = state.after(bytes((byte,)))
                sure = after.forced()
                enter(more + bytes((byte,)) + sure, after.after(sure) if sure else after)
        return proved

    def _witnesses(
        self, window: _Window, state: GrammarState, bounds: Iterable[_Bound], skipped: int
    ) -> Iterator[_Bound]:
        """Those of the bounds, the lowest first, that some sentence reaches, as far as is seen.

        skipped: bytes of the continuations that led to ``state``.
        """
        for bound in sorted(bounds, key=lambda bound: len(bound.ids)):
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
                sentence = bound.continuation + rest
                [ids] = self._tokenizer.encode_many([window.text + sentence])
                yield _Bound(self._within(window, ids), sentence, "sentence")

    def _settled(self, window: _Window, way: bytes, state: GrammarState) -> _Bound | None:
        """The bound behind ``way`` and a little more, where nothing after that can change it.

        Far cheaper than the end of a sentence, which may be long.
        """
        for step in settling(state):
            way, state = way + step, state.after(step)
            [ids] = self._tokenizer.encode_many([window.text + way])
            settled = self._within(window, ids)
            bounds = self._bounds(window, way, remembered(state))
            if all(self._within(window, bound.ids) == settled for bound in bounds):
                return _Bound(settled, way, "settled")
        return None

    def _within(self, window: _Window, ids: Iterable[int]) -> tuple[int, ...]:
        """The ids that lie within the window's own text."""
        kept: list[int] = []
        size = 0
        for token_id in ids:
            size += len(self._tokenizer.spelling(token_id))
            if size > len(window.text):
                break
            kept.append(token_id)
        return tuple(kept)

    def _bounds(self, window: _Window, more: bytes, grammar: GrammarState) -> list[_Bound]:
        """What the futures of the window's text and ``more`` leave of them: all, maybe more."""
        text = window.text + more
        whole = whole_characters(text)
        part = text[whole:]
        if part:
            grammar = Within(part, grammar)
        text = text[:whole]
        if not self._tokenizer.mode.pretokenize:
            return self._inside(text, (), more, part, grammar, "")
        found: list[_Bound] = []
        for ends, stand_in in self._boundaries.ways(text, grammar).items():
            found += self._inside(text, ends, more, part, grammar, stand_in)
        return found or [_Bound((), more, "stand-in")]

    def _inside(
        self,
        text: bytes,
        ends: tuple[int, ...],
        more: bytes,
        part: bytes,
        grammar: GrammarState,
        stand_in: str,
    ) -> list[_Bound]:
        """The bounds where the pre-tokens end at ``ends``, and the rest is the last one."""
        bounds = [0, *ends]
        before = self._pieces([text[a:b] for a, b in pairwise(bounds)])
        last = text[bounds[-1] :]
        kind = "stand-in" if stand_in else "end"
        plain = more + stand_in.encode()[len(part) :] if part else more + stand_in.encode()
        if not last:
            return [_Bound(before, plain, kind)]
        tree = self._trees.tree(last)
        if tree is None or self._may_be_late(last, grammar):
            return [_Bound(before, plain, kind)]
        found = [_Bound(before + tree.encoding(tree.size), plain, kind)]
        for place in range(bisect_right(self._whole, last), len(self._whole)):
            whole = self._whole[place]
            if not whole.startswith(last):
                break
            if grammar.viable(whole[len(last) :]):
                way = more + whole[len(last) + len(part) :]
                return [*found, _Bound(before, way, "extension")]
        reached = tree.size
        for start in self._starts(tree):
            if tree.common(reached, start) == reached:
                continue
            extension = self._extension(tree, last, start, grammar)
            if extension is not None:
                reached = tree.common(reached, start)
                way = more + extension[len(part) :]
                found.append(_Bound(before + tree.encoding(start), way, "extension"))
        return found

    def _starts(self, tree: PrefixTree) -> list[int]:
        """Where a token may begin that spans the end; those first that leave least."""
        starts = range(max(0, tree.size - self._tokenizer.longest + 1), tree.size)
        return sorted(starts, key=lambda start: (tree.common(tree.size, start), start))

    def _extension(
        self, tree: PrefixTree, last: bytes, start: int, grammar: GrammarState
    ) -> bytes | None:
        """An e such that ``last[start:] + e`` is a token that may stand there."""
        for token_id, extension in self._tokenizer.extensions(last[start:], grammar.viable):
            if tree.may_follow(start, token_id):
                return extension
        return None

    def _may_be_late(self, last: bytes, grammar: GrammarState) -> bool:
        """Whether a late token is spelled here, or may come to be."""
        endings = self._late_to_come(last)
        return endings is None or any(map(grammar.viable, endings))

    def _late_endings(self, last: bytes) -> tuple[bytes, ...] | None:
        """What would complete a late token that ``last`` begins; None if it has a whole one."""
        if not self._late:
            return ()
        if self._late_within.search(last):
            return None
        return tuple(
            text[size:]
            for text in self._late
            for size in range(1, min(len(text), len(last) + 1))
            if last.endswith(text[:size])
        )

    def _pieces(self, pieces: Iterable[bytes]) -> tuple[int, ...]:
        return tuple(i for ids in self._tokenizer.encode_pieces(list(pieces)) for i in ids)

    def _healed(
        self, context: Context, forced: bytes, window: _Window, bounds: Sequence[_Bound]
    ) -> Healed:
        """The common tokens of all bounds that lie within the forced bytes."""
        kept = bounds[0].ids[: _common(bounds)]
        own = context.ids[window.first :]
        # Of the ways that keep as many tokens one is enough.
        ways = {len(bound.ids): bound for bound in reversed(bounds)}
        proof = tuple(
            Future(bound.continuation, max(0, size - len(own)), bound.kind)
            for size, bound in sorted(ways.items())
        )
        if kept[: len(own)] != own:
            return Healed((), forced, proof)
        ids = kept[len(own) :]
        return Healed(ids, forced[self._tokenizer.size(ids) :], proof)


class Remembered:
    """A state of a grammar that remembers what it said: it is asked for each way and start."""

    __slots__ = ("_complete", "_following", "_state", "_viable")

    def __init__(self, state: GrammarState) -> None:
        self._state = state
        self._complete = state.complete
        self._following = tuple(state.next_bytes())
        self._viable = dict.fromkeys(SINGLE_BYTES, False)
        self._viable.update((SINGLE_BYTES[byte], True) for byte in self._following)
        self._viable[b""] = self._complete or bool(self._following)

    @property
    def complete(self) -> bool:
        """See :class:`impls.forced.interface.GrammarState`."""
        return self._complete

    def next_bytes(self) -> Sequence[int]:
        """See :class:`impls.forced.interface.GrammarState`."""
        return self._following

    def forced(self) -> bytes:
        """See :class:`impls.forced.interface.GrammarState`."""
        return self._state.forced()

    def viable(self, data: bytes) -> bool:
        """See :class:`impls.forced.interface.GrammarState`."""
        found = self._viable.get(data)
        if found is None:
            found = self._viable[data[:1]] and self._state.viable(data)
            self._viable[data] = found
        return found

    def after(self, data: bytes) -> GrammarState:
        """See :class:`impls.forced.interface.GrammarState`."""
        return self._state.after(data)

    def sentences(self, most: int) -> Sequence[bytes] | None:
        """See :class:`impls.forced.interface.GrammarState`."""
        return self._state.sentences(most)


def remembered(state: GrammarState) -> GrammarState:
    """A state that answers no question twice."""
    return state if isinstance(state, Remembered) else Remembered(state)


@dataclass(frozen=True)
class Within:
    """A grammar seen from before the beginning of a character that it has already accepted."""

    part: bytes
    state: GrammarState

    @property
    def complete(self) -> bool:
        """No sentence ends inside a character."""
        return False

    def forced(self) -> bytes:
        """The part, and what is forced after it."""
        return self.part + self.state.forced()

    def viable(self, data: bytes) -> bool:
        """See :class:`impls.forced.interface.GrammarState`."""
        if len(data) <= len(self.part):
            return self.part.startswith(data)
        return data.startswith(self.part) and self.state.viable(data[len(self.part) :])

    def after(self, data: bytes) -> GrammarState:
        """See :class:`impls.forced.interface.GrammarState`."""
        if len(data) < len(self.part):
            return Within(self.part[len(data) :], self.state)
        return self.state.after(data[len(self.part) :])

    def next_bytes(self) -> Sequence[int]:
        """The first byte of the part."""
        return (self.part[0],)

    def sentences(self, most: int) -> Sequence[bytes] | None:
        """Those after the part, with it."""
        found = self.state.sentences(most)
        return None if found is None else [self.part + sentence for sentence in found]


def completion(state: GrammarState) -> bytes | None:
    """Bytes that bring the grammar to the end of a sentence, if some are easily found."""
    found = b""
    while not state.complete:
        step = _towards_end(state)
        if not step or len(found) > COMPLETION:
            return None
        found += step
        state = state.after(step)
    return found


def settling(state: GrammarState) -> Iterator[bytes]:
    """The first steps of a completion."""
    for _ in range(SETTLING):
        step = _towards_end(state)
        if not step:
            return
        yield step
        state = state.after(step)


def _towards_end(state: GrammarState) -> bytes:
    """What is forced, else the byte that looks most like an ending; nothing if none can come."""
    forced = state.forced()
    if forced:
        return forced
    following = state.next_bytes()
    if not following:
        return b""
    return bytes((next((byte for byte in ENDING if byte in following), following[-1]),))


def _common(bounds: Sequence[_Bound]) -> int:
    """How many tokens all bounds begin with."""
    shortest = min((bound.ids for bound in bounds), key=len)
    for index, token_id in enumerate(shortest):
        if any(bound.ids[index] != token_id for bound in bounds):
            return index
    return len(shortest)
