"""Faster forms of encoding, which only ``tokgate bench`` uses; each is recognised by its method.

They take a library's natural input, so that the conversions that :mod:`impls.interface` requires
are not timed.
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
        """Return a function that encodes ``data`` in the fastest documented way.

        The input is converted beforehand (to ``str`` for a library that takes it). The call gives
        the ids as a sequence or a NumPy array of integers, whichever the library makes faster.
        Raises as ``encode`` does, here or in the call.
        """
        ...


@runtime_checkable
class PreparesCount(Protocol):
    """An encoder with a fast way to count."""

    def prepare_count(self, data: bytes, mode: Mode) -> Callable[[], int]:
        """Return a function that counts the ids of ``data``, if possible without making them."""
        ...


@runtime_checkable
class PreparesBatch(Protocol):
    """An encoder whose library has a separate call for many texts."""

    def prepare_batch(
        self, texts: Sequence[bytes], mode: Mode, threads: int
    ) -> Callable[[], Sequence[object]]:
        """Return a function that encodes all texts by the library's own call for many texts.

        threads: the number of threads that it may use, if the call has a parameter for it. A
        library that reads the number from the environment finds it there (``RAYON_NUM_THREADS``,
        ``OMP_NUM_THREADS``). The call gives
        the ids of each text, as :meth:`Prepares.prepare` does. Raises as ``encode`` does, and
        Unsupported where there is no such call for this mode.
        """
        ...
