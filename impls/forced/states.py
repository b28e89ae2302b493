"""States of grammars as the exact policy asks them: remembering, seen from earlier, ending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from impls.forced.context import GrammarState

SETTLING = 3
"""Steps beyond a bound after which it is looked whether anything can still change it."""

COMPLETION = 200
"""Bytes after which no way to complete a sentence is looked for any more."""

ENDING = b'"}]):,;.>0nta[{('
"""Bytes that tend to bring a sentence to its end, in the order in which they are tried.
White space, of which a grammar may admit any amount, is not among them."""

SINGLE_BYTES = tuple(bytes((byte,)) for byte in range(256))


class Remembered:
    """A state of a grammar that remembers what it said: it is asked for each way and start."""

    __slots__ = ("_complete", "_following", "_sentences", "_state", "_viable")

    def __init__(self, state: GrammarState) -> None:
        self._state = state
        self._complete = state.complete
        self._following = tuple(state.next_bytes())
        self._viable = dict.fromkeys([SINGLE_BYTES[byte] for byte in self._following], True)
        self._viable[b""] = self._complete or bool(self._following)
        self._sentences: dict[int, Sequence[bytes] | None] = {}

    @property
    def complete(self) -> bool:
        """See :class:`impls.forced.context.GrammarState`."""
        return self._complete

    def next_bytes(self) -> Sequence[int]:
        """See :class:`impls.forced.context.GrammarState`."""
        return self._following

    def forced(self) -> bytes:
        """See :class:`impls.forced.context.GrammarState`."""
        return self._state.forced()

    def viable(self, data: bytes) -> bool:
        """See :class:`impls.forced.context.GrammarState`."""
        found = self._viable.get(data)
        if found is None:
            found = self._viable.get(data[:1], False) and self._state.viable(data)
            self._viable[data] = found
        return found

    def after(self, data: bytes) -> GrammarState:
        """See :class:`impls.forced.context.GrammarState`."""
        return self._state.after(data)

    def sentences(self, most: int) -> Sequence[bytes] | None:
        """See :class:`impls.forced.context.GrammarState`."""
        if most not in self._sentences:
            self._sentences[most] = self._state.sentences(most)
        return self._sentences[most]


def remembered(state: GrammarState) -> GrammarState:
    """A state that answers no question twice."""
    return state if isinstance(state, Remembered) else Remembered(state)


class Anything:
    """The grammar of all byte strings."""

    complete = True

    def forced(self) -> bytes:
        """Nothing."""
        return b""

    def viable(self, data: bytes) -> bool:
        """True for any bytes."""
        return True

    def after(self, data: bytes) -> Anything:
        """The same."""
        return self

    def next_bytes(self) -> Sequence[int]:
        """All 256."""
        return range(256)

    def sentences(self, most: int) -> None:
        """None: there are infinitely many."""
        return None


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
        """See :class:`impls.forced.context.GrammarState`."""
        if len(data) <= len(self.part):
            return self.part.startswith(data)
        return data.startswith(self.part) and self.state.viable(data[len(self.part) :])

    def after(self, data: bytes) -> GrammarState:
        """See :class:`impls.forced.context.GrammarState`."""
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
    forced = state.forced()
    if forced:
        return forced
    following = state.next_bytes()
    if not following:
        return b""
    return bytes((next((byte for byte in ENDING if byte in following), following[-1]),))
