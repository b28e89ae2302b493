"""What encoding one input costs, as measured inside the worker that does it.

Each meter takes the call and gives its outcome with integers: nanoseconds, bytes, or steps. A
batch is measured under one meter only, as looking at one cost disturbs the others.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

from harness.workers.calls import without_pipe
from impls.external_times import Timed
from impls.interface import Unsupported
from impls.processes import descendants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType, FrameType

    from impls.interface import Encoder

RESET_PEAK = "5"
"""Written to ``clear_refs``, has the kernel forget a process's peak of resident memory."""

OURSELVES = Path(__file__).parents[1]
"""The harness, whose own lines are no steps of an implementation."""

PLACES = 1024
"""Into which lines are counted: an algorithm has some hundreds, and few share a place."""

COMPILING = OURSELVES.with_name("impls") / "compiled"
"""What compiles, whose lines are run once or not at all."""

FOREIGN = ("site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}")
"""Folders of libraries, whose lines are no steps either: they change from version to version."""


LineTracer = Callable[["FrameType", str, object], object]
"""The interpreter calls a function of this type at each line of a frame."""


def nanoseconds(encoder: Encoder, call: Callable[[], object]) -> int:
    """CPU time of the process, with all its threads: a library may hand the work to some.

    Where the work is done in another process (:class:`impls.external_times.Timed`), that of the
    other, by the kernel's count. What it says itself is believed where it is more: it may have
    handed the work to processes that nobody here can see.
    """
    counted = processor_time(encoder, call)
    if isinstance(encoder, Timed):
        return max(counted, without_pipe(encoder, encoder.nanoseconds))
    return counted


def processor_time(encoder: Encoder, call: Callable[[], object]) -> int:
    """CPU time of a call: of this process, or of the one that does the work."""
    if isinstance(encoder, Timed):
        before = encoder.processor_time()
        call()
        return encoder.processor_time() - before
    start = time.process_time_ns()
    call()
    return time.process_time_ns() - start


ECHOES = 3
"""Echoes of which the least counts: a disturbance only adds to one."""


def claimed(encoder: Encoder, call: Callable[[], object]) -> tuple[int, ...]:
    """Nanoseconds of a call, as a program behind a pipe says, and as it is seen from outside.

    By its own word; of CPU time; from the request until the answer; of an echo. Then bytes of the
    request and of the answer. -1 stands for what it does not say, or does not do. Raises
    Unsupported for who works in this process.
    """
    if not isinstance(encoder, Timed):
        raise Unsupported("works in the worker's own process, where the clock sees it")
    counted = processor_time(encoder, call)
    said = encoder.nanoseconds if encoder.told else -1
    waited, (asked, answered) = encoder.waited, encoder.exchanged
    echo = min(echoed(encoder) for _ in range(ECHOES))
    return said, counted, waited, echo, asked, answered


def echoed(encoder: Timed) -> int:
    """Nanoseconds of an echo by both clocks, the lesser of them; -1 where there is none.

    On a busy machine it may wait for its turn a hundred times as long as it takes.
    """
    before = encoder.processor_time()
    waited = encoder.echo()
    return -1 if waited is None else min(waited, encoder.processor_time() - before)


def memory(encoder: Encoder, call: Callable[[], object]) -> tuple[int, int, int]:
    """Bytes that a call takes at its peak, by which its stack grew, and that stay afterwards.

    The peak is beyond those held before, less what the answer itself takes: a list of integers is
    Python's and its caller's, 36 bytes a token, whoever makes it. Of this process and of the
    programs that it runs, by the kernel's count of resident pages, so that memory which is asked
    for and never touched is free. Where the work is done by a program behind a pipe
    (:class:`impls.external_times.Timed`), of that program and its children alone: what this
    process takes is the protocol's. The stack is that of the thread that calls, which never
    shrinks: what an earlier call needed is not seen again.
    """
    release()
    before: dict[int, Counter[str]] = {}
    for pid in watched(encoder):
        with contextlib.suppress(OSError):  # it has ended
            Path(f"/proc/{pid}/clear_refs").write_text(RESET_PEAK)
            before[pid] = sizes(pid)
    answer = call()
    after = {pid: sizes(pid) for pid in before}
    given = 0 if isinstance(encoder, Timed) else size_of(answer)
    del answer
    release()

    def grown(now: Mapping[int, Counter[str]], name: str, since: str) -> list[int]:
        return [max(0, now[pid][name] - one[since]) for pid, one in before.items()]

    peak = sum(grown(after, "VmHWM", "VmRSS"))
    kept = sum(grown({pid: sizes(pid) for pid in before}, "VmRSS", "VmRSS"))
    return max(0, peak - given), max(grown(after, "VmStk", "VmStk"), default=0), kept


def watched(encoder: Encoder) -> list[int]:
    """The processes whose memory is an encoder's: this one, unless a program does the work."""
    programs = descendants(os.getpid())
    return programs if isinstance(encoder, Timed) else [os.getpid(), *programs]


