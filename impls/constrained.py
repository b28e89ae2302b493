"""What a whole engine of constrained decoding is: a grammar, the tokens it admits, those it forces.

``tokgate forced --policy path.py:Mine`` runs one like any healer: where what is loaded has a method
``start``, it is asked for each JSON Schema anew, shown the tokens of the text one after another,
and asked at each boundary what it forces. Its tokens are judged as those of all policies are. Two
things more are counted of it, as only an engine can be wrong in them: masks that lack the token
with which a valid text goes on, and forced tokens that its own mask does not admit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from impls.kernels.layout import Flags

S = TypeVar("S")

MOST_FORCED = 256
"""So many tokens are forced at a time, at the most."""


class NotAdmitted(ValueError):
    """The mask of an engine lacks a token with which a valid text goes on."""


class OutsideMask(ValueError):
    """An engine forces a token that its own mask does not admit."""


class Matcher(Protocol):
    """A grammar that tokens are followed through, from its start on."""

    def allowed(self) -> Flags:
        """Whether each id may come next: an entry for each id of the vocabulary."""
        ...

    def consume(self, token_id: int) -> bool:
        """Go on by a token that is admitted; False, without going on, where it is not."""
        ...

    def forced(self) -> Sequence[int]:
        """The ids that must come next, as many as the engine knows; none where it forces none."""
        ...


@runtime_checkable
class Constrains(Protocol):
    """What an implementation loads if it is an engine; found by its method."""

    def start(self, schema: str, whitespace: Literal["flexible", "compact"]) -> Matcher:
        """Begin a text of a JSON Schema, given as JSON.

        whitespace: whether white space may stand between the parts of the text. Raises ValueError
        for a schema that the engine refuses.
        """
        ...


def only_ways(
    state: S, ways: Callable[[S], Collection[int]], after: Callable[[S, int], S]
) -> list[int]:
    """What is forced where an engine says only what it admits: tokens without an alternative.

    ways: the ids that a state admits. after: the state after one of them.
    """
    ids: list[int] = []
    while len(ids) < MOST_FORCED:
        found = ways(state)
        if len(found) != 1:
            break
        [only] = found
        ids.append(only)
        state = after(state, only)
    return ids
