"""Atheris makes inputs: guided by what they cover of the source of our implementations.

Our hot loops are compiled, and a compiled loop covers nothing; the same source runs interpreted
(``NUMBA_DISABLE_JIT=1``), instrumented by Atheris, in a process of its own for each batch. What it
finds to cover something new is its corpus, which the target keeps, and the batch, which all
implementations are asked. The process is confined as a worker is, and its answers are not trusted:
see :mod:`harness.workers.wire`.

libFuzzer is deterministic under a seed if it does not look at the clock (``-reload=0``), at the
order of strings in sets (``PYTHONHASHSEED``), or at addresses, which are part of what it takes for
features: so the process runs without address space randomization, where the kernel lets it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import logging
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.confinement.plan import OFF, Held
from harness.core.outcomes import Status
from harness.engine.streams import Batch
from harness.workers import inside
from harness.workers.pool import Stopped
from harness.workers.process import Process, WorkerDied
from harness.workers.requests import first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.studies.campaigns.loop import Maker
    from impls.interface import Encoder, Mode

LOG = logging.getLogger(__name__)

COVERAGE = "atheris"

RUNS, COST = 1000, 24.0
"""A batch has so many runs, which take some ten seconds interpreted: as long as so many batches of
a generator, for which it counts."""

LONGEST = 64
"""Bytes: interpreted loops take a microsecond a step, and every branch has a short input."""

SECONDS, MEMORY = 300.0, 4 << 30
"""The limits of a batch: its time, which is there for hangs, and bytes of private memory."""

POLL_SECONDS = 0.1

MOST_TOKENS = 20_000
"""Vocabularies with more take minutes to load, interpreted, for every batch."""

MOST_KEPT = 1000
"""Inputs of Atheris's corpus: those found last; each batch begins by running them all."""

OURS = (
    "impls.bpe",
    "impls.fast",
    "impls.kernels",
    "impls.pretokenize",
    "impls.spm",
    "impls.unigram",
    "impls.wordpiece",
)
"""Packages whose implementations are of interpreted source."""

ADDR_NO_RANDOMIZE = 0x0040000
"""The flag of ``personality(2)`` that turns off random addresses."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a process is to do: fuzz one implementation from a corpus on."""

    vocabulary: Vocabulary
    spec: str
    mode: Mode
    seed: int
    corpus: Sequence[bytes]


def covered(
    targets: Sequence[tuple[str, Mode]],
    vocabulary: Vocabulary,
    seeded: Callable[[int], int],
    kept: list[bytes],
    stopped: Callable[[], bool],
) -> Maker[Batch]:
    """Batches that Atheris makes, of one implementation after another. Raises Stopped.

    seeded: the seed of each batch. kept: Atheris's corpus, which the target commits, and a batch
    adds to.
    """

    def take(number: int, place: int) -> Batch:
        from impls import registry  # noqa: PLC0415 (an implementation)

        spec, mode = targets[place % len(targets)]
        request = Request(vocabulary, spec, mode, seeded(place), list(kept))
        needs = registry.resolve(spec).about.needs
        found = ask(__name__, request, stopped, spec, needs) or ()
        able = [data for data in found if vocabulary.can_encode(data)]
        kept.extend(able)
        del kept[:-MOST_KEPT]
        return Batch(COVERAGE, request.seed, place, 0, able)

    return take


def ask(
    module: str,
    request: Any,
    stopped: Callable[[], bool],
    spec: str = "",
    needs: Sequence[str] = (),
) -> list[bytes] | None:
    """What the ``main`` of a module answers in a process of its own, which ends with it.

    spec: of the implementation that runs in it, if any; needs: what that declares. None where it
    died, took too long, or broke the protocol. Raises Stopped.
    """
    environment = {"PYTHONHASHSEED": "0", "NUMBA_DISABLE_JIT": "1"}
    process = Process(module, MEMORY, environment, others=f"{module} {spec}", needs=needs)
    deadline = time.monotonic() + SECONDS
    try:
        process.send(request, SECONDS)
        while (answer := process.answer(list[bytes])) is None and time.monotonic() < deadline:
            if stopped():
                raise Stopped
            process.listen(POLL_SECONDS)
    except WorkerDied as death:
        if death.outcome.status is Status.PROTOCOL:
            LOG.warning("%s: %s", module, first_line(death.outcome.message))
        return None
    finally:
        process.kill()
        process.close()
    return answer


