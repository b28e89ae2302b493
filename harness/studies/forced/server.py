"""The inside of a worker of forced tokens: loads a vocabulary, then does one job after another.

Started by :mod:`harness.confinement.start`, when the process is confined. The first request is the
task, each of the others a job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.confinement.plan import OFF, Held
from harness.core.messages import Loaded
from harness.core.outcomes import Status
from harness.studies.forced.jobs import Task, one_line
from harness.studies.forced.policies import Policies
from harness.workers.serving import serve
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.studies.forced.jobs import Job


class Server:
    """Answers the task, and then jobs."""

    def answer(self, request: Any, beat: Callable[[], None]) -> Any:
        """The answer to a request. beat: shows that there is life."""
        if isinstance(request, Task):
            return self._load(request)
        return self._do(request, beat)

    def _load(self, task: Task) -> Loaded:
        self._task = task
        try:
            self._policies = Policies(task.vocabulary)
            self._policies.of_schema(task.policies, True, task.whitespace)
            self._policies.tokenizer.encode(next(iter(task.vocabulary.ids), b""))  # compiles
        except Unsupported as error:
            return Loaded(str(error), Status.UNSUPPORTED.label)
        except Exception as error:
            return Loaded(one_line(error), Status.ERRORED.label)
        return Loaded()

    def _do(self, job: Job[Any], beat: Callable[[], None]) -> Any:
        try:
            return job.run(self._policies, self._task, beat)
        except BaseException as error:  # a panic in Rust is no Exception
            return job.broken(one_line(error))


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve until the harness closes the pipe. held: what confines this process."""
    serve(arguments, lambda progress: Server().answer)
