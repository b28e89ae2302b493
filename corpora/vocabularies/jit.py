"""Numba's decorator as this project uses it: compiled on first use, cached on disk.

``NUMBA_DISABLE_JIT=1`` runs the same source interpreted, which is how coverage-guided fuzzing
follows it; so the compiled functions keep to what both ways mean alike (no unsigned wrap-around, no
reliance on integer overflow but in vectors, where NumPy's numbers of 32 bits wrap around, too).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def njit(function: F) -> F:
    """Compile ``function`` on its first call; releases the GIL, so that threads can be tested."""
    return cast("F", numba.njit(cache=True, nogil=True)(function))


def inlined(function: F) -> F:
    """Likewise, for a part of a hot loop: it becomes a part of whatever calls it.

    For one that is too large for the compiler to do so by itself, where what it is called with
    decides how much of it is left.
    """
    return cast("F", numba.njit(cache=True, nogil=True, forceinline=True)(function))
