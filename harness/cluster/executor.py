"""What an executor is: it performs units of work somewhere, and hands back what they came to.

A unit is a pure function of what it is given, so that whoever is lost on the way has cost time
alone: its unit is performed again elsewhere, and comes to the same. An executor hands each unit's
result back exactly once, in no order that anybody may rely on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from corpora.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.events import Event


class ClusterError(UserError):
    """A cluster cannot be used, or no longer: one line with the fault and the mend."""


class UnitError(UserError):
    """A unit fails wherever it is performed: one line with its name and the reason."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of work.

    name: tells it from all others of its executor. work: a function of a module, which is found by
    its name on every node; its first argument is a dictionary in which a place keeps from one unit
    to the next what is dear to make, and which no result may depend on. shared: what
    :meth:`Executor.share` gave, its next arguments. arguments: those after them; small, as they
    travel with the unit. prefers: the place that is warm for it, if any; another takes it only
    where that one is busy or gone.
    """

    name: str
    work: Callable[..., bytes]
    shared: Sequence[Any] = ()
    arguments: Sequence[Any] = ()
    prefers: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """What a unit came to.

    place: what :attr:`Unit.prefers` may name. tries: how often it was begun until it came to an
    end. seconds: that the last of them took, with all that travelled.
    """

    name: str
    result: bytes
    node: str
    place: str
    tries: int
    seconds: float


class Executor(Protocol):
    """Performs units. For one thread."""

    @property
    def slots(self) -> int:
        """How many units are performed at a time, by those who are there now."""
        ...

    def listen(self, tell: Callable[[Event], None]) -> None:
        """Tell which nodes there are, and from now on what becomes of them and of units."""
        ...

    def share(self, key: str, value: Any) -> Any:
        """Return what stands for a value in ``Unit.shared``: it is sent once to each node.

        key: of the same value, the same.
        """
        ...

    def submit(self, unit: Unit) -> None:
        """Have a unit performed; those that were submitted first come first."""
        ...

    def next(self, seconds: float) -> Done | None:
        """Return the next that is done, or None where none is within so many seconds.

        Raises UnitError, and ClusterError where nobody is left who could perform anything.
        """
        ...

    def close(self) -> None:
        """End all work that is still on, wherever it is."""
        ...
