"""Regular expressions as grammars over bytes.

The automaton is that of positions (McNaughton and Yamada, "Regular Expressions and State Graphs
for Automata", IRE Transactions on Electronic Computers 9, 1960; Glushkov, "The abstract theory of
automata", Russian Mathematical Surveys 16, 1961): a state is the set of places in the expression
at which the last byte may have been read. Sets are made when first reached. As no part of an
expression is the empty language, every place has an end ahead, and no set is a dead end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from corpora.grammars.base import Grammar, GrammarError, enumerate_sentences
from corpora.grammars.regular_syntax import Byte, Choice, Repeat, Sequence, Tree, parse

MOST_POSITIONS = 50_000
"""Bytes of an expression with its repetitions written out: it is made in about a second."""

State = frozenset[int]

_START: State = frozenset({0})
"""Position 0 is the place before the first byte."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of an expression: whether it may be empty, and where its texts begin and end."""

    nullable: bool
    first: frozenset[int]
    last: frozenset[int]


_EMPTY = Fragment(True, frozenset(), frozenset())


class Automaton:
    """The automaton of an expression, determinized as far as it has been used."""

    def __init__(self, tree: Tree) -> None:
        self._bytes: list[range] = [range(0)]
        self._follow: list[set[int]] = [set()]
        whole = self._compile(tree)
        self._follow[0].update(whole.first)
        self._final = whole.last | _START if whole.nullable else whole.last
        self._moves: dict[State, dict[int, State]] = {}

    def moves(self, state: State) -> dict[int, State]:
        """The next state by byte, ascending by byte; other bytes are not viable."""
        found = self._moves.get(state)
        if found is None:
            reached: dict[int, set[int]] = {}
            for position in set().union(*(self._follow[place] for place in state)):
                for byte in self._bytes[position]:
                    reached.setdefault(byte, set()).add(position)
            found = {byte: frozenset(reached[byte]) for byte in sorted(reached)}
            self._moves[state] = found
        return found

    def is_final(self, state: State) -> bool:
        """Whether a text may end at it."""
        return not self._final.isdisjoint(state)

    def _compile(self, tree: Tree) -> Fragment:
        match tree:
            case Byte(values):
                if len(self._bytes) > MOST_POSITIONS:
                    raise GrammarError(
                        f"regular expression: more than {MOST_POSITIONS} bytes with its"
                        " repetitions written out"
                    )
                here = frozenset({len(self._bytes)})
                self._bytes.append(values)
                self._follow.append(set())
                return Fragment(False, here, here)
            case Sequence(parts):
                whole = _EMPTY
                for part in parts:
                    whole = self._join(whole, self._compile(part))
                return whole
            case Choice(parts):
                made = [self._compile(part) for part in parts]
                return Fragment(
                    any(part.nullable for part in made),
                    frozenset().union(*(part.first for part in made)),
                    frozenset().union(*(part.last for part in made)),
                )
            case Repeat(part, least, most):
                return self._repeat(part, least, most)

    def _join(self, left: Fragment, right: Fragment) -> Fragment:
        for place in left.last:
            self._follow[place] |= right.first
        return Fragment(
            left.nullable and right.nullable,
            left.first | right.first if left.nullable else left.first,
            left.last | right.last if right.nullable else right.last,
        )

    def _repeat(self, part: Tree, least: int, most: int | None) -> Fragment:
        if most is None:
            # x{n,} is x{n-1} and x+; x* is x+ that may be empty.
            tail = self._compile(part)
            self._join(tail, tail)
            if not least:
                tail = Fragment(True, tail.first, tail.last)
        else:
            # x{m,n} is x{m} and then (x(x(..)?)?)?, from the inside out.
            tail = _EMPTY
            for _ in range(most - least):
                inner = self._join(self._compile(part), tail)
                tail = Fragment(True, inner.first, inner.last)
        for _ in range(least - (most is None and least > 0)):
            tail = self._join(self._compile(part), tail)
        return tail


@dataclass(frozen=True, slots=True)
class RegularGrammar(Grammar):
    """The texts that a regular expression matches from end to end. Made by :func:`regular`."""

    _automaton: Automaton = field(repr=False)
    _state: State = _START

    def forced(self) -> bytes:
        """The longest bytes with which every sentence goes on; empty if it may end or branches."""
        found = bytearray()
        state = self._state
        while not self._automaton.is_final(state):
            moves = self._automaton.moves(state)
            if len(moves) != 1:
                break
            byte, state = next(iter(moves.items()))
            found.append(byte)
        return bytes(found)

    def viable(self, data: bytes) -> bool:
        """Whether some sentence begins with ``data``."""
        return self._walk(data) is not None

    def after(self, data: bytes) -> RegularGrammar:
        """The state after ``data``. Raises ValueError where it is not viable."""
        state = self._walk(data)
        if state is None:
            raise ValueError(f"the regular expression does not go on with {data!r}")
        return RegularGrammar(self._automaton, state)

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        return self._automaton.is_final(self._state)

    def next_bytes(self) -> tuple[int, ...]:
        """The bytes with which some sentence goes on, ascending."""
        return tuple(self._automaton.moves(self._state))

    def sentences(self, most: int) -> list[bytes] | None:
        """All sentences, sorted, or None if there are more than ``most``."""
        return enumerate_sentences(self, most)

    def _walk(self, data: bytes) -> State | None:
        state = self._state
        for byte in data:
            found = self._automaton.moves(state).get(byte)
            if found is None:
                return None
            state = found
        return state


def regular(pattern: str | bytes) -> RegularGrammar:
    """The grammar of a regular expression, in the syntax of ``re`` with ``re.ASCII``.

    A ``str`` is over characters, its sentences being their UTF-8; ``bytes`` is over bytes. Raises
    GrammarError, one line with the place, for what is no regular expression or not regular
    (see :mod:`corpora.grammars.regular_syntax`).
    """
    return RegularGrammar(Automaton(parse(pattern)))
