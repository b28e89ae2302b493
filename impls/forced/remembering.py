"""What a function of many keys at once has said, remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")


class Remembering(Generic[Key, Value]):
    """Asks a function for those keys alone that it was not asked for before.

    ask: a pure function, the values of keys in their order. most: so many values are kept.
    """

    def __init__(self, ask: Callable[[Sequence[Key]], Iterable[Value]], most: int) -> None:
        self._ask = ask
        self._most = most
        self._known: dict[Key, Value] = {}

    def __call__(self, keys: Sequence[Key]) -> list[Value]:
        """The values of keys, in their order."""
        known = self._known
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        if len(known) + len(missing) > self._most:
            # All at once, as to know which was asked for last costs more than to ask again.
            known.clear()
            missing = list(dict.fromkeys(keys))
        if missing:
            known.update(zip(missing, self._ask(missing), strict=True))
        return list(map(known.__getitem__, keys))
