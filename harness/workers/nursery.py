"""The nursery: a process of which the keepers of workers are copies, and some workers, too.

Started by :mod:`harness.workers.kept` as ``python -m harness.workers.nursery DESCRIPTOR MODULE..``:
a socket, and what to import. It runs no code of others: no implementation is loaded here, and
nothing starts a thread. Imports are two thirds of what it takes to start a worker, so that a
nursery which has imported what our own workers run begins these as copies. Whoever runs code that
is not ours is started anew, so that a library finds what it would find in any process.

A request is one message on the socket, with two descriptors and those that the worker inherits: a
connection to the harness, and a log. The process copies itself. The copy is the worker's keeper
(:mod:`harness.workers.keeper`), which reads an :data:`Order` and begins the worker. Whether and how
is told by the keeper; nobody waits for it here.

The process ends when its socket does, and so with the harness: the kernel's signal for the end of a
parent comes when the parent's thread has ended, which is earlier.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import pickle
import signal
import socket
import sys
import tempfile
import traceback

from harness.confinement import start
from harness.workers import keeper

DESCRIPTORS = 16
"""A message has fewer descriptors."""

UNHEARD = (*keeper.DEAF, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that a keeper, or Python, does not heed, and a worker does."""

Order = tuple[list[str], bool, dict[str, str], str]
"""A worker to be begun: its command, which the numbers of what it inherits are added to; whether it
is a copy of the nursery, and the command has the arguments of :mod:`harness.confinement.start`; all
of its variables; and the folder it is in."""


def main(arguments: list[str]) -> None:
    """Begin workers until the socket ends."""
    descriptor, *modules = arguments
    connection = socket.socket(fileno=int(descriptor))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a keeper
    # Whoever started the harness may have blocked SIGCHLD, which wakes keepers up.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what is collected later need not be copied for it
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, 1, DESCRIPTORS)
        if not message:
            return
        with contextlib.suppress(OSError):  # no room for a process: its report ends without a word
            if os.fork() == 0:
                try:
                    connection.close()
                    _keep(*descriptors)
                finally:
                    os._exit(0)
        for one in descriptors:
            os.close(one)


def _keep(line: int, log: int, *inherited: int) -> None:
    """Be the keeper of a worker."""
    os.setsid()
    for number in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(log, number)
    os.close(log)
    os.set_inheritable(line, False)
    harness = socket.socket(fileno=line)
    with harness.makefile("rb") as file:
        order: Order = pickle.load(file)
    keeper.keep(harness, lambda: _begun(order, inherited))


def _begun(order: Order, inherited: tuple[int, ...]) -> int:
    """Begin the worker, and return its number. Raises OSError."""
    command, copy, environment, folder = order
    command += map(str, inherited)
    os.chdir(folder)
    if not copy:
        return os.posix_spawn(command[0], command, environment, setsid=True, setsigdef=UNHEARD)
    worker = os.fork()
    if worker == 0:
        _become(command, environment, inherited)
    return worker


def _become(command: list[str], environment: dict[str, str], inherited: tuple[int, ...]) -> None:
    """Become the worker, and end with it."""
    status = 1
    try:
        for number in UNHEARD:
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        keeper.close_others(inherited)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None  # it is the worker's own, by its environment
        sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
        sys.argv = [start.__file__, *command]
        start.main(command)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
