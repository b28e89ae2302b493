"""What a grammar is: the sentences that may still follow, asked byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_SENTENCE = 1 << 20
"""Bytes after which :meth:`Grammar.sentences` gives up: far beyond any finite grammar in use, so
that only an engine whose states admit bytes but no end can get there."""


class GrammarError(ValueError):
    """A grammar cannot be had, or its engine gave up: ``str(error)`` is one line for the user."""


def alike(one: Sequence[object], other: Sequence[object]) -> int:
    """How many elements two sequences begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


class Grammar(Protocol):
    """A state of a grammar over bytes: what may follow, of which the start is the whole language.

    Immutable: :meth:`after` gives another state. "Sentence" means the rest of one, from here on.
    Where nothing may follow, not even the end, no sentence is left: then ``viable(b"")`` is False.
    """

    def forced(self) -> bytes:
        """The longest bytes with which every sentence goes on; empty if it may end or branches."""
        ...

    def viable(self, data: bytes) -> bool:
        """Whether some sentence begins with ``data``, which may end inside a character."""
        ...

    def after(self, data: bytes) -> Self:
        """The state after ``data``. Raises ValueError where it is not viable."""
        ...

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        ...

    def next_bytes(self) -> Sequence[int]:
        """The bytes with which some sentence goes on, ascending."""
        ...

    def sentences(self, most: int) -> Sequence[bytes] | None:
        """All sentences, sorted, if there are at most ``most``; None if there are more.

        Goes breadth first. Each unfinished beginning has a sentence of its own, so more beginnings
        and sentences than ``most`` are proof that there are too many; and in an infinite language
        that number grows without bound, since some beginning of it branches or may end infinitely
        often. So this ends for every grammar, and looks at ``most`` beginnings of a length at most.
        """
        found: list[bytes] = []
        # Each as a state and a step from there, so that it is made as late as can be: states are
        # dear, and most grammars that are asked have many sentences.
        beginnings: list[tuple[bytes, Grammar, bytes]] = [(b"", self, b"")]
        beginnings = beginnings if self.viable(b"") else []
        while beginnings:
            longer: list[tuple[bytes, Grammar, bytes]] = []
            for text, before, step in beginnings:
                text, state = text + step, before.after(step)
                if forced := state.forced():
                    text, state = text + forced, state.after(forced)
                if state.complete:
                    found.append(text)
                steps = state.next_bytes()
                if len(found) + len(longer) + len(steps) > most or len(text) > LONGEST_SENTENCE:
                    return None
                longer += [(text, state, bytes((byte,))) for byte in steps]
            beginnings = longer
        return sorted(found)
