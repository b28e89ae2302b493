"""Faster forms of encoding, which ``tokgate bench`` alone asks for; each is found by its method.

What is timed is a library's own way from its natural input, so that its speed is not that of the
conversions that :mod:`impls.interface` asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from impls.interface import Mode


@runtime_checkable
class Prepares(Protocol):
    """An encoder with a faster form of ``encode``."""

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """A call that encodes ``data`` by the fastest documented way, as often as it is made.

        The input is converted beforehand (to ``str`` for a library that takes it). The call gives
        the ids as a sequence or a NumPy array of integers, whichever the library makes faster.
        Raises as ``encode`` does, here or in the call.
        """
        ...


@runtime_checkable
class PreparesCount(Protocol):
    """An encoder with a fast way to count."""

    def prepare_count(self, data: bytes, mode: Mode) -> Callable[[], int]:
        """A call that gives the number of ids of ``data``, without making the ids if it can."""
        ...


@runtime_checkable
class PreparesBatch(Protocol):
    """An encoder whose library has a call of its own for many texts."""

    def prepare_batch(
        self, texts: Sequence[bytes], mode: Mode, threads: int
    ) -> Callable[[], Sequence[object]]:
        """A call that encodes all texts by the library's own call for many.

        threads: how many it may use, where the call says it. A library that reads the number from
        the environment finds it there (``RAYON_NUM_THREADS``, ``OMP_NUM_THREADS``). The call gives
        the ids of each text, as :meth:`Prepares.prepare` does. Raises as ``encode`` does, and
        Unsupported where there is no such call for this mode.
        """
        ...
