"""Faults by name: what an implementation does when it meets an input that says so.

A fault is done inside the worker (a plug-in in Python) or inside a program (over stdio): the same
functions serve both. Each of them either returns, after which the implementation answers as if
nothing had happened, or does not.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]

COMPUTING = [
    *(sys.executable, "-c"),
    "import os, time\nparent = os.getppid()\n"
    "while os.getppid() == parent: time.sleep(0.05)\n"
    "while True: pass",
]
"""It begins when its parent has ended: its CPU time is none of a request's then."""

SHARED_FILE = "/dev/shm/tokgate-fault"


def pipes() -> list[int]:
    """The descriptors of this process that are pipes and may lead to the harness."""
    # A program answers on its standard output; what a plug-in writes there is kept apart.
    found = [] if os.environ.get("TOKGATE_FAULTS") == "plug-in" else [1]
    for link in Path("/proc/self/fd").iterdir():
        try:
            if int(link.name) > 2 and "pipe:" in str(link.readlink()):
                found.append(int(link.name))
        except OSError:
            continue
    return found


def write_everywhere(data: bytes) -> None:
    """Write to every pipe that takes it: one of them leads to the harness."""
    for descriptor in pipes():
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, data)
            os.set_blocking(descriptor, True)
        except OSError:
            continue


def later(action: Callable[[], object]) -> None:
    """Do it in a moment, from another thread, when the answer is given."""
    threading.Timer(0.1, action).start()


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def stop_when_idle() -> None:
    later(stop)


def part_of_an_answer() -> None:
    write_everywhere(b"tkg1\x10\x00\x00")
    time.sleep(600)


def garbage(size: int) -> Callable[[], None]:
    """Garbage of so many bytes, then an answer as always."""
    return lambda: write_everywhere(b"\xa5" * size)


def huge_header() -> None:
    write_everywhere(b"tkg1" + b"\xff" * 16)


def fork_and_go_on() -> None:
    os.fork()


def child_that_leaves() -> None:
    subprocess.Popen(SLEEPER, start_new_session=True)


def child_that_computes() -> None:
    """A child in a session of its own that never rests once it is alone."""
    subprocess.Popen(COMPUTING, start_new_session=True)


def leaves_shared_memory() -> None:
    """A file in the memory that all processes of a machine share."""
    Path(SHARED_FILE).write_text("shared")


def grandchild_that_leaves() -> None:
    """A daemon as books have it: a child in a session of its own starts another, and ends."""
    code = f"import subprocess; subprocess.Popen({SLEEPER!r}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", code], start_new_session=True, check=True)


def daemon_that_ends() -> None:
    """The same, but that it ends by itself soon, with or without the worker."""
    brief = [sys.executable, "-c", "import time; time.sleep(0.5)"]
    code = f"import subprocess; subprocess.Popen({brief!r}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", code], start_new_session=True, check=True)


def grandchild_of_the_group() -> None:
    """A process without a parent, but in the worker's session."""
    code = f"import subprocess; subprocess.Popen({SLEEPER!r})"
    subprocess.run([sys.executable, "-c", code], check=True)


def close_all() -> None:
    os.closerange(3, 1024)


def other_folder() -> None:
    os.chdir("/")


def deaf_to_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def umask() -> None:
    os.umask(0o777)


def lower_limits() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))


def floods() -> None:
    for stream in (1, 2):
        if stream == 2 or os.environ.get("TOKGATE_FAULTS") == "plug-in":
            for _ in range(100):
                os.write(stream, b"x" * (1 << 20))


def exits_in_a_thread() -> None:
    threading.Thread(target=lambda: os._exit(9)).start()
    time.sleep(600)


class _Deadlocked:
    def __del__(self) -> None:
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()


def deadlock_when_collected() -> None:
    _Deadlocked()


def other_time() -> None:
    time.time = lambda: 0.0
    time.monotonic = lambda: -1e9


def opens_a_socket() -> None:
    socket.socket().close()


def writes_to_the_home() -> None:
    path = Path.home() / ".tokgate-fault"
    path.write_text("written by a fault")
    path.unlink()


def exits() -> None:
    os._exit(0)


def aborts() -> None:
    os.abort()


def reads_nowhere() -> None:
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    ctypes.string_at(0)


def recurses() -> None:
    recurses()


def spins() -> None:
    while True:
        pass


ACTIONS: dict[str, Callable[[], object]] = {
    "stopped": stop,
    "stopped when idle": stop_when_idle,
    "part of an answer": part_of_an_answer,
    **{f"garbage of {size} bytes": garbage(size) for size in (1, 20, 4096)},
    "a huge header": huge_header,
    "forks and goes on": fork_and_go_on,
    "a child in a session of its own": child_that_leaves,
    "a child that computes for ever": child_that_computes,
    "a grandchild in a session of its own": grandchild_that_leaves,
    "a grandchild without a parent": grandchild_of_the_group,
    "a daemon that ends soon": daemon_that_ends,
    "closes all descriptors": close_all,
    "changes its folder": other_folder,
    "ignores signals": deaf_to_signals,
    "changes its umask": umask,
    "lowers its limits": lower_limits,
    "100 MB on each stream": floods,
    "exits in a thread": exits_in_a_thread,
    "deadlock in __del__": deadlock_when_collected,
    "another clock": other_time,
    "leaves shared memory": leaves_shared_memory,
    "opens a socket": opens_a_socket,
    "writes to the home": writes_to_the_home,
    "exits with status 0": exits,
    "aborts": aborts,
    "reads nowhere": reads_nowhere,
    "recurses without end": recurses,
    "spins": spins,
}


def act(data: bytes) -> None:
    """Do the fault that an input asks for, if it does."""
    if data.startswith(b"fault: "):
        ACTIONS[data.removeprefix(b"fault: ").decode()]()


HERE = Path(__file__).parent
