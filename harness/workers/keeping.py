"""A process of the harness's own that is kept: whatever it starts is gone when it is.

The keeper itself is :mod:`harness.workers.keeper`. What cannot be seen by it is seen to here: where
the keeper itself was killed, its orphans are no longer anybody's. They are found by a word in their
environment that no other process has; psutil makes sure that a number still is the same process's.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil

from impls.external import IN_WORKER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO

    from harness.workers.forking import Copy, ForkServer

KEEPER = Path(__file__).with_name("keeper.py")

PATIENCE_SECONDS = 30.0
"""The keeper has so many seconds to kill what there is, which takes a moment. Its own limits end
before that."""

GENTLE_SECONDS = 90.0
"""The keeper has so many seconds where processes may end by themselves first, which is its limits
and some time more."""

REPORT_BYTES = 1 << 16
"""A report may have so many bytes, which is all that a pipe holds."""


KILLING_PAUSES = (0.0, 0.02, 0.2)
"""Seconds before each look for what a keeper has left, which is rare."""


class Report(msgspec.Struct, frozen=True):
    """What a keeper says at the end: the wait status, and the command lines of what was left.

    count: of all that were left; ``left`` has the first of them. all: whether all that was to be
    killed is gone. error: why the command was not started or not kept; empty where it was.
    """

    status: int
    count: int = 0
    left: tuple[str, ...] = ()
    all: bool = True
    error: str = ""


class Kept:
    """A running command with its keeper. Thread-safe."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        descriptors: Sequence[int],
        environment: Mapping[str, str],
        errors: int | IO[bytes],
        server: ForkServer | None = None,
    ) -> None:
        """Start. descriptors: those that the command gets. environment: besides this process's.

        errors: gets all that it prints. server: of which the command may be a copy, instead of
        being started anew.
        """
        self._word = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._report: Report | None = None
        self._ended = False
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            control, self._control = pipe(theirs, ours)
            self._report_pipe, report = pipe(ours, theirs)
            variables = {**os.environ, **environment, IN_WORKER: self._word}
            copy = None
            if server is not None:
                log = errors if isinstance(errors, int) else errors.fileno()
                copy = server.begin(command, variables, (control, report), log, descriptors)
            script = [sys.executable, "-I", "-S", str(KEEPER), str(control), str(report)]
            self._popen: Copy | subprocess.Popen[bytes] = copy or subprocess.Popen(
                [*script, *command],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=(*descriptors, control, report),
                start_new_session=True,
                env=variables,
            )
            ours.pop_all()

    @property
    def pid(self) -> int:
        """The number of the keeper, from which all the rest descends."""
        return self._popen.pid

    @property
    def report(self) -> Report | None:
        """What the keeper said at the end; None before it, or where it was killed itself."""
        return self._report

    @property
    def left(self) -> str | None:
        """What the command left behind that would not end by itself, on one line."""
        report = self._report
        if report is None or not report.count:
            return None
        several = "a process" if report.count == 1 else f"{report.count:,} processes"
        return f"left {several} behind: {'; '.join(report.left)}"

    @property
    def exit_code(self) -> int | None:
        """How the command ended: its status, or a negative signal; None where nobody knows."""
        return None if self._report is None else os.waitstatus_to_exitcode(self._report.status)

    @property
    def fault(self) -> str | None:
        """Why the command was never started or was not kept, which is no fault of its own.

        A keeper that a signal has ended is none: an implementation may have killed it.
        """
        if self._report is not None:
            return self._report.error or None
        code = self._popen.returncode
        if code is None or code < 0:
            return None
        return f"the process that keeps it ended with status {code}"

    def wait(self, seconds: float) -> None:
        """Wait for the command to end by itself, as long as that, and take no notice if not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)

    def end(self, *, gently: bool = False) -> None:
        """Kill the command and all that it has started.

        gently: what has left its session may end by itself first, and is reported if it does not.
        """
        with self._lock:
            if self._ended:
                return
            with contextlib.suppress(OSError):
                os.write(self._control, b"c" if gently else b"k")
            # An implementation may have stopped its keeper.
            self._popen.send_signal(signal.SIGCONT)
            try:
                self._popen.wait(GENTLE_SECONDS if gently else PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self._popen.send_signal(signal.SIGKILL)
                self._popen.wait()
            self._report = self._read()
            if self._report is None or not self._report.all:
                kill_marked(self._word)
            self._ended = True
            os.close(self._control)
            os.close(self._report_pipe)

    def _read(self) -> Report | None:
        """What the keeper said; None where it said nothing, or nothing that it would say."""
        os.set_blocking(self._report_pipe, False)
        try:
            return msgspec.json.decode(os.read(self._report_pipe, REPORT_BYTES), type=Report)
        except (BlockingIOError, msgspec.MsgspecError, UnicodeDecodeError):
            return None


def pipe(reading: contextlib.ExitStack, writing: contextlib.ExitStack) -> tuple[int, int]:
    """Return a pipe, the end to read from and the end to write to, each closed with its stack."""
    inlet, outlet = os.pipe()
    reading.callback(os.close, inlet)
    writing.callback(os.close, outlet)
    return inlet, outlet


def kill_marked(word: str) -> None:
    """Kill every process in whose environment a worker's word is: none but its descendants.

    Several times, as one that is just being started has no environment that can be read.
    """
    for pause in KILLING_PAUSES:
        time.sleep(pause)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(IN_WORKER) == word:
                    process.kill()
