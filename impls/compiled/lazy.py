"""Compiled functions whose compiler is imported when the first of them is called.

Numba takes a second to import. An algorithm and the implementation that users name stand in one
file, and listing the names must not cost that second: so functions that are decorated here are
handed to Numba on their first call, or when a compiled function refers to them.
"""

from __future__ import annotations

from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., object]")


class LazilyCompiled:
    """A function that :func:`impls.compiled.jit.njit` compiles once it is needed."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.py_func = function
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        """The function as Numba's; as it stands where Numba is told to compile nothing."""
        from impls.compiled.jit import njit  # noqa: PLC0415 - see above

        return njit(self.py_func)

    def __call__(self, *arguments: object) -> object:
        """Call the compiled function."""
        return self.compiled(*arguments)

    @property
    def _numba_type_(self) -> object:
        """What Numba asks of a value that compiled code refers to."""
        return self.compiled._numba_type_


def njit(function: F) -> F:
    """Compile a function by its first call; see :mod:`impls.compiled.jit`."""
    return cast("F", LazilyCompiled(function))
