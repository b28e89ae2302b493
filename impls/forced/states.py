"""States of grammars as the exact policy asks them: remembering, seen from earlier, ending."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from impls.forced.interface import GrammarState

SETTLING = 3
"""Steps beyond a bound after which it is looked whether anything can still change it."""

COMPLETION = 200
"""Bytes after which no way to complete a sentence is looked for any more."""

ENDING = b'"}]):,;.>0nta[{('
"""Bytes that tend to bring a sentence to its end, in the order in which they are tried.
White space, of which a grammar may admit any amount, is not among them."""


class Remembered:
    """A state of a grammar that remembers what it said: it is asked for each way and start."""

    def __init__(self, state: GrammarState) -> None:
        self._state = state
        self._following = tuple(state.next_bytes())
        self.complete = state.complete
        self.forced, self.after = state.forced, state.after
        self.viable, self.sentences = cache(self._viable), cache(state.sentences)

    def next_bytes(self) -> Sequence[int]:
        """See :class:`impls.forced.interface.GrammarState`."""
        return self._following

    def _viable(self, data: bytes) -> bool:
        if not data:
            return self.complete or bool(self._following)
        return data[0] in self._following and (len(data) == 1 or self._state.viable(data))


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
        size = len(self.part)
        return data[:size] == self.part[: len(data)] and (
            len(data) <= size or self.state.viable(data[size:])
        )

    def after(self, data: bytes) -> GrammarState:
        """See :class:`impls.forced.interface.GrammarState`."""
        rest = self.part[len(data) :]
        return Within(rest, self.state) if rest else self.state.after(data[len(self.part) :])

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


def settling(state: GrammarState) -> Iterator[tuple[bytes, GrammarState]]:
    """The first steps of a completion, each with the state after it."""
    for _ in range(SETTLING):
        step = _towards_end(state)
        if not step:
            return
        state = state.after(step)
        yield step, state


def _towards_end(state: GrammarState) -> bytes:
    """What is forced, else the byte that looks most like an ending; nothing if none can come."""
    following = state.next_bytes()
    if (forced := state.forced()) or not following:
        return forced
    return bytes((next((byte for byte in ENDING if byte in following), following[-1]),))
