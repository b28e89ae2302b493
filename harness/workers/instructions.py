"""Instructions that encoding takes, counted by Valgrind: a second measure, hardly touched by noise.

Hardware counts them as well, but neither in most containers nor in most virtual machines. A worker
that runs under ``valgrind --tool=callgrind`` starts with counting off, which slows it down some
five times, and turns it on for the call (some fifty times). It does so by Valgrind's *client
requests* (manual, 3.1): instructions without effect, which Valgrind knows by their sequence, made
here at run time as no compiler is to be had. Everywhere else they do nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import platform
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEQUENCE = bytes.fromhex("4889f8 4831d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
"""x86-64, as a C function of a pointer: move it to RAX, zero RDX, rotate RDI by 3, 13, 61 and 51,
exchange RBX with itself; then RDX has the answer (``valgrind.h``)."""

RUNNING_ON_VALGRIND = 0x1001
_CALLGRIND = (ord("C") << 24) | (ord("T") << 16)
DUMP, ZERO, START, STOP = (_CALLGRIND + number for number in (0, 1, 4, 5))

WORDS = 6
"""A request has so many words, which are its number and five arguments."""

OUTPUT = "instructions"
"""The file of counts, in the worker's own folder for temporary files."""


def wrapper() -> tuple[str, ...]:
    """What a worker has to be started with; nothing where instructions cannot be counted here."""
    found = shutil.which("valgrind")
    if found is None or platform.machine() != "x86_64":
        return ()
    return (
        found,
        *("-q", "--tool=callgrind", "--instr-atstart=no", "--trace-children=no"),
        f"--callgrind-out-file=%q{{TMPDIR}}/{OUTPUT}",
    )


@cache
def _function() -> tuple[Callable[[int], int], mmap.mmap]:
    """The sequence as a function, and the page that it is on, which has to stay."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(SEQUENCE)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(place), page


def request(number: int) -> int:
    """Make a client request; 0 where Valgrind is not there."""
    if platform.machine() != "x86_64":
        return 0
    block = (ctypes.c_uint64 * WORDS)(number)
    function, _ = _function()
    return function(ctypes.addressof(block))


def counted(call: Callable[[], object]) -> int:
    """Instructions of a call, some hundreds of the interpreter included.

    Raises RuntimeError where this process does not run under Valgrind.
    """
    if not request(RUNNING_ON_VALGRIND):
        raise RuntimeError("instructions are counted under Valgrind only; see wrapper()")
    with counting():
        call()
    return total()


@contextlib.contextmanager
def counting() -> Iterator[None]:
    """Instructions count within, from zero."""
    request(START)
    request(ZERO)
    try:
        yield
    finally:
        request(DUMP)
        request(STOP)


def total() -> int:
    """The sum of the last dump, which is removed with those before."""
    folder = Path(os.environ["TMPDIR"])
    dumps = sorted(folder.glob(f"{OUTPUT}.*"), key=lambda path: int(path.suffix[1:]))
    lines = dumps[-1].read_text().splitlines()
    for path in dumps:
        path.unlink()
    return int(next(line for line in lines if line.startswith("summary:")).split()[1])
