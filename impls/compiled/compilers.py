"""Who wants to know when the compiler is there, without importing it.

Numba takes a second to import, which most processes never need.
"""

from __future__ import annotations

from collections.abc import Callable

AT_IMPORT: list[Callable[[], None]] = []
"""Called once when :mod:`impls.compiled.jit` is imported."""
