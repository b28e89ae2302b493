"""Live workers with a vocabulary loaded: of plug-ins that tests write, and a pool of any."""

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from corpora.vocabularies import sources
from harness.core.comparisons import contracts_of
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs
from harness.engine import selection
from harness.engine.costs import Loaded, loaded
from harness.workers import Limits, Worker, rows
from harness.workers.pool import WorkerPool
from impls.interface import Mode

RAW = Mode(pretokenize=False)


@contextlib.contextmanager
def plugged(folder, source, usual, program=""):
    """Starts a worker of a class of a plug-in, which may write to the folder; all are closed.

    program: the source of what runs by the name of ``program``.
    """
    (folder / "plugin.py").write_text(source)
    (folder / "program.py").write_text(program)
    with contextlib.ExitStack() as closing:

        def start(name="Plain", limits=usual):
            spec = f"{folder}/plugin.py:{name}"
            if name == "program":
                spec = f"cmd:{sys.executable} {folder}/program.py"
            worker = Worker(name, spec, limits, needs=[f"write:{folder}"])
            closing.callback(worker.close)
            assert worker.load(sources.resolve("toy_bytes")).result(timeout=300).error is None
            return worker

        yield start


def ask(worker, *inputs, threads=False):
    """What it answers to inputs."""
    request = Encode(Inputs.of(inputs), RAW, threads=threads)
    return rows(worker.ask(request).result(timeout=300))


def of(*inputs):
    """The bytes of each input as its ids."""
    return [Encoded(tuple(data)) for data in inputs]


@contextlib.contextmanager
def live(
    specs,
    vocabulary="toy_bytes",
    limits=Limits(),  # noqa: B008 - nobody changes it
    trusted=frozenset(),
):
    """A pool of these with a vocabulary loaded, and the comparisons that there are."""
    present, _ = selection.participants(specs)
    known = sources.resolve(vocabulary)
    pool = WorkerPool(present, limits)
    try:
        assert not pool.load(known, [one.name for one in present])
        yield pool, contracts_of(known, present, trusted, proper=True)
    finally:
        pool.close()


def alone(spec: str, measure: Callable[[Loaded], Any]) -> Any:
    """What is measured of an implementation that has ``toy_bytes`` loaded by itself."""
    (one,), _ = selection.participants([spec])
    with loaded(one, sources.resolve("toy_bytes")) as on:
        return measure(on)
