"""A process that makes inputs for an arm: started on demand, asked, killed when it is late.

Libraries run in it (Atheris, Hypothesis, our own code under instrumentation), so that its answers
are not trusted: see :mod:`harness.workers.packets`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.confinement import probing
from harness.workers import wire
from harness.workers.keeping import Kept, pipe
from harness.workers.packets import Inbox, Message, Outbox, answer_of, packed
from harness.workers.pool import Stopped
from impls.external import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLL_SECONDS = 0.1

MEMORY = 4 << 30
"""Bytes of private memory that a helper may take."""

Inputs = list[bytes]
"""All helpers answer with inputs."""

LOG = logging.getLogger(__name__)


class Helper:
    """Runs the ``main`` of a module with INLET and OUTLET (file descriptors), which :func:`serve`s.

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
        self._kept: Kept | None = None
        self._outbox: Outbox | None = None
        self._inbox: Inbox | None = None
        self._sequence = 0

    def ask(self, request: Any, seconds: float, stopped: Callable[[], bool]) -> Inputs | None:
        """The answer, None where it died, took too long, or gave none. Raises Stopped."""
        if self._kept is None:
            self._start()
        assert self._outbox is not None
        assert self._inbox is not None
        deadline = time.monotonic() + seconds
        self._sequence += 1
        try:
            self._outbox.put(wire.packed_request(self._sequence, request))
            while (message := self._inbox.next()) is None:
                if stopped():
                    self.close()
                    raise Stopped
                if time.monotonic() > deadline:
                    self.close()
                    return None
                self._wait(self._inbox, self._outbox)
            return answer_of(message, self._sequence, Inputs)
        except (EOFError, OSError):
            self.close()
        except wire.Garbled as error:
            LOG.warning("%s: %s", self._module, error)
            self.close()
        return None

    @staticmethod
    def _wait(inbox: Inbox, outbox: Outbox) -> None:
        poller = select.poll()
        poller.register(inbox.descriptor, select.POLLIN)
        if outbox.full:
            poller.register(outbox.descriptor, select.POLLOUT)
        poller.poll(POLL_SECONDS * 1000)
        outbox.flush()

    def _start(self) -> None:
        # What fails here leaves nothing open.
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            inlet, self_outlet = pipe(theirs, ours)
            self_inlet, outlet = pipe(ours, theirs)
            self._scratch = scratch.temporary("helper-")
            ours.callback(self._scratch.cleanup)
            launch = probing.launch(
                self._module,
                self._scratch.name,
                others=f"{self._module} {self._spec}",
                needs=self._needs,
                environment=self._environment,
            )
            self._kept = Kept(
                [*launch.command, str(inlet), str(outlet)],
                descriptors=(inlet, outlet),
                environment=launch.environment,
                errors=subprocess.DEVNULL,
                output=subprocess.DEVNULL,
                memory=MEMORY,
            )
            ours.pop_all()
        self._outbox = Outbox(self_outlet)
        self._inbox = Inbox(self_inlet)

    def close(self) -> None:
        """Kill it and all that it has started."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.end()
            self._scratch.cleanup()
        for end in (self._outbox, self._inbox):
            if end is not None:
                os.close(end.descriptor)
        self._outbox = self._inbox = None


def serve(answer: Callable[[Any], Inputs], inlet: int, outlet: int) -> None:
    """The inside of a helper: answer requests until the harness is gone."""
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the harness's to handle
    with (
        os.fdopen(inlet, "rb") as requests,
        os.fdopen(outlet, "wb") as answers,
        contextlib.suppress(BrokenPipeError),
    ):
        while (asked := wire.read_request(requests.read)) is not None:
            sequence, request = asked
            answers.write(packed(Message(sequence, "done", answer(request))))
            answers.flush()
