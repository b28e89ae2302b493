"""How the pre-tokens at the end of a text may come out, whatever follows.

The known patterns look at most a few characters ahead, and by classes: so a stand-in for each
sequence of classes tells what any text of these classes does. Stand-ins cover one character, two,
and the longer ones that decide something: contractions, runs of white space, runs of capitals.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from impls.forced.context import GrammarState
    from impls.forced.tokenizer import Tokenizer

LETTERS = "abBsStTmMdDlLrRvVeE"
"""The letters of contractions, and one small and one capital letter that are of none."""

OTHERS = "1 \t\n\r'/.\u00e9\u00c9\u3042\u01c5\u02b0\u0301\u00b2\u00a0\u2028\u201c\u017f"
"""A digit, white space, line ends, what patterns name, and each class outside ASCII: small,
capital, uncased, title case and modifier letters, marks, numbers, white space, the rest; long s."""

FIRST = LETTERS + OTHERS

CAPITALS = "B\u00c9\u01c5\u02b0\u3042\u0301"
WHITE_SPACE = " \t\n\r\u00a0\u2028"
SIGNS = "'/.\u201c"

PAIRS = (
    # Whether a run of capitals gives its last character to a word depends on what follows it.
    *(a + b for a, b in product(CAPITALS, "bB\u3042\u0301 1.")),
    # A run of white space keeps its last character or not; a line end takes all of it.
    *(a + b for a, b in product(WHITE_SPACE, "bB\u3042\u0301 \n1'./")),
    # A sign is the beginning of a word, or goes on, up to the end of a line.
    *(a + b for a, b in product(SIGNS, "bBsSlr\u3042\u0301 \n\r1'./")),
    *("'" + letter for letter in "tTdDmMLRvVeE"),
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
"""Pre-tokens at the end of a text that may still change; the known patterns change two."""

KNOWN = 3
"""So many different next bytes are followed further; where there are more, anything may come
second."""


def alike(character: str) -> str:
    """The character of :data:`FIRST` that stands for one of ASCII."""
    if character in FIRST:
        return character
    if character.isdigit():
        return "1"
    if character.isupper():
        return "B"
    if character.islower():
        return "b"
    return "." if character not in "\v\f\x1c\x1d\x1e\x1f" else "\t"


def admitted(grammar: GrammarState) -> Iterable[str]:
    """The stand-ins for continuations that the grammar may admit: all that it does, maybe more."""
    seconds: dict[str, set[str] | None] = {}
    following = grammar.next_bytes()
    for byte in following:
        if byte >= ASCII:
            # Which character it begins is not asked: any outside ASCII, then anything.
            for first in FIRST:
                if not first.isascii():
                    seconds[first] = None
            continue
        first = alike(chr(byte))
        if len(following) > KNOWN or seconds.get(first, set()) is None:
            seconds[first] = None
            continue
        known = seconds.setdefault(first, set())
        if known is not None:
            known |= _next_classes(grammar.after(bytes((byte,))))
    for stand_in in STAND_INS:
        if stand_in[0] not in seconds:
            continue
        then = seconds[stand_in[0]]
        if then is None:
            yield stand_in
        elif len(stand_in) > 1:
            if stand_in[1] in then:
                yield stand_in
        elif then - COVERED[stand_in]:
            # The end, or a second character that changes nothing.
            yield stand_in


def _next_classes(grammar: GrammarState) -> set[str]:
    found = {""} if grammar.complete else set()
    for byte in grammar.next_bytes():
        if byte >= ASCII:
            found.update(character for character in SECONDS if not character.isascii())
        else:
            character = alike(chr(byte))
            found.add(character)
            # Stand-ins in second place are fewer: what is not among them goes by its case.
            found.add("b" if character.islower() else "B" if character.isupper() else character)
            found.add({"\t": " ", "\r": "\n"}.get(character, character))
    return found


class Boundaries:
    """The boundaries of pre-tokens at the end of texts, remembered."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known = lru_cache(maxsize=4096)(_nothing_known)

    def ways(self, text: bytes, grammar: GrammarState) -> dict[tuple[int, ...], str]:
        """The ways in which ``text``, of whole characters, may be cut, each with a stand-in.

        A way is the boundaries up to the text's end; the stand-in "" is the end of the text.
        """
        asked = [*([""] if grammar.complete else []), *admitted(grammar)]
        known = self._known(text)
        missing = [way for way in asked if way not in known]
        if missing:
            fixed = lasting(self._tokenizer.piece_ends([text])[0])
            start = fixed[-1] if fixed else 0
            last, size = text[start:], len(text) - start
            cut = self._tokenizer.piece_ends([last + way.encode() for way in missing])
            for way, ends in zip(missing, cut, strict=True):
                known[way] = (*fixed, *(start + end for end in ends if end <= size))
        found: dict[tuple[int, ...], str] = {}
        for way in asked:
            found.setdefault(known[way], way)
        return found


def lasting(ends: Sequence[int]) -> Sequence[int]:
    """Of the boundaries of a text's pre-tokens, those that nothing after the text can move."""
    return ends[: max(0, len(ends) - WINDOW_PIECES)]


def _nothing_known(_: bytes) -> dict[str, tuple[int, ...]]:
    return {}
