"""Vocabularies as the policies see them: encoding, what extends a text, what futures leave of it.

Of byte-level BPE here. Inside a pre-token :mod:`impls.forced.futures` tells what futures leave.
At the end of a text the pre-tokenizer adds the ways in which the last pre-tokens may come out;
these are finite (:mod:`impls.forced.boundaries`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from impls.forced.boundaries import Boundaries
from impls.forced.futures import Beginnings, Bound, Window, ids_of, tokens_of
from impls.forced.spellings import Spellings, anything, cut_off, whole_characters
from impls.forced.states import Within
from impls.interface import Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.futures import Token
    from impls.forced.interface import Context, GrammarState

RAW = Mode(pretokenize=False)

Steps = list[tuple[int, bytes]]
"""Ids, each with its bytes."""

REMEMBERED_PIECES = 1 << 15
"""Pre-tokens whose ids are remembered: texts ask for the same ones again and again."""

REMEMBERED_TEXTS = 256
"""Texts whose ids are remembered: policies ask alike."""


class AnyTokenizer(ABC):
    """A vocabulary as the policies see it, with the plain encoder that gives its ids.

    A token's *bytes* are those of the text that it stands for: its own spelling in byte-level BPE,
    else those that the normalizer made it from. Raises Unsupported where the encoder does not take
    the vocabulary. What others are judged by rests on no code that is there for speed alone.
    """

    def __init__(self, vocabulary: Vocabulary, implementation: Any, mode: Mode) -> None:
        trouble = implementation.supports(vocabulary, mode)
        if trouble is not None:
            raise Unsupported(f"forced tokens of {vocabulary.id}: {trouble}")
        self.vocabulary, self.mode = vocabulary, mode
        self._encoder = implementation.load(vocabulary)
        self._remembered = lru_cache(REMEMBERED_TEXTS)(self._encode)

    def encode(self, data: bytes) -> tuple[int, ...]:
        """The ids of a text."""
        return self._remembered(data)

    def _encode(self, data: bytes) -> tuple[int, ...]:
        return tuple(self._encoder.encode(data, self.mode))

    def encode_many(self, texts: Iterable[bytes]) -> list[tuple[int, ...]]:
        """The ids of many texts."""
        return list(map(self.encode, texts))

    def spelling(self, token_id: int) -> bytes:
        """The bytes of a token inside a text."""
        return self.vocabulary.spelling(token_id)

    def stands_alone(self, context: Context) -> bool:
        """Whether a text, of which an encoding begins with the context, encodes to it by itself."""
        return self.encode(context.text) == context.ids

    def steps(self, text: bytes) -> Steps:
        """The ids of a text, each with its bytes; together they are the text."""
        return [(token_id, self.spelling(token_id)) for token_id in self.encode(text)]

    @abstractmethod
    def steps_after(self, context: Context, data: bytes) -> Steps:
        """The ids of ``data`` after a context as an engine finds them, each with its bytes.

        Encoded together with the last token of the context, which is taken off again where it
        comes out unchanged; else by themselves.
        """

    @abstractmethod
    def extensions(
        self, suffix: bytes, viable: Callable[[bytes], bool] = anything
    ) -> Iterator[tuple[int, bytes]]:
        """The tokens whose bytes begin with ``suffix`` and go on with a viable e: (id, e), lazily.

        viable: whether something may go on with these bytes; asked for beginnings of e first.
        """

    @abstractmethod
    def window(self, context: Context, text: bytes) -> Window:
        """The end of ``text``, which begins with the context's, from where nothing can move it."""

    @abstractmethod
    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """Of each way to the end of the text: the tokens that lie within the window."""

    @abstractmethod
    def bounds(self, window: Window, more: bytes, state: GrammarState) -> list[Bound]:
        """What the futures of the window's text and ``more`` leave: all of them, maybe more.

        At least one. state: of the grammar after ``more``.
        """

    def forceable(self, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """The longest beginning of ``tokens`` that spells a beginning of the forced bytes."""
        return tokens


REMEMBERED_ENDS = 256
"""Pre-tokens whose beginnings are remembered: ends of texts are alike."""

Found = tuple[tuple[int, ...], bytes, str]
"""Ids from the window's start, the continuation, and its kind."""


class Tokenizer(AnyTokenizer):
    """A byte-level BPE vocabulary with its encoder. Texts may end inside a character.

    pretokenize: whether the vocabulary's pre-tokenizer comes first, as it does in use.
    """

    def __init__(self, vocabulary: Vocabulary, *, pretokenize: bool = True) -> None:
        from impls.bpe.backtracking import IMPLEMENTATION  # noqa: PLC0415 - Numba takes a second

        super().__init__(vocabulary, IMPLEMENTATION, Mode(pretokenize=pretokenize))
        self.piece = lru_cache(REMEMBERED_PIECES)(lambda piece: self.encode_pieces([piece])[0])
        """The ids of a pre-token by itself."""
        self.size = cache(lambda token_id: len(self.spelling(token_id)))
        """How many bytes an id spells."""
        self._boundaries, self._growing = self.boundaries(), self.boundaries()
        self._beginnings = lru_cache(REMEMBERED_ENDS)(
            lambda piece: Beginnings(self._merged, piece, self.spellings)
        )

    def boundaries(self) -> Boundaries:
        """The boundaries of its pre-tokens, for texts of which each begins the next."""
        return Boundaries(self.vocabulary, self.piece_ends, self.size)

    @cached_property
    def spellings(self) -> Spellings:
        """All tokens by their bytes."""
        return Spellings(self.vocabulary.ids)

    def placed(self, ids: Iterable[int]) -> tuple[Token, ...]:
        """Tokens with their ends."""
        known = tuple(ids)
        return tokens_of(known, accumulate(map(self.size, known)))

    def _encode(self, data: bytes) -> tuple[int, ...]:
        """The ids. Parts of characters at either end are encoded as pieces of their own."""
        if not self.mode.pretokenize:
            return self.piece(data)
        start = cut_off(data)
        end = max(start, whole_characters(data))
        inner = self._encoder.encode(data[start:end], self.mode)
        return (*self.piece(data[:start]), *inner, *self.piece(data[end:]))

    def encode_pieces(self, pieces: Sequence[bytes]) -> list[tuple[int, ...]]:
        """The ids of pre-tokens, each by itself, by one compiled call."""
        ends = np.array(list(accumulate(map(len, pieces))), dtype=np.int64)
        ids, id_ends = self._encoder.encode_batch(b"".join(pieces), ends, RAW)
        flat = ids.tolist()
        return [tuple(flat[a:b]) for a, b in pairwise([0, *id_ends.tolist()])]

    def stands_alone(self, context: Context) -> bool:
        """See :class:`AnyTokenizer`. Asked about the end of the text, where the rest is settled."""
        if not self._growing.known:
            return self.encode(context.text) == context.ids
        start, first = self._growing.beginning(context, context.text)
        return self.encode(context.text[start:]) == context.ids[first:]

    def steps_after(self, context: Context, data: bytes) -> Steps:
        """See :class:`AnyTokenizer`."""
        if context.ids:
            last = context.ids[-1]
            together = self.steps(self.spelling(last) + data)
            if together[0][0] == last:
                return together[1:]
        return self.steps(data)

    def piece_ends(self, text: bytes) -> list[int]:
        """Where the pre-tokens of a text of whole characters end; just its end without any."""
        if not self.mode.pretokenize:
            return [len(text)] if text else []
        cut = self._encoder.cut(text, np.array([len(text)], dtype=np.int64), self.mode)
        ends: list[int] = cut.ends.tolist()
        return ends

    def extensions(
        self, suffix: bytes, viable: Callable[[bytes], bool] = anything
    ) -> Iterator[tuple[int, bytes]]:
        """See :class:`AnyTokenizer`."""
        return self.spellings.extensions(suffix, viable)

    def window(self, context: Context, text: bytes) -> Window:
        """From a boundary of pre-tokens that nothing after ``text`` can move."""
        start, first = self._boundaries.beginning(context, text)
        return Window(text[start:], start, first)

    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """See :class:`AnyTokenizer`."""
        encoded = self.encode_many(window.text + way for way in ways)
        return [self._within(window, ids) for ids in encoded]

    def _within(self, window: Window, ids: Iterable[int]) -> tuple[Token, ...]:
        """The tokens that lie within the window's own text."""
        tokens = self.placed(ids)
        return tokens[: bisect_right(tokens, len(window.text), key=itemgetter(1))]

    def bounds(self, window: Window, more: bytes, state: GrammarState) -> list[Bound]:
        """See :class:`AnyTokenizer`."""
        text = window.text + more
        whole = whole_characters(text)
        text, part = text[:whole], text[whole:]
        if part:
            state = Within(part, state)
        ways: dict[tuple[int, ...], str] = {(): ""}
        if self.mode.pretokenize:
            ways = self._boundaries.ways(text, state)
        found = [
            (ids, more + way[len(part) :], kind)
            for ends, stand_in in ways.items()
            for ids, way, kind in self._inside(text, ends, state, stand_in)
        ]
        settled = not part or whole >= len(window.text)
        return [
            Bound(self._within(window, ids), way, kind, settled)
            for ids, way, kind in found or [((), more, "stand-in")]
        ]

    def _inside(
        self, text: bytes, ends: tuple[int, ...], grammar: GrammarState, stand_in: str
    ) -> Iterator[Found]:
        """The bounds where the pre-tokens end at ``ends``, and the rest is the last one."""
        bounds = [0, *ends]
        before = tuple(chain(*(self.piece(text[a:b]) for a, b in pairwise(bounds))))
        last = text[bounds[-1] :]
        beginnings = None
        if last and self.vocabulary.can_encode(last):
            beginnings = self._beginnings(last)
        whole = ids_of(beginnings.whole) if beginnings else ()
        yield (*before, *whole), stand_in.encode(), "stand-in" if stand_in else "end"
        if not beginnings:
            return
        for _, e in self._unmerged.extensions(last, grammar.viable):
            yield before, e, "extension"
            return
        if lowest := beginnings.lowest(grammar.viable):
            yield (*before, *ids_of(lowest[0])), lowest[1], "extension"

    def _merged(self, pieces: Sequence[bytes]) -> list[tuple[Token, ...]]:
        return list(map(self.placed, self._merging.encode_pieces(pieces)))

    @cached_property
    def _merging(self) -> Tokenizer:
        """The same vocabulary where a piece is merged, be it a token or not."""
        if not self.vocabulary.ignore_merges:
            return self
        plain = replace(self.vocabulary, ignore_merges=False)
        return Tokenizer(plain, pretokenize=self.mode.pretokenize)

    @cached_property
    def _unmerged(self) -> Spellings:
        """The tokens that merges do not give, and that come out where they are a whole piece."""
        ids = self.vocabulary.ids
        if self._merging is self:
            return Spellings({})
        merged = zip(ids.items(), self._merging.encode_pieces(list(ids)), strict=True)
        return Spellings({text: one for (text, one), found in merged if found != (one,)})
