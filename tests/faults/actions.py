"""Faults by name: what an implementation does when it meets an input that says so.

A fault is done inside the worker (a plug-in in Python) or inside a program (over stdio): the same
functions serve both. Each of them either returns, after which the implementation answers as if
nothing had happened, or does not.
"""

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
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


def pipes():
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


def write_everywhere(data):
    """Write to every pipe that takes it: one of them leads to the harness."""
    for descriptor in pipes():
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, data)
            os.set_blocking(descriptor, True)
        except OSError:
            continue


def later(action):
    """Do it in a moment, from another thread, when the answer is given."""
    threading.Timer(0.1, action).start()


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def part_of_an_answer():
    write_everywhere(b"tkg1\x10\x00\x00")
    time.sleep(600)


def garbage(size):
    """Garbage of so many bytes, then an answer as always."""
    return lambda: write_everywhere(b"\xa5" * size)


def child(command):
    """A child in a session of its own."""
    return lambda: subprocess.Popen(command, start_new_session=True)


def grandchild(command, *, leaves=True):
    """A daemon as books have it: a child in a session of its own starts another, and ends."""
    code = f"import subprocess; subprocess.Popen({command!r}, start_new_session={leaves})"
    parent = [sys.executable, "-c", code]
    return lambda: subprocess.run(parent, start_new_session=leaves, check=True)


def deaf_to_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def floods():
    for stream in (1, 2):
        if stream == 2 or os.environ.get("TOKGATE_FAULTS") == "plug-in":
            for _ in range(100):
                os.write(stream, b"x" * (1 << 20))


def exits_in_a_thread():
    threading.Thread(target=lambda: os._exit(9)).start()
    time.sleep(600)


class Deadlocked:
    """Its lock is waited for when it is collected."""

    def __del__(self):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()


def other_time():
    time.time = lambda: 0.0
    time.monotonic = lambda: -1e9


def writes_to_the_home():
    path = Path.home() / ".tokgate-fault"
    path.write_text("written by a fault")
    path.unlink()


def reads_nowhere():
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    ctypes.string_at(0)


def recurses():
    recurses()


def spins():
    while True:
        pass


ACTIONS = {
    "stopped": stop,
    "stopped when idle": lambda: later(stop),
    "part of an answer": part_of_an_answer,
    **{f"garbage of {size} bytes": garbage(size) for size in (1, 20, 4096)},
    "a huge header": lambda: write_everywhere(b"tkg1" + b"\xff" * 16),
    "forks and goes on": os.fork,
    "a child in a session of its own": child(SLEEPER),
    "a child that computes for ever": child(COMPUTING),
    "a grandchild in a session of its own": grandchild(SLEEPER),
    "a grandchild without a parent": grandchild(SLEEPER, leaves=False),
    "a daemon that ends soon": grandchild([sys.executable, "-c", "import time; time.sleep(0.5)"]),
    "closes all descriptors": lambda: os.closerange(3, 1024),
    "changes its folder": lambda: os.chdir("/"),
    "ignores signals": deaf_to_signals,
    "changes its umask": lambda: os.umask(0o777),
    "lowers its limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)),
    "100 MB on each stream": floods,
    "exits in a thread": exits_in_a_thread,
    "deadlock in __del__": Deadlocked,
    "another clock": other_time,
    "leaves shared memory": lambda: Path(SHARED_FILE).write_text("shared"),
    "opens a socket": lambda: socket.socket().close(),
    "writes to the home": writes_to_the_home,
    "exits with status 0": lambda: os._exit(0),
    "aborts": os.abort,
    "reads nowhere": reads_nowhere,
    "recurses without end": recurses,
    "spins": spins,
}


def act(data):
    """Do the fault that an input asks for, if it does."""
    if data.startswith(b"fault: "):
        ACTIONS[data.removeprefix(b"fault: ").decode()]()


HERE = Path(__file__).parent