def targets(vocabulary: Vocabulary, contracts: Sequence[Contract]) -> list[tuple[str, Mode]]:
    """Implementations to instrument, with the first mode that each is compared in."""
    if len(vocabulary) > MOST_TOKENS or importlib.util.find_spec("atheris") is None:
        return []
    found: dict[str, Mode] = {}
    for contract in contracts:
        for participant in contract.participants:
            if interpreted(participant):
                found.setdefault(participant.spec, contract.mode)
    return list(found.items())


def interpreted(participant: Participant) -> bool:
    """Whether Atheris can instrument it: ours, or of a module that is imported by name."""
    if participant.spec.startswith(("cmd:", "pip:", "npm:")) or ".py:" in participant.spec:
        return False
    module = type(participant.implementation).__module__
    if module.startswith("impls."):
        return module.startswith(OURS)
    return ":" in participant.spec


def fixed_addresses(arguments: Sequence[str]) -> None:
    """Start this process again without address space randomization, once, if the kernel lets it.

    What confines it stays.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    now = libc.personality(ctypes.c_ulong(0xFFFFFFFF))
    if now < 0 or now & ADDR_NO_RANDOMIZE:
        return
    if libc.personality(ctypes.c_ulong(now | ADDR_NO_RANDOMIZE)) >= 0:
        os.execv(sys.executable, [sys.executable, "-P", "-m", __spec__.name, *arguments])


def found(request: Request) -> list[bytes]:
    """What libFuzzer adds to the corpus; it ends its process, so that it gets one of its own."""
    with scratch.temporary("atheris-") as home:
        folder = Path(home)
        for number, data in enumerate(request.corpus):
            (folder / f"{number:06}").write_bytes(data)
        child = os.fork()
        if child == 0:
            try:
                fuzz(request, folder)
            finally:
                os._exit(1)
        os.waitpid(child, 0)
        new = {path.read_bytes() for path in folder.iterdir()} - set(request.corpus)
        return sorted(new, key=lambda data: (len(data), data))


def fuzz(request: Request, folder: Path) -> None:
    """Run libFuzzer on a folder with a corpus. Does not return."""
    import atheris  # noqa: PLC0415 (only here: it is slow to import, and not on every system)

    module = request.spec.partition(":")[0] if ":" in request.spec else "impls"
    with atheris.instrument_imports(include=["impls", module], enable_loader_override=False):
        from impls import registry  # noqa: PLC0415

        implementation = registry.resolve(request.spec)
        encoder: Encoder = implementation.load(request.vocabulary)
        with contextlib.suppress(Exception):
            encoder.encode(b"a", request.mode)  # imports what is imported late

    def target(data: bytes) -> None:
        with contextlib.suppress(Exception):  # the pool tells what it is worth
            encoder.encode(data, request.mode)

    options = [
        f"-runs={RUNS}", f"-seed={request.seed % 2**31 or 1}", f"-max_len={LONGEST}",
        "-len_control=0", "-reload=0", "-timeout=60", str(folder),
    ]  # fmt: skip
    atheris.Setup(["tokgate", *options], target)
    atheris.Fuzz()


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve requests; see :mod:`harness.confinement.start`."""
    fixed_addresses(arguments)
    inside.serve(arguments, lambda progress: lambda request, beat: found(request))


if __name__ == "__main__":
    main(sys.argv[1:])