SMALL_IDS = 256
"""The integers up to here are in memory anyway, once for all lists."""

INTEGER = 32
"""Bytes of an integer object: 28, which Python's allocator gives out in pieces of 16."""


def size_of(answer: object) -> int:
    """Bytes of the ids that a call gave: of the list and its integers, or of an array."""
    if isinstance(answer, list | tuple):
        large = sum(1 for one in answer if not isinstance(one, int) or one > SMALL_IDS)
        return sys.getsizeof(answer) + INTEGER * large
    return sys.getsizeof(answer)


def held(encoder: Encoder) -> tuple[int, int]:
    """Bytes that are held now: by the kernel's count of resident pages, and by the allocator's.

    Of this process and the programs that it runs; of a program behind a pipe alone where the work
    is done by one. The kernel counts what is mapped from no file, so that code which is read in
    late is left out. The allocator's count is of this process alone, of what the C library gave
    out (Python's own blocks lie in what it maps by itself); 0 where there is none.
    """
    gc.collect()
    release()
    resident = sum(sizes(pid)["RssAnon"] for pid in watched(encoder))
    return resident, 0 if isinstance(encoder, Timed) else given_out()


def sizes(pid: int) -> Counter[str]:
    """The sizes in bytes that the kernel says of a process, by name; 0 of one that has ended."""
    found: Counter[str] = Counter()
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, size = line.partition(":")
            if size.endswith("kB"):
                found[name] = int(size.split()[0]) << 10
    return found


class MallocInfo(ctypes.Structure):
    """What ``mallinfo2`` of the GNU C library gives, all of it in bytes or numbers of pieces."""

    NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_: ClassVar = [(name, ctypes.c_size_t) for name in NAMES.split()]


def given_out() -> int:
    """Bytes that the C library has given out and that nobody gave back; 0 for another library."""
    with contextlib.suppress(OSError, AttributeError):
        ask = ctypes.CDLL(None).mallinfo2
        ask.restype = MallocInfo
        found = ask()
        return int(found.uordblks) + int(found.hblkhd)
    return 0


def release() -> None:
    """Have the C library give back what is free: what a call takes again would not be seen."""
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def steps(call: Callable[[], object]) -> int:
    """Lines of the implementation's own source that a call executes, compiled ones interpreted.

    The same every time, whatever the machine is busy with. A call into a library in C is a part
    of its line: only of algorithms written out in Python, or for Numba, is this the whole cost.
    """
    return lines(call)[0]


def lines(call: Callable[[], object]) -> tuple[int, ...]:
    """The same, and then how often each of :data:`PLACES` places in the source was executed.

    A line is at the same place in every run and process; some share one.
    """
    # By identity: to hash code is to hash all that is in it.
    tracers: dict[int, LineTracer | None] = {}
    of: list[tuple[CodeType, Counter[int]]] = []

    def traced(code: CodeType) -> LineTracer | None:
        if not own_source(code.co_filename):
            return None
        counts: Counter[int] = Counter()
        of.append((code, counts))

        def line(frame: FrameType, event: str, argument: object) -> object:
            if event == "line":
                counts[frame.f_lineno] += 1
            return line

        return line

    def entered(frame: FrameType, event: str, argument: object) -> object:
        code = frame.f_code
        if id(code) not in tracers:
            tracers[id(code)] = traced(code)
        return tracers[id(code)]

    with interpreted():
        before = sys.gettrace()
        sys.settrace(entered)  # type: ignore[arg-type]
        try:
            call()
        finally:
            sys.settrace(before)
    found = [0] * (1 + PLACES)
    for code, counts in of:
        file = Path(code.co_filename).name
        for number, count in counts.items():
            found[0] += count
            found[1 + crc32(f"{file}:{number}".encode()) % PLACES] += count
    return tuple(found)


@cache
def own_source(file: str) -> bool:
    """Whether lines of a file count: neither the harness's nor a library's."""
    path = Path(file)
    folders = set(path.parts)
    ours = path.is_relative_to(OURSELVES) or path.is_relative_to(COMPILING)
    return not (file.startswith("<") or ours or not folders.isdisjoint(FOREIGN))


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Functions that Numba compiled run as the Python that they were made of.

    Compiled code does not come by here, so that the outermost call is what matters: from it on
    all are interpreted. What ``NUMBA_DISABLE_JIT=1`` does, but for tables that are built already,
    which would take minutes interpreted.
    """
    numba = sys.modules.get("numba")
    if numba is None or numba.config.DISABLE_JIT:
        yield
        return
    kind: Any = sys.modules["numba.core.registry"].CPUDispatcher
    kind.__call__ = lambda dispatcher, *arguments: dispatcher.py_func(*arguments)
    try:
        yield
    finally:
        del kind.__call__
