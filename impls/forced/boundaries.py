"""How the pre-tokens at the end of a text may come out, whatever follows.

The known patterns look at most a few characters ahead, and by classes: so a stand-in for each
sequence of classes tells what any text of these classes does. Stand-ins cover one character, two,
and the longer ones that decide something: contractions, runs of white space, runs of capitals.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from corpora.vocabularies.patterns import PATTERNS
from impls.forced.spellings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.interface import Context, GrammarState

LETTERS = "abBsStTmMdDlLrRvVeE"
"""The letters of contractions, and one small and one capital letter that are of none."""

OTHERS = "1 \t\n\r'/.\u00e9\u00c9\u3042\u01c5\u02b0\u0301\u00b2\u00a0\u2028\u201c\u017f"
"""A digit, white space, line ends, what patterns name, and each class outside ASCII: small,
capital, uncased, title case and modifier letters, marks, numbers, white space, the rest; long s."""

FIRST = LETTERS + OTHERS

BOTH = (
    # Whether a run of capitals gives its last character to a word depends on what follows it.
    ("B\u00c9\u01c5\u02b0\u3042\u0301", "bB\u3042\u0301 1."),
    # A run of white space keeps its last character or not; a line end takes all of it.
    (" \t\n\r\u00a0\u2028", "bB\u3042\u0301 \n1'./"),
    # A sign is the beginning of a word, or goes on, up to the end of a line.
    ("'/.\u201c", "bBsSlr\u3042\u0301 \n\r1'./"),
    ("'", "tTdDmMLRvVeE"),
)

PAIRS = (
    *(a + b for firsts, seconds in BOTH for a, b in product(firsts, seconds)),
    "11", "1b", "ll", "re", "ve", "LL", "RE", "VE", "lL", "lb", "rb", "vb", "Bs",
)  # fmt: skip
"""Other second characters change nothing about the first."""

LONGER = (
    "'ll", "'re", "'ve", "'LL", "'RE", "'VE", "'lb", "'rb", "'vb",
    "  b", "  \n", "   b", " \nb", " \n ", "\n\nb", "\n b", "\r\nb", "\t b",
    "BBb", "BB ", "B\u3042 ", "B\u3042B", "\u3042Bb", "\u3042B ", "\u0301Bb", "\u0301B ", "BB1",
    "111", "11b", "...", "..b", "..\n", "./b", "//b", ".\nb", ".\n\n", " .b", " ..", " 1b", " Bb",
)  # fmt: skip

STAND_INS = (*FIRST, *PAIRS, *LONGER)

SECONDS = frozenset(stand_in[1] for stand_in in STAND_INS if len(stand_in) > 1)

COVERED = {first: frozenset(pair[1] for pair in PAIRS if pair[0] == first) for first in FIRST}
"""The second characters, by the first one, that have a stand-in of their own."""

ASCII = 0x80

WINDOW_PIECES = 6
"""Pre-tokens at the end of a text that may still change, where nothing is known of the pattern."""

KNOWN_WINDOW_PIECES = 2
"""Likewise, where the pattern is one of :data:`KNOWN_PATTERNS`. Each of them looks further than a
pre-token and comes to the end of the text only from the last pre-token but one: over white space
after line ends, over a run of capitals and characters without case, and for a contraction."""

KNOWN_PATTERNS = frozenset(
    PATTERNS[name] for name in ("gpt2", "cl100k_base", "qwen2", "qwen35", "o200k_base", "tekken")
)

KNOWN = 3
"""So many different next bytes are followed further; where there are more, anything may come
second."""


def alike(byte: int) -> list[str]:
    """The characters of :data:`FIRST` that stand for those that begin with a byte."""
    if byte >= ASCII:  # Which one it begins is not asked.
        return [character for character in FIRST if not character.isascii()]
    character = chr(byte)
    if character in FIRST:
        return [character]
    if character.isdigit():
        return ["1"]
    if character.isalpha():
        return ["B" if character.isupper() else "b"]
    return ["\t" if character.isspace() else "."]


def admitted(grammar: GrammarState) -> tuple[str, ...]:
    """The stand-ins for continuations that the grammar may admit: all that it does, maybe more.

    The first is "", the end of the text, if the text may end.
    """
    following = tuple(grammar.next_bytes())
    if len(following) > KNOWN:
        found = _whatever_follows(following)
    else:
        seconds: dict[str, frozenset[str] | None] = {}
        for byte in following:
            known = None if byte >= ASCII else _seconds(grammar.after(bytes((byte,))))
            for first in alike(byte):
                seconds[first] = known if known is None else known | (seconds.get(first) or set())
        found = _standing_for(seconds)
    return ("", *found) if grammar.complete else found


@lru_cache(maxsize=1024)
def _whatever_follows(following: tuple[int, ...]) -> tuple[str, ...]:
    """The stand-ins that begin with these bytes, or characters like them."""
    return _standing_for({first: None for byte in following for first in alike(byte)})


def _standing_for(seconds: Mapping[str, frozenset[str] | None]) -> tuple[str, ...]:
    """The stand-ins for texts with these first characters.

    seconds: by the first one, which may be second, "" for the end; None where anything may.
    """

    def stands(first: str, second: str) -> bool:
        then = seconds.get(first, frozenset())
        # One character: the end comes, or a second one that changes nothing.
        return then is None or bool({second} & then if second else then - COVERED[first])

    return tuple(one for one in STAND_INS if stands(one[0], one[1:2]))


def _seconds(grammar: GrammarState) -> frozenset[str]:
    """The characters that stand for those that may come second; "" for the end."""
    found = {""} if grammar.complete else set()
    for byte in grammar.next_bytes():
        if byte >= ASCII:
            found.update(character for character in SECONDS if not character.isascii())
            continue
        [character] = alike(byte)
        # Stand-ins in second place are fewer: what is not among them goes by its case.
        case = "b" if character.islower() else "B" if character.isupper() else character
        found.update((character, case, {"\t": " ", "\r": "\n"}.get(character, character)))
    return frozenset(found)


class Boundaries:
    """The boundaries of pre-tokens at the end of texts, remembered.

    piece_ends: where the pre-tokens of a text end. size: how many bytes an id spells.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        piece_ends: Callable[[bytes], list[int]],
        size: Callable[[int], int],
    ) -> None:
        self._piece_ends, self._size = piece_ends, size
        self._form = vocabulary.normalizer.form
        # An added token that comes to its end takes all of its pre-tokens back.
        added = any(not token.special for token in vocabulary.added_tokens)
        self.known = vocabulary.splits in KNOWN_PATTERNS and not (added or self._form)
        """Whether it is known which pre-tokens what follows can move, and not only presumed."""
        self._movable = KNOWN_WINDOW_PIECES if self.known else WINDOW_PIECES
        self._ends = lru_cache(maxsize=4096)(self._piece_ends)
        self._cut = lru_cache(maxsize=4096)(self._cut_anew)
        self._growing: tuple[bytes, Sequence[int]] = (b"", ())

    def ways(self, text: bytes, grammar: GrammarState) -> dict[tuple[int, ...], str]:
        """The ways in which ``text``, of whole characters, may be cut, each with a stand-in.

        A way is the boundaries up to the text's end; the stand-in "" is the end of the text.
        """
        fixed = self._lasting(self._ends(text))
        start = fixed[-1] if fixed else 0
        return {
            (*fixed, *(start + end for end in ends)): stand_in
            for ends, stand_in in self._cut(text[start:], admitted(grammar)).items()
        }

    def _cut_anew(self, last: bytes, asked: Sequence[str]) -> dict[tuple[int, ...], str]:
        """The ways in which the text ``last`` may be cut before each of these stand-ins."""
        found: dict[tuple[int, ...], str] = {}
        for way in asked:
            ends = self._piece_ends(last + way.encode())
            found.setdefault(tuple(ends[: bisect_right(ends, len(last))]), way)
        return found

    def start(self, text: bytes, most: int, spare: int = 0) -> int:
        """The last boundary of ``text``, of whole characters, that nothing after it can move, and
        that is no further than ``most``, but for ``spare`` of them; or 0.

        It is cheaper for a text that goes on from the one that was asked for last, if the pattern
        is known.
        """
        before, ends = self._growing
        fixed = self._lasting(ends) if self.known and text.startswith(before) else ()
        start = fixed[-1] if fixed else 0
        ends = [*fixed, *(start + end for end in self._piece_ends(text[start:]))]
        self._growing = text, ends
        fixed = self._lasting(ends)
        place = bisect_right(fixed, most) - spare
        return fixed[place - 1] if place > 0 else 0

    def beginning(self, context: Context, text: bytes) -> tuple[int, int]:
        """Where the end of ``text`` begins that may still change, and how many ids are before it.

        text: begins with the context's. The place is within that, so that its tokens show where
        they change. (0, 0) where no token of the context ends there.
        """
        # What goes on from the context may move the boundaries at its end, and so change its
        # tokens. That they change is seen where they are compared from before these on.
        spare = WINDOW_PIECES if len(text) > len(context.text) else 0
        start = self.start(text[: whole_characters(text)], len(context.text), spare)
        first = len(context.ids)
        # A normalized text is spelled, which may be of another length.
        place = len(context.text) if self._form is None else sum(map(self._size, context.ids))
        while place > start and first:
            first -= 1
            place -= self._size(context.ids[first])
        return (start, first) if place == start else (0, 0)

    def _lasting(self, ends: Sequence[int]) -> Sequence[int]:
        """Of the boundaries of a text's pre-tokens, those that nothing after the text can move."""
        return ends[: max(0, len(ends) - self._movable)]
