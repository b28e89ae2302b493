"""A process that makes inputs for an arm: started on demand, asked, killed when it is late.

Libraries run in it (Atheris, Hypothesis, our own code under instrumentation), so that its answers
are not trusted: see :mod:`harness.workers.wire`.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from harness.core.outcomes import Status
from harness.workers import serving
from harness.workers.pool import Stopped
from harness.workers.process import Process, WorkerDied, listen
from harness.workers.requests import first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLL_SECONDS = 0.1

MEMORY = 4 << 30
"""Bytes of private memory that a helper may take."""

Inputs = list[bytes]
"""All helpers answer with inputs."""

LOG = logging.getLogger(__name__)


class Helper:
    """Runs the ``main`` of a module, which :func:`serve`s.

    The process is confined as a worker is. spec: of the implementation that runs in it, if any;
    needs: what that declares.
    The order of sets and dicts of strings is the same in all of them, so that what they make
    depends on the request alone.
    """

    def __init__(
        self,
        module: str,
        environment: dict[str, str] | None = None,
        *,
        spec: str = "",
        needs: Sequence[str] = (),
    ) -> None:
        self._module = module
        self._spec, self._needs = spec, tuple(needs)
        self._environment = {"PYTHONHASHSEED": "0", **(environment or {})}
        self._process: Process | None = None

    def ask(self, request: Any, seconds: float, stopped: Callable[[], bool]) -> Inputs | None:
        """The answer, None where it died, took too long, or gave none. Raises Stopped."""
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None
        deadline = time.monotonic() + seconds
        try:
            process.send(request, seconds)
            while (answer := process.answer(Inputs)) is None:
                if stopped() or time.monotonic() > deadline:
                    self.close()
                    if stopped():
                        raise Stopped
                    return None
                listen([process], POLL_SECONDS)
        except WorkerDied as death:
            if death.outcome.status is Status.PROTOCOL:
                LOG.warning("%s: %s", self._module, first_line(death.outcome.message))
            self.close()
            return None
        return answer

    def _start(self) -> None:
        others = f"{self._module} {self._spec}"
        self._process = Process(
            self._module, MEMORY, self._environment, others=others, needs=self._needs
        )

    def close(self) -> None:
        """Kill it and all that it has started."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.close()


def serve(answer: Callable[[Any], Inputs], arguments: Sequence[str]) -> None:
    """The inside of a helper: answer requests until the harness is gone."""
    serving.serve(arguments, lambda progress: lambda request, beat: answer(request))
