r"""Whether two pre-tokenizer patterns part every text alike; else the shortest text.

**What is compared.** Without look-behind and anchors, where the next piece ends depends only on the
text from its beginning on. So two patterns part all texts alike exactly if the first piece of each
text ends at the same place: one that differs shows it as a whole text, and the rest follows by
induction. A piece is a match or a gap (:func:`harness.studies.prove.expressions.pieces`).

**The automaton.** A backtracking engine tries ways in order and takes the first that matches.
Reading a text once, all ways that are still possible are kept as a list of *threads* in that order;
a thread that matches ends all behind it. A thread that has passed an assertion carries it as an
obligation: the threads of the asserted program from that place on, of which one must match (or none
may). A match with obligations ends only those behind it that have these and perhaps more. A thread
is left out if one before it stands at the same step with some of its obligations: what it can do,
that one does first. So there are finitely many lists, but for the places where matches ended.

**The product.** Of these places only the order matters, and which are the same place in both lists.
The pairs of lists, with places numbered by age, are searched breadth first over classes of
characters. At each pair the text may end: assertions are then decided. Where both lists begin with
a match that owes nothing, no longer text changes it, and the places are compared.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import regex

from harness.studies.prove.expressions import (
    ASSERTION,
    CHARACTER,
    CHOICE,
    Alphabet,
    Program,
    Undecidable,
    alphabet,
    changed,
    pieces,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Obligations = frozenset["Owed"]
    Thread = tuple[int, "Obligations"]
    """A step that takes a character, or the match; and what the thread owes."""
    Owed = tuple[bool, "frozenset[Thread]"]
    """Whether none may match, and the threads that are still possible."""
    Listed = tuple[int, "Obligations", int]
    """A thread in a list: where its match ended, or RUNNING."""

RUNNING, NOW = -1, 1 << 30
"""In place of where a match ended: it has not, or here."""

STATES = 20_000
"""Pairs of lists that are searched, at most: a minute."""

LONGEST = 4
"""Bytes of a character, at most."""

ASKED = 300
"""Texts that are looked for in pieces, at most; the others count as possible: two minutes."""

VERSIONS = (14.0, 15.0, 15.1, 17.0, 18.0)
"""Versions of Unicode besides 16 whose characters are known."""

TEXTS = 50
"""Texts that are shown, at most."""


@dataclass(frozen=True)
class Found:
    """texts: that are parted in two ways, the shortest first. undecided: why nothing is known."""

    texts: Sequence[str] = ()
    undecided: str = ""


@dataclass
class Machine:
    """The steps of both patterns over one alphabet, with what was found before."""

    program: Program
    letters: Alphabet
    _stepped: dict[tuple[Thread, int], tuple[Thread, ...]] = field(default_factory=dict)

    def opened(self, at: int, owed: Obligations) -> Iterator[Thread]:
        """The threads of a step, before it takes a character, by preference, each once."""
        waiting, seen = [(at, owed)], set[tuple[int, frozenset[Any]]]()
        while waiting:
            here = at, owed = waiting.pop()
            step = self.program.steps[at]
            if here in seen:
                continue
            seen.add(here)
            if step.kind == CHOICE:
                waiting += [(step.second, owed), (step.first, owed)]
            elif step.kind == ASSERTION:
                new = step.negative, frozenset(self.opened(step.second, frozenset()))
                told = self.told(new)
                if told is not False:
                    waiting.append((step.first, owed if told else owed | {new}))
            else:
                yield here

    def stepped(self, thread: Thread, letter: int) -> tuple[Thread, ...]:
        """The threads that one becomes by a character; a match waits for what it owes."""
        key = thread, letter
        if key not in self._stepped:
            self._stepped[key] = tuple(self._step(*thread, letter))
        return self._stepped[key]

    def _step(self, at: int, owed: Obligations, letter: int) -> Iterator[Thread]:
        step = self.program.steps[at]
        if step.kind == CHARACTER and not self.letters.holds[step.part][letter]:
            return
        left: set[Owed] = set()
        for negative, threads in owed:
            now = negative, frozenset(t for one in threads for t in self.stepped(one, letter))
            told = self.told(now)
            if told is False:
                return
            if told is None:
                left.add(now)
        if step.kind == CHARACTER:
            yield from self.opened(step.first, frozenset(left))
        else:
            yield at, frozenset(left)

    def matched(self, at: int) -> bool:
        """Whether a step is the match."""
        return self.program.steps[at].kind != CHARACTER

    def ends(self, thread: Thread) -> bool:
        """Whether a thread has matched if the text ends here."""
        at, owed = thread
        return self.matched(at) and all(
            any(self.ends(one) for one in threads) != negative for negative, threads in owed
        )

    def told(self, owed: Owed) -> bool | None:
        """Whether an obligation is met, or can no longer be; None where it is open."""
        negative, threads = owed
        if any(self.matched(at) and not owes for at, owes in threads):
            return not negative
        return None if threads else negative

    def listed(self, threads: Iterable[Listed]) -> tuple[Listed, ...]:
        """A list without the threads that no text needs."""
        found: list[Listed] = []
        seen: dict[int, list[Obligations]] = {}
        for at, owed, place in threads:
            before = seen.setdefault(at if place == RUNNING else RUNNING, [])
            if any(one <= owed for one in before):
                continue
            before.append(owed)
            found.append((at, owed, place))
            if place != RUNNING and not owed:
                break
        return tuple(found)

    def after(self, threads: Sequence[Listed], letter: int) -> tuple[Listed, ...]:
        """The list after a character."""
        return self.listed(
            (at, owed, NOW if place == RUNNING and self.matched(at) else place)
            for old, owes, place in threads
            for at, owed in self.stepped((old, owes), letter)
        )

    def ended(self, threads: Sequence[Listed]) -> int:
        """Where the match ended if the text ends here; RUNNING for none."""
        return next((place for at, owed, place in threads
                     if place != RUNNING and self.ends((at, owed))), RUNNING)  # fmt: skip


def machine(*patterns: str) -> tuple[Machine, Sequence[tuple[Listed, ...]]]:
    """The steps of patterns, and the list with which each begins. Raises Undecidable."""
    program = Program()
    try:
        starts = [pieces(program, pattern) for pattern in patterns]
    except RecursionError:
        raise Undecidable("a pattern of too many parts within one another") from None
    made = Machine(program, alphabet(program.parts))
    return made, [made.listed((*one, RUNNING) for one in made.opened(at, frozenset()))
                  for at in starts]  # fmt: skip


def alike(a: str, b: str) -> Found:
    """Compare two patterns, as the `regex` package reads them."""
    try:
        made, starts = machine(a, b)
    except Undecidable as error:
        return Found(undecided=str(error))
    found = [*islice(differing(made, starts, {}), TEXTS)]
    if found == [None]:
        return Found(undecided=f"the two patterns have more than {STATES:,} states")
    texts = tuple(filter(None, found))
    one, other = map(regex.compile, (a, b))
    if any(parted(one, text) == parted(other, text) for text in texts):
        return Found(undecided="the automaton and the `regex` package differ: a defect of tokgate")
    return Found(texts)


Pair = tuple[tuple["Listed", ...], tuple["Listed", ...]]


def by_other_versions(a: str, b: str) -> Iterator[tuple[float, int, str]]:
    """The versions of Unicode by which two patterns that are alike part some texts in two ways.

    Of each version, how many characters it classes as Unicode 16 classes none, so that one of them
    makes such a text; and the first of these.
    """
    made, starts = machine(a, b)
    letters = made.letters
    for version in VERSIONS:
        guilty: list[int] = []
        for key, codes in changed(letters, version).items():
            rows = zip(letters.holds.items(), key, strict=True)
            holds = {part: [*row, bool(one)] for (part, row), one in rows}
            more = replace(letters, members=[*letters.members, chr(codes[0])], holds=holds)
            if next(differing(Machine(made.program, more), starts, {}), None) is not None:
                guilty += codes
        if guilty:
            yield version, len(guilty), chr(min(guilty))


def differing(
    made: Machine, starts: Sequence[tuple[Listed, ...]], texts: dict[Pair, str]
) -> Iterator[str | None]:
    """The texts whose first pieces differ, the shortest first; None where the search is given up.

    After two matches that owe nothing, no longer texts are looked at. texts: receives a shortest
    text for each pair of lists.
    """
    members = made.letters.members
    a, b = starts
    waiting: list[Pair] = [(a, b)]
    texts[a, b] = ""
    for pair in waiting:  # which grows
        text = texts[pair]
        for letter, member in enumerate(members):
            after = _numbered(*(made.after(one, letter) for one in pair))
            if after in texts:
                continue
            texts[after] = text + member
            mine, theirs = map(made.ended, after)
            if mine != theirs:
                yield texts[after]
            if not all(one and one[0][2] != RUNNING and not one[0][1] for one in after):
                waiting.append(after)
        if len(texts) > STATES:
            yield None
            return


def _numbered(a: Sequence[Listed], b: Sequence[Listed]) -> Pair:
    """Two lists with the places where matches ended numbered by age."""
    places = sorted({place for _, _, place in (*a, *b)} - {RUNNING})
    number = {place: i for i, place in enumerate(places)} | {RUNNING: RUNNING}
    one, other = (tuple((at, owed, number[place]) for at, owed, place in threads)
                  for threads in (a, b))  # fmt: skip
    return one, other


def parted(pattern: regex.Pattern[str], text: str) -> list[int]:
    """Where the pieces of a text end: its matches, and the gaps between them."""
    ends = {end for match in pattern.finditer(text) for end in match.span()}
    return sorted((ends | {len(text)}) - {0})


class Language:
    """What can stand inside a piece of a pattern, in bytes of UTF-8.

    Raises Undecidable for a pattern that the automaton does not cover.
    """

    def __init__(self, pattern: str | None) -> None:
        """None: the whole text is one piece."""
        self._asked = 0
        self._machine: Machine | None = None
        if pattern is not None:
            self._machine, [self._start] = machine(pattern)

    def possible(self, data: bytes) -> bool:
        """Whether some piece of some text may have these bytes in it; true where it is not known.

        Of a text it is tried where in its first piece they begin, as each piece is the first one
        of what is left of the text.
        """
        letters = self._letters(data)
        if self._machine is None or not letters or self._asked >= ASKED:
            return letters is not None
        self._asked += 1
        waiting = [(self._start, 0)]
        seen = {*waiting}
        for threads, at in waiting:  # which grows
            for letter in range(len(self._machine.letters.members)):
                begun = at < len(letters) and letter in letters[at]
                # Before the bytes, and after them, there may be any others.
                places = (
                    ({at + 1} if begun else set[int]())
                    if 0 < at < len(letters)
                    else {at, at + begun}
                )
                for place in places:
                    after = self._machine.after(threads, letter)
                    inside = place == len(letters)
                    known = tuple((step, owed, int(inside) if ended == NOW else ended)
                                  for step, owed, ended in after)  # fmt: skip
                    if self._machine.ended(known) == 1:
                        return True
                    done = bool(known) and known[0][2] != RUNNING and not known[0][1]
                    if not done and (known, place) not in seen:
                        seen.add((known, place))
                        waiting.append((known, place))
        return False

    def _letters(self, data: bytes) -> list[frozenset[int]] | None:
        """The classes that each character may have; None for what is no part of any UTF-8.

        An empty list: they are within one character.
        """
        parts = characters(data)
        if parts is None:
            return None
        firsts, text, lasts = parts
        if not text and not (firsts and lasts):
            return []
        if self._machine is None:
            return [frozenset()]
        known = [firsts, *(range(ord(c), ord(c) + 1) for c in text), lasts]
        return [self._machine.letters.of(part) for part in known if part]


def characters(data: bytes) -> tuple[range, str, range] | None:
    """The characters of bytes that are a part of UTF-8: those that the first one may be, where it
    is cut, what stands between, and those that the last one may be. None where they are no part.
    """
    start = 0
    while start < len(data) and 0x80 <= data[start] < 0xC0:
        start += 1
    if start > LONGEST - 1:
        return None
    text, end = "", start
    for stop in range(len(data), max(start, len(data) - LONGEST), -1):
        with contextlib.suppress(UnicodeDecodeError):
            text, end = data[start:stop].decode(), stop
            break
    firsts, lasts = ending(data[:start]), beginning(data[end:])
    if (end < len(data) and not lasts) or (start and not firsts):
        return None
    return firsts, text, lasts


def completed(data: bytes) -> str | None:
    """A text with these bytes in it; None where there is none, or they are within a character."""
    parts = characters(data)
    if parts is None or not any(parts):
        return None
    firsts, text, lasts = parts
    return "".join(
        [*(chr(firsts[0]) for _ in firsts[:1]), text, *(chr(lasts[0]) for _ in lasts[:1])]
    )


def ending(tail: bytes) -> range:
    """The characters whose UTF-8 ends in these bytes, which are no first ones, and has more."""
    if not tail:
        return range(0)
    value = 0
    for byte in tail:
        value = value << 6 | byte & 0x3F
    least = (0, 0x80, 0x800, 0x10000)[len(tail)]
    step = 1 << 6 * len(tail)
    return range(least - least % step + value + step * (value < least % step), 0x110000, step)


def beginning(head: bytes) -> range:
    """The characters whose UTF-8 begins with these bytes, and has more; empty where none does."""
    if not head:
        return range(0)
    size = 2 + (head[0] >= 0xE0) + (head[0] >= 0xF0)
    if (
        not 0xC2 <= head[0] < 0xF5
        or len(head) >= size
        or any(not 0x80 <= c < 0xC0 for c in head[1:])
    ):
        return range(0)
    value = head[0] & (0xFF >> (size + 1))
    for byte in head[1:]:
        value = value << 6 | byte & 0x3F
    free = 6 * (size - len(head))
    first, last = value << free, (value + 1 << free) - 1
    least = (0, 0, 0x80, 0x800, 0x10000)[size]
    return range(max(first, least), min(last, 0x10FFFF) + 1)
