"""Workers without processes, so that a session that is to be killed costs milliseconds.

All of :class:`harness.workers.worker.Worker` is as it is: its threads, how it counts deaths, asks
again and withdraws. Only the process is an object, which an encoder can have die.
"""

import os

from corpora.vocabularies import scratch
from harness.core.outcomes import Failed, Results, Status
from harness.workers import worker
from harness.workers.cell import CELL_BYTES, Progress
from harness.workers.process import WorkerDied
from harness.workers.server import Server
from impls.bpe.naive import IMPLEMENTATION as NAIVE
from impls.interface import About, Mode


class Death(BaseException):
    """An encoder has brought down its process."""


class InsideProcess:
    """Answers as a process would; has a temporary folder as one does."""

    at_work = 0.0
    printed = ""

    def __init__(
        self,
        module,
        memory,
        environment,
        **given,
    ):
        cell = os.memfd_create("tokgate-progress")
        os.ftruncate(cell, CELL_BYTES)
        self._progress = Progress(cell)
        os.close(cell)
        self._server = Server(self._progress)
        self._scratch = scratch.temporary("worker-")

    def ask(self, request, seconds, kind, count=0):
        answer = self._server.answer(request)
        if isinstance(answer, Results):
            dead = [i for i in range(len(answer)) if answer.status[i] == Status.CRASHED]
            if dead:
                raise WorkerDied(Failed(Status.CRASHED, "killed by SIGSEGV"), dead[0])
        return answer

    def kill(self):
        pass

    def close(self):
        self._progress.close()
        self._scratch.cleanup()


def install():
    """Have the workers of this process do without processes."""
    worker.Process = InsideProcess


class _Encoder:
    """The right ids, but for one mutant."""

    def __init__(self, mutant, right):
        self._mutant, self._right = mutant, right

    def encode(self, data, mode):
        ids = list(self._right.encode(data, mode))
        if self._mutant == "dies" and b"\xf4" in data:
            raise Death
        if self._mutant == "errs" and b"\x87" in data:
            return [*ids, 0]
        if self._mutant == "drops" and data.endswith(b"aa"):
            return ids[:-1]
        return ids


class Planted:
    """An implementation with a mutant that shows within a few hundred cases."""

    def __init__(self, mutant):
        self._mutant = mutant
        self.about = About(name=f"mini-{mutant}", version="1")

    def supports(self, vocabulary, mode):
        if mode != Mode(pretokenize=False):
            return "neither pre-tokenization nor special tokens"
        return NAIVE.supports(vocabulary, mode)

    def load(self, vocabulary):
        return _Encoder(self._mutant, NAIVE.load(vocabulary))


Errs, Drops, Dies = Planted("errs"), Planted("drops"), Planted("dies")
