"""Workers of plug-ins that tests write, with a toy vocabulary loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from corpora.vocabularies import sources
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs, Outcome
from harness.workers import Limits, Worker, rows
from impls.interface import Mode

RAW = Mode(pretokenize=False)

Make = Callable[..., Worker]


@contextlib.contextmanager
def plugged(folder: Path, source: str, usual: Limits) -> Iterator[Make]:
    """Starts a worker of a class of a plug-in, which may write to the folder; all are closed."""
    path = folder / "plugin.py"
    path.write_text(source)
    with contextlib.ExitStack() as closing:

        def start(name: str = "Plain", limits: Limits = usual) -> Worker:
            worker = Worker(name, f"{path}:{name}", limits, needs=[f"write:{folder}"])
            closing.callback(worker.close)
            assert worker.load(sources.resolve("toy_bytes")).result(timeout=300).error is None
            return worker

        yield start


def ask(worker: Worker, *inputs: bytes, threads: bool = False) -> list[Outcome]:
    """What it answers to inputs."""
    request = Encode(Inputs.of(inputs), RAW, threads=threads)
    return rows(worker.ask(request).result(timeout=300))


def of(*inputs: bytes) -> list[Outcome]:
    """The bytes of each input as its ids."""
    return [Encoded(tuple(data)) for data in inputs]
