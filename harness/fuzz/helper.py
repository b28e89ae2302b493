"""A process that makes inputs for an arm: started on demand, asked, killed when it is late."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from harness import scratch
from harness.arena import Stopped
from impls.external import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_SECONDS = 0.1


class Helper:
    """Runs ``python -m MODULE INLET OUTLET`` (file descriptors), which :func:`serve`s.

    The order of sets and dicts of strings is the same in all of them, so that what they make
    depends on the request alone.
    """

    def __init__(self, module: str, environment: dict[str, str] | None = None) -> None:
        self._module = module
        self._environment = {"PYTHONHASHSEED": "0", **(environment or {})}
        self._popen: subprocess.Popen[bytes] | None = None
        self._outlet: Connection | None = None
        self._inlet: Connection | None = None

    def ask(self, request: Any, seconds: float, stopped: Callable[[], bool]) -> Any:
        """The answer, None where it died or took too long. Raises Stopped."""
        if self._popen is None:
            self._start()
        assert self._outlet is not None
        assert self._inlet is not None
        deadline = time.monotonic() + seconds
        try:
            self._outlet.send(request)
            while not self._inlet.poll(POLL_SECONDS):
                if stopped():
                    self.close()
                    raise Stopped
                if time.monotonic() > deadline:
                    self.close()
                    return None
            return self._inlet.recv()
        except (EOFError, OSError):
            self.close()
            return None

    def _start(self) -> None:
        inlet, self_outlet = os.pipe()
        self_inlet, outlet = os.pipe()
        self._popen = subprocess.Popen(
            [sys.executable, "-m", self._module, str(inlet), str(outlet)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(inlet, outlet),
            start_new_session=True,
            # Its temporary files go with the harness, or when the next one starts.
            env={**os.environ, **self._environment, "TMPDIR": str(scratch.folder())},
        )
        os.close(inlet)
        os.close(outlet)
        self._outlet = Connection(self_outlet, readable=False)
        self._inlet = Connection(self_inlet, writable=False)

    def close(self) -> None:
        """Kill it and its children."""
        popen, self._popen = self._popen, None
        if popen is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)
            popen.wait()
        for end in (self._outlet, self._inlet):
            if end is not None:
                end.close()
        self._outlet = self._inlet = None


def serve(answer: Callable[[Any], Any], inlet: int, outlet: int) -> None:
    """The inside of a helper: answer requests until the harness is gone."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the harness's to handle
    requests, answers = Connection(inlet, writable=False), Connection(outlet, readable=False)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            answers.send(answer(requests.recv()))
