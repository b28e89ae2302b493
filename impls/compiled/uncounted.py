"""Arrays that nobody counts references to, for compiled code that hands them on in its inner loops.

Numba counts the references to an array wherever a function takes one and branches: two atomic
instructions an array and call, which take longer than what many small functions do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from numba.core.cgutils import get_null_value
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    import numpy as np

Array = TypeVar("Array", bound="np.ndarray[Any, Any]")


def uncounted(array: Array) -> Array:
    """The same array, for use inside of the caller alone, who was handed the array himself.

    So whoever called him keeps it alive. It is not to be returned or kept.
    """
    return array


@intrinsic
def _uncounted(typing, array):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        made.meminfo = get_null_value(made.meminfo.type)
        return made._getvalue()

    return array(array), generate


@overload(uncounted)
def _compiled_uncounted(array):  # type: ignore[no-untyped-def]
    del array
    return lambda array: _uncounted(array)  # noqa: PLW0108 - Numba wants a function
