"""A process that has imported what our own workers run, and begins each of them as its copy.

Started by :mod:`harness.workers.forking` as ``python -m harness.workers.fork_server
DESCRIPTOR,.. MODULE..``: a socket for each process that asks, and what to import. Imports are two
thirds of what it takes to start a worker.
It runs no code of others: no implementation is loaded here, and nothing starts a thread.

A request is one message on the socket, with the descriptors that go with it: the process copies
itself. The copy is the worker's keeper (:mod:`harness.workers.keeper`), whose own copy confines
itself and becomes the worker, as a process that was started anew does. The answer is the number of
the keeper, with a descriptor of the process (``pidfd``), or a negative number: why there is none.
How it ended is told by its report; nobody waits for it here.

It ends when its sockets do, and so with the harness: the kernel's signal for the end of a parent
comes when the parent's thread has ended, which is earlier.
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import fcntl
import gc
import importlib
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NoReturn

import msgspec

from harness.confinement import start
from harness.workers import keeper
from impls.external import IN_WORKER

LONGEST = 1 << 17
"""Bytes of a message: an environment has some thousands."""

DESCRIPTORS = 16
"""A message has fewer descriptors."""

NO_WORD = "0" * 16
"""In the environment of this process, in the place of the word that tells a worker's family."""

FIRST_FREE = 1000
"""Descriptors are moved out of each other's way to numbers from here on."""

PR_SET_DUMPABLE = 4
ENVIRONMENT_FIELD = 47
"""The field of ``/proc/self/stat``, after the name of the process, with the address where the
environment begins; the next one has that where it ends."""


ANSWER = struct.Struct("<i")
"""The number of a keeper, or of an error, negative."""


class Begin(msgspec.Struct, frozen=True):
    """Begin a worker. With it come the keeper's two pipes, the worker's log, and what it inherits.

    arguments: of :mod:`harness.confinement.start`. environment: all variables of the worker.
    numbers: what the inherited descriptors are called in the arguments.
    """

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    numbers: list[int]


def main(arguments: list[str]) -> None:
    """Serve until the sockets end."""
    descriptors, *modules = arguments
    connections = [socket.socket(fileno=int(one)) for one in descriptors.split(",")]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a keeper
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what is collected later need not be copied for it
    while connections:
        ready, _, _ = select.select(connections, [], [])
        for connection in ready:
            message, passed, _, _ = socket.recv_fds(connection, LONGEST, DESCRIPTORS)
            if message:
                request = msgspec.json.decode(message, type=Begin)
                _begin(connection, connections, request, passed)
            else:
                connections.remove(connection)


def _begin(
    connection: socket.socket,
    connections: list[socket.socket],
    request: Begin,
    descriptors: list[int],
) -> None:
    try:
        pid = os.fork()
        if pid == 0:
            for one in connections:
                one.close()
            _keep(request, descriptors)
        process = os.pidfd_open(pid)
    except OSError as error:
        connection.send(ANSWER.pack(-(error.errno or errno.EAGAIN)))
        return
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    socket.send_fds(connection, [ANSWER.pack(pid)], [process])
    os.close(process)


def _keep(request: Begin, descriptors: list[int]) -> NoReturn:
    """Become the keeper of a worker."""
    try:
        os.setsid()
        control, report, log, *inherited = descriptors
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((nothing, log, log)):
            os.dup2(descriptor, number)
        os.chdir(request.folder)
        _take_over(request.environment)
        keeper.run(control, report, lambda: _work(request, inherited))
    except BaseException as error:
        keeper.tell(descriptors[1], status=127 << 8, all=False, error=str(error))
    os._exit(0)


def _work(request: Begin, inherited: list[int]) -> NoReturn:
    """Become the worker, as a process that was started with these arguments."""
    status = 1
    try:
        # The keeper has hidden its descriptors from others.
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        spare = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, FIRST_FREE) for descriptor in inherited]
        keeper.close_others(set(spare))
        for descriptor, number in zip(spare, request.numbers, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
        tempfile.tempdir = None  # it is the worker's own, by its environment
        sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
        sys.argv = [start.__file__, *request.arguments]
        start.main(request.arguments)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(status)


def _take_over(environment: dict[str, str]) -> None:
    """Give this process an environment, with the word of the worker's family for all to see.

    ``/proc`` shows the environment with which a process was started, where it lies in memory.
    """
    fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
    begin, end = map(int, fields.rpartition(")")[2].split()[ENVIRONMENT_FIELD:][:2])
    place = ctypes.string_at(begin, end - begin).find(f"{IN_WORKER}={NO_WORD}".encode())
    word = environment[IN_WORKER].encode()
    if place < 0 or len(word) != len(NO_WORD):
        raise ValueError("the environment has no place for the word of a worker's family")
    ctypes.memmove(begin + place + len(IN_WORKER) + 1, word, len(word))
    os.environ.clear()
    os.environ.update(environment)


if __name__ == "__main__":
    main(sys.argv[1:])
