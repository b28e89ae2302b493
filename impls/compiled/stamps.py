"""Whether compiled code on disk is still that of the source, and of all that it was compiled with.

Numba compiles what a function calls, and the values of its constants, into it, but asks no more of
a cached one than whether its own file is as it was. After an upgrade, or an edit of a helper, the
code of before would be run beside that of now. So the stamp of a function covers the stamps of all
functions that it calls and the values of all constants that it names.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np


@cache
def stamp_of(dispatcher: Any) -> bytes:
    """The stamp of a function that Numba compiles, once all modules that it names are imported."""
    function = dispatcher.py_func
    digest = hashlib.sha256(_file_stamp(function.__module__))
    for name in sorted(set(_names(function.__code__))):
        if name in function.__globals__:
            value = function.__globals__[name]
            known = b"" if value is dispatcher else _value_stamp(value)
            digest.update(name.encode() + b"\0" + known + b"\0")
    return digest.digest()


def _names(code: CodeType) -> Iterator[str]:
    """The names that code, and what is nested in it, may look up outside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _value_stamp(value: Any) -> bytes:
    """What tells a value of today from another one: the source, for what is called."""
    if hasattr(value, "py_func"):
        return stamp_of(value)
    if isinstance(value, np.ndarray):
        return repr((value.dtype, value.shape)).encode() + hashlib.sha256(value.tobytes()).digest()
    if isinstance(value, int | float | str | bytes | tuple | np.generic):
        return repr(value).encode()
    module = getattr(value, "__module__", None)
    if isinstance(value, ModuleType) or not isinstance(module, str):
        return b""
    return _file_stamp(module)


@cache
def _file_stamp(module: str) -> bytes:
    """The digest of a module's source; nothing of one that has no file."""
    path = getattr(sys.modules.get(module), "__file__", None)
    try:
        return hashlib.sha256(Path(path).read_bytes()).digest() if path else b""
    except OSError:
        return b""
