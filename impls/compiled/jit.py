"""Numba's decorator as this project uses it: compiled on first use, cached on disk, once for all.

``NUMBA_DISABLE_JIT=1`` runs the same source interpreted, which is how coverage-guided fuzzing
follows it; so the compiled functions keep to what both ways mean alike (no unsigned wrap-around, no
reliance on integer overflow but in vectors, where NumPy's numbers of 32 bits wrap around, too).

Five things differ from plain ``numba.njit(cache=True)``:

- **One process compiles a function, the others wait and load it.** A run starts many workers at
  once, which need the same functions. A file lock beside the cache's index, held while a function
  is compiled and saved, makes each of them compile a share. What a process finished before it died
  is in the cache; its locks go with it. Calls form no circles, so that no two processes can wait
  for each other.
- **What a function calls is part of it.** Compiled code on disk is taken only if the source of all
  that was compiled into it is as it was (:mod:`impls.compiled.stamps`).
- **A constant argument is no type of its own.** Numba would compile a callee once for ``f(0)`` and
  once for ``f(n)``, though the code is the same.
- **The cache is a folder of its own** (:func:`corpora.vocabularies.caches.compiled_folder`), the
  only one outside its temporary files that a confined worker writes to, with that of tables.
  Workers that run code of others, too, each have one of their own (``harness.confinement``), as
  Numba unpickles what it finds there. They copy from ours what is compiled there already.
- **Without a writable cache all still works**, by a cache in the folder for temporary files.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import entrypoints, event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys
from numba.core.types import unliteral  # type: ignore[attr-defined]

from corpora.vocabularies import caches
from impls.compiled import compilers
from impls.compiled.stamps import stamp_of

# For this process, for those that it starts, and for whenever Numba reads its variables again.
os.environ[caches.COMPILED] = numba.config.CACHE_DIR = str(caches.compiled_folder())

if caches.OURS not in os.environ:
    # Numba would import the packages that extend it, whatever is installed: that runs code of
    # others, and one of them takes as long to import as all of ours. We use none of them. A worker
    # that runs a plug-in does not know what that one uses.
    entrypoints._already_initialized = True

F = TypeVar("F", bound=Callable[..., object])

LOCK_SECONDS = 600.0
"""The lock of a function is waited for so long: no function takes as long to compile."""

LOCK_LOOK_SECONDS = 0.02

WAITING = "tokgate:waiting"
"""The kind of event (see ``numba.core.event``) that lasts while a function is waited for, compiled
or loaded. Its data has the ``dispatcher``."""


def _index_of(dispatcher: Any) -> Path:
    """The file in which Numba notes what it has compiled of a function."""
    cache = dispatcher._cache._cache_file
    return Path(cache._index_path)


def njit(function: F) -> F:
    """Compile ``function`` on its first call; releases the GIL, so that threads can be tested."""
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile ``function`` into each of its callers.

    For a part of a hot loop that is too large for the compiler to do so by itself, where what it
    is called with decides how much of it is left.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: F, **options: bool) -> F:
    try:
        dispatcher = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # neither the source's folder nor the user's cache can be written to
        numba.config.CACHE_DIR = _temporary_cache()
        dispatcher = numba.njit(cache=True, nogil=True, **options)(function)
    if not numba.config.DISABLE_JIT:
        _share(dispatcher)
    return cast("F", dispatcher)


def _temporary_cache() -> str:
    """A folder of this user's own among the temporary files, the same in each process.

    Raises RuntimeError where somebody else has made it: what lies in there is executed.
    """
    folder = Path(tempfile.gettempdir()) / f"tokgate-numba-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise RuntimeError(f"{folder}: is open to others; remove it, or set NUMBA_CACHE_DIR")
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return str(folder)


def _share(dispatcher: Any) -> None:
    """Have a function compiled by one process at a time, and by general types."""
    compile_here, template = dispatcher.compile, dispatcher.get_call_template
    cache = dispatcher._cache

    def load(signature: Any, target: Any) -> Any:
        # Numba would import all that it knows how to compile before it looks into the cache.
        rtsys.initialize(target)
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target)

    def compile_once(signature: Any) -> Any:
        # The compiler's own lock comes first, so that threads of one process keep one order.
        waiting = event.trigger_event(WAITING, data={"dispatcher": dispatcher})
        # What is called is compiled into a function: Numba looks at the function's own file alone.
        dispatcher._cache._cache_file._source_stamp = stamp_of(dispatcher)
        with global_compiler_lock, waiting, _alone(dispatcher):
            _copy_ours(_index_of(dispatcher))
            return compile_here(signature)

    def general_template(args: Any, kws: Any) -> Any:
        return template(tuple(unliteral(one) for one in args), kws)

    cache.load_overload = load
    dispatcher.compile = compile_once
    dispatcher.get_call_template = general_template


def _ours(index: Path) -> Path | None:
    """Where the harness has the index of a function, if this process has a folder of its own."""
    folder = os.environ.get(caches.OURS)
    own = caches.compiled_folder()
    if not folder or not index.is_relative_to(own) or Path(folder) == own:
        return None
    found = Path(folder) / index.relative_to(own)
    return found if found.is_file() else None


def _copy_ours(index: Path) -> None:
    """Copy what the harness has compiled of a function, where that is newer than what is here.

    A worker that runs code of others, too, may not write to the harness's folder, but it may read
    there: nothing that the harness has compiled need be compiled again.
    """
    with contextlib.suppress(OSError):
        found = _ours(index)
        if found is None:
            return
        if index.exists() and index.stat().st_mtime_ns >= found.stat().st_mtime_ns:
            return
        index.parent.mkdir(parents=True, exist_ok=True)
        # The index comes last, as Numba takes it for a promise that the others are there.
        for path in (*found.parent.glob(f"{glob.escape(found.stem)}.*.nbc"), found):
            part = index.with_name(f"{path.name}.{os.getpid()}.part")
            shutil.copyfile(path, part)
            part.replace(index.with_name(path.name))


@contextlib.contextmanager
def _alone(dispatcher: Any) -> Iterator[None]:
    """Hold the lock of a function's cache; where there can be none, each process compiles."""
    function = dispatcher.py_func
    name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    folder = Path(dispatcher.stats.cache_path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / f"{name}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        _lock(lock, LOCK_SECONDS)
        yield
    finally:
        os.close(lock)


def _lock(descriptor: int, seconds: float) -> bool:
    """Lock a file; whether it is locked. Not all file systems have locks, and one may be held
    by a process that never lets go of it: then the function is compiled without.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOCK_LOOK_SECONDS)
        except OSError:
            return False
        else:
            return True


for _watch in compilers.AT_IMPORT:
    _watch()
