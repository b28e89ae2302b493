"""Atheris makes inputs: guided by what they cover of the source of our implementations.

Our hot loops are compiled, and a compiled loop covers nothing; the same source runs interpreted
(``NUMBA_DISABLE_JIT=1``), instrumented by Atheris, in a process of its own for each batch. What it
finds to cover something new is its corpus, which the target keeps, and the batch, which all
implementations are asked.

libFuzzer is deterministic under a seed if it does not look at the clock (``-reload=0``), at the
order of strings in sets (``PYTHONHASHSEED``), or at addresses, which are part of what it takes for
features: so the process runs without address space randomization, where the kernel lets it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies import scratch
from harness.confinement.plan import OFF, Held
from harness.engine.streams import Batch
from harness.studies.fuzz.helper import Helper, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from impls.interface import Encoder, Mode

COVERAGE = "atheris"

RUNS = 1000
"""A batch has so many runs, which take some ten seconds interpreted."""

COST = 24.0
"""A batch counts for so much of the budget: it takes as long as that many batches of a
generator."""

LONGEST = 64
"""Bytes: interpreted loops take a microsecond a step, and every branch has a short input."""

SECONDS = 300.0
"""The time limit of a batch, which is there for hangs."""

MOST_TOKENS = 20_000
"""Vocabularies with more take minutes to load, interpreted, for every batch."""

MOST_KEPT = 1000
"""Inputs of Atheris's corpus: those found last; each batch begins by running them all."""

OURS = (
    "impls.bpe",
    "impls.kernels",
    "impls.pretokenize",
    "impls.spm",
    "impls.unigram",
    "impls.wordpiece",
)
"""Packages whose implementations are of interpreted source."""

FOREIGN = ("impls.adapters", "impls.external", "impls.environments")
"""Packages of ours whose implementations only call others."""

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


class Covered:
    """Batches that Atheris makes, of one implementation after another.

    kept: Atheris's corpus, which the target commits; added to by :meth:`take`.
    """

    cost = COST
    lasting = True

    def __init__(
        self,
        targets: Sequence[tuple[str, Mode]],
        vocabulary: Vocabulary,
        seed: int,
        shard: int,
        kept: list[bytes],
        stopped: Callable[[], bool],
    ) -> None:
        self._targets, self._vocabulary = targets, vocabulary
        self._seed, self._shard = seed, shard
        self._kept, self._stopped = kept, stopped

    def take(self, number: int, place: int) -> Batch | None:
        """What the ``place``-th batch found; None for nothing. Raises Stopped."""
        from harness.studies.fuzz.arms import derived  # noqa: PLC0415 (arms are made of this)
        from impls import registry  # noqa: PLC0415 (an implementation)

        spec, mode = self._targets[place % len(self._targets)]
        seed = derived(self._seed, self._shard, place)
        needs = registry.resolve(spec).about.needs
        helper = Helper(__name__, {"NUMBA_DISABLE_JIT": "1"}, spec=spec, needs=needs)
        try:
            request = Request(self._vocabulary, spec, mode, seed, list(self._kept))
            found = helper.ask(request, SECONDS, self._stopped)
        finally:
            helper.close()
        able = [data for data in found or () if self._vocabulary.can_encode(data)]
        self._kept += able
        del self._kept[:-MOST_KEPT]
        return Batch(COVERAGE, seed, place, 0, able) if able else None

    def close(self) -> None:
        """Each batch ends its own process."""


def targets(vocabulary: Vocabulary, contracts: Sequence[Contract]) -> list[tuple[str, Mode]]:
    """Implementations to instrument, with the first mode that each is compared in."""
    if len(vocabulary) > MOST_TOKENS or not available():
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


def available() -> bool:
    """Whether Atheris is installed."""
    import importlib.util  # noqa: PLC0415

    return importlib.util.find_spec("atheris") is not None


def fixed_addresses(arguments: Sequence[str]) -> None:
    """Start this process again without address space randomization, once, if the kernel lets it.

    What confines it stays.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    now = libc.personality(ctypes.c_ulong(0xFFFFFFFF))
    if now < 0 or now & ADDR_NO_RANDOMIZE:
        return
    if libc.personality(ctypes.c_ulong(now | ADDR_NO_RANDOMIZE)) >= 0:
        os.execv(sys.executable, [sys.executable, "-m", __spec__.name, *arguments])


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
    serve(found, arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
