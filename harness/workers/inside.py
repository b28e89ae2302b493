"""The inside of any process of the harness: it answers requests until the harness is gone."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.workers import wire
from harness.workers.cell import Progress
from impls.external import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def serve(
    arguments: Sequence[str], begin: Callable[[Progress], Callable[[Any, Callable[[], None]], Any]]
) -> None:
    """Answer requests.

    arguments: MEMORY REQUESTS ANSWERS CELL, which are bytes, and three file descriptors. begin:
    given the cell, makes what answers: a request, and what shows meanwhile that there is life.
    """
    memory, requests, answers, cell = map(int, arguments)
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the harness's to handle
    faulthandler.enable()
    # Private writable memory, which is what a runaway allocation takes; mapped files are free.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # confined or not
    # What a library prints must not land among the harness's own output.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    progress = Progress(cell)
    answer = begin(progress)
    with (
        open(requests, "rb") as inlet,  # noqa: PTH123 (a descriptor)
        open(answers, "wb") as outlet,  # noqa: PTH123
        contextlib.suppress(BrokenPipeError),
    ):

        def say(message: bytes) -> None:
            outlet.write(message)
            outlet.flush()

        while (asked := wire.read_request(inlet.read)) is not None:
            sequence, request = asked
            found = answer(request, partial(say, wire.packed_answer(sequence, None)))
            progress.set(-1)
            say(wire.packed_answer(sequence, found))
