"""The interface of an engine of constrained decoding, which has its own grammar and masks.

``tokgate forced --policy path.py:Mine`` runs an engine like any healer. If the loaded object has a
method ``start``, the method is called for each JSON Schema. Then the engine gets the tokens of the
text one after another, and is asked at each boundary which tokens it forces. These are judged like
those of all policies. Two more mistakes are counted, which only an engine can make: masks that lack
the next token of a valid text, and forced tokens that the engine's own mask does not admit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from impls.kernels.layout import Flags

S = TypeVar("S")

MOST_FORCED = 256
"""The maximum number of tokens that are forced at a time."""


class NotAdmitted(ValueError):
    """The mask of an engine lacks the next token of a valid text."""


class OutsideMask(ValueError):
    """An engine forces a token that its own mask does not admit."""


class Matcher(Protocol):
    """A grammar and the place in it that the tokens so far have reached."""

    def allowed(self) -> Flags:
        """Return for each id of the vocabulary whether it may come next."""
        ...

    def consume(self, token_id: int) -> bool:
        """Move on by a token and return True; if the token is not admitted, return False."""
        ...

    def forced(self) -> Sequence[int]:
        """Return the ids that must come next, as many as the engine knows."""
        ...


@runtime_checkable
class Constrains(Protocol):
    """The object that an engine's ``load`` returns; recognised by its method."""

    def start(self, schema: str, whitespace: Literal["flexible", "compact"]) -> Matcher:
        """Begin a text of a JSON Schema, given as JSON.

        whitespace: whether white space may stand between the parts of the text. Raises ValueError
        for a schema that the engine refuses.
        """
        ...


def only_ways(
    state: S, ways: Callable[[S], Collection[int]], after: Callable[[S, int], S]
) -> list[int]:
    """Return the forced ids of an engine that has only masks: the tokens without an alternative.

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
