"""Functions of Python's that are compiled to instructions for which Numba has no word."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core import types
from numba.core.types import Function
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from llvmlite import ir
    from llvmlite.ir import Value

    Emit = Callable[..., Value | None]


class Code(NamedTuple):
    """Where an instruction is written to. kinds: Numba's types of the arguments."""

    context: Any
    builder: ir.IRBuilder
    kinds: tuple[Any, ...]

    def place(self, number: int, array: Value, index: Value, element: ir.Type) -> Value:
        """The pointer to ``array[index]``, to be read as of LLVM's type ``element``.

        number: of the argument that the array is.
        """
        made = self.context.make_array(self.kinds[number])(self.context, self.builder, array)
        return self.builder.bitcast(self.builder.gep(made.data, [index]), element.as_pointer())


def instruction(
    function: Callable[..., Any], signature_of: Callable[..., Any]
) -> Callable[[Emit], Emit]:
    """Decorate what writes the instructions of a function, given the code and LLVM's values.

    function: does the same in Python, for the interpreted run. signature_of: gives Numba's
    signature for the types of the arguments, None where those are of somebody else's function.
    """
    parameters = inspect.signature(function).parameters.values()

    def decorate(emit: Emit) -> Emit:
        def define(typing: object, *kinds: object) -> object:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Value:
                value = emit(Code(context, builder, signature.args), *arguments)
                return context.get_dummy_value() if value is None else value

            signature = signature_of(*kinds)
            return signature and (signature, generate)

        typing = inspect.Parameter("typing", inspect.Parameter.POSITIONAL_ONLY)
        rest = [one.replace(kind=typing.kind) for one in parameters]
        define.__signature__ = inspect.Signature([typing, *rest])  # type: ignore[attr-defined]
        template = make_intrinsic_template(function, define, function.__name__)
        infer(template)
        infer_global(function, Function(template))
        return emit

    return decorate


def copies(function: Callable[..., Any], element: ir.Type, align: int) -> None:
    """Have a function copy as many bytes as an element of LLVM's type has, from place to place."""

    @instruction(
        function,
        lambda source, place, target, at: types.none(source, types.intp, target, types.intp),
    )
    def copied(code: Code, source: Value, place: Value, target: Value, at: Value) -> None:
        loaded = code.builder.load(code.place(0, source, place, element), align=align)
        code.builder.store(loaded, code.place(2, target, at, element), align=align)
