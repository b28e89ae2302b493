"""The nursery: a process of which the keepers of workers are copies, and some workers, too.

Started by :mod:`harness.workers.kept` as ``python -m harness.workers.nursery DESCRIPTOR MODULE..``:
a socket, and what to import. It runs no code of others: no implementation is loaded here, and
nothing starts a thread. Imports are two thirds of what it takes to start a worker, so that a
nursery which has imported what our own workers run begins these as copies. Whoever runs code that
is not ours is started anew, so that a library finds what it would find in any process.

A request is one message on the socket, with four descriptors and those that the worker inherits: to
hear the harness, to tell it, an :data:`Order`, a log. The process copies itself. The copy is the
worker's keeper (:mod:`harness.workers.keeper`), whose own copy becomes the worker. Whether and how
is told by the keeper; nobody waits for it here.

The process ends when its socket does, and so with the harness: the kernel's signal for the end of a
parent comes when the parent's thread has ended, which is earlier.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
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

FIRST = 3
"""A worker inherits its descriptors under the numbers from here on."""


Order = tuple[list[str], bool, dict[str, str], str]
"""A worker to be begun: its command; whether it is a copy of the nursery, and the command has the
arguments of :mod:`harness.confinement.start`; all of its variables; and the folder it is in."""


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


def _keep(control: int, report: int, order: int, log: int, *inherited: int) -> None:
    """Be the keeper of a worker."""
    os.setsid()
    for number in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(log, number)
    with os.fdopen(order, "rb") as file:
        wanted: Order = pickle.load(file)
    keeper.keep(control, report, lambda told: _become(wanted, inherited, told))


def _become(order: Order, inherited: tuple[int, ...], told: int) -> None:
    """Become the worker. Raises OSError."""
    spare = [fcntl.fcntl(one, fcntl.F_DUPFD, keeper.FREE) for one in inherited]
    keeper.close_others({*spare, told})
    for number, one in enumerate(spare, FIRST):
        os.dup2(one, number)
        os.close(one)
    command, copy, environment, folder = order
    os.chdir(folder)
    if not copy:
        os.execve(command[0], command, environment)
    os.close(told)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # it is the worker's own, by its environment
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    sys.argv = [start.__file__, *command]
    status = 1
    try:
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
