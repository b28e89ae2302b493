"""Live workers with a vocabulary loaded: of plug-ins that tests write, and a pool of any."""

import contextlib
from collections.abc import Callable

from corpora.vocabularies import sources
from harness.core.comparisons import contracts_of
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs
from harness.engine import selection
from harness.workers import Limits, Worker, rows
from harness.workers.pool import WorkerPool
from impls.interface import Mode

RAW = Mode(pretokenize=False)

Make = Callable[..., Worker]


@contextlib.contextmanager
def plugged(folder, source, usual):
    """Starts a worker of a class of a plug-in, which may write to the folder; all are closed."""
    path = folder / "plugin.py"
    path.write_text(source)
    with contextlib.ExitStack() as closing:

        def start(name="Plain", limits=usual):
            worker = Worker(name, f"{path}:{name}", limits, needs=[f"write:{folder}"])
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
