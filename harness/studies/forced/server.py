"""The inside of a worker of forced tokens: loads a vocabulary, then does one job after another.

Started by :mod:`harness.confinement.start`, when the process is confined, with REQUESTS ANSWERS
(two file descriptors). The first request is the task, each of the others a job.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import signal
from typing import IO, TYPE_CHECKING

from harness.confinement.plan import OFF, Held
from harness.studies.forced.jobs import one_line
from harness.studies.forced.policies import Policies
from harness.workers import wire
from harness.workers.packets import Message, packed
from impls.external import die_with_parent
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from harness.studies.forced.jobs import Job, Task


class Server:
    """Answers on a stream."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers

    def say(self, message: Message) -> None:
        """Write a message at once."""
        self._answers.write(packed(message))
        self._answers.flush()

    def load(self, sequence: int, task: Task) -> Policies | None:
        """Load the task's vocabulary, and say how that went; None where it went wrong."""
        resource.setrlimit(resource.RLIMIT_DATA, (task.memory, task.memory))
        try:
            policies = Policies(task.vocabulary)
            policies.of_schema(task.policies, True, task.whitespace)
            policies.tokenizer.encode(next(iter(task.vocabulary.ids), b""))  # compiles
        except Unsupported as error:
            self.say(Message(sequence, "failed", line=str(error), supported=False))
            return None
        except Exception as error:
            self.say(Message(sequence, "failed", line=one_line(error)))
            return None
        self.say(Message(sequence, "ready"))
        return policies

    def do(self, sequence: int, job: Job[Any], policies: Policies, task: Task) -> None:
        """Do a job, and say what came of it."""
        try:
            found = job.run(policies, task, lambda: self.say(Message(sequence, "alive")))
        except BaseException as error:  # a panic in Rust is no Exception
            found = job.broken(one_line(error))
        self.say(Message(sequence, "done", found))


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve until the harness closes the pipe. held: what confines this process."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    inlet, outlet = map(int, arguments)
    with (
        os.fdopen(inlet, "rb") as requests,
        os.fdopen(outlet, "wb") as answers,
        contextlib.suppress(BrokenPipeError),
    ):
        server = Server(answers)
        first = wire.read_request(requests.read)
        if first is None:
            return
        sequence, task = first
        policies = server.load(sequence, task)
        while policies is not None and (asked := wire.read_request(requests.read)) is not None:
            server.do(*asked, policies, task)
