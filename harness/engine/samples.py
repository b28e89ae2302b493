"""Which batches a contract and a check take, and what a batch counts for. Pure functions."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from corpora.generators import cells, long_runs
from harness.checks.base import LongRuns, Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from harness.checks.base import Check
    from harness.core.comparisons import Contract
    from harness.engine.streams import Batch

LONG = frozenset({long_runs.NAME, cells.NAME})
"""The generators of texts of 70,000 bytes and more."""

SPECIAL_GENERATORS = frozenset({"special", "edge", "expectations", "given"})
"""These generators are worth asking with special tokens on, since the texts of special tokens
hardly ever occur elsewhere."""

TEXTS = "input"
"""The name, in provenance and options, of what the user gave after ``--input``."""


def takes(contract: Contract, batch: Batch) -> bool:
    """Whether a contract takes a batch: with special tokens on, only what is about them.

    The user's texts are asked as they are tokenized in use, in one mode.
    """
    if batch.mode is not None:
        return contract.mode == batch.mode
    return contract.mode.special != "all" or batch.generator in SPECIAL_GENERATORS


def offered(
    batches: Iterable[Batch], wanted: Callable[[Batch], bool], generators: int
) -> Iterator[Batch]:
    """The batches, until every generator in turn has made one, and nobody wanted any of them.

    Most generators go on for ever, and those that a contract takes may have ended, or may not be
    among those of the run. generators: how many take turns, with the user's texts between them.
    """
    in_vain = 0
    for batch in batches:
        in_vain = 0 if wanted(batch) else in_vain + 1
        if in_vain > 2 * generators:
            return
        yield batch


def due(check: Check, batch: Batch, contract: Contract) -> bool:
    """Whether a check that samples takes this batch.

    Each generator starts at another place under each contract, so that a run too short for more
    than first batches still spreads its checks; decided by names and numbers alone. Of long runs
    each batch is put to the same checks, as there are few.
    """
    if batch.generator == long_runs.NAME:
        # It takes a second to locate ten thousand tokens six times.
        short = len(batch.inputs[0]) < long_runs.MIDDLE
        put = (LongRuns.ALL, LongRuns.SHORT) if short else (LongRuns.ALL,)
        return check.every == 1 or check.long_runs in put
    if batch.generator == cells.NAME and check.every > 1 and check.long_runs is not LongRuns.ALL:
        return False
    return (_start(check, batch, contract) + batch.number) % check.every == 0


def sample(check: Check, batch: Batch, seen: Observation) -> tuple[int, Observation]:
    """What a check gets of a batch, and the index of its first input in the batch.

    A check with further questions gets a run of ``check.most`` inputs, which lies at another
    place in each batch; decided by names and numbers alone. The user's own texts it gets all.
    """
    count = len(seen.inputs)
    if check.every == 1 or count <= check.most or batch.generator == TEXTS:
        return 0, seen
    places = count - check.most + 1
    first = _start(check, batch, seen.contract, str(batch.number)) % places
    last = first + check.most
    results = {name: one.part(first, last) for name, one in seen.results.items()}
    return first, Observation(seen.contract, seen.inputs.part(first, last), results)


def _start(check: Check, batch: Batch, contract: Contract, further: str = "") -> int:
    """A number that is another for each check, generator, contract and further word."""
    words = f"{check.name} {batch.generator} {contract.id} {further}".rstrip()
    return zlib.crc32(words.encode("utf-8", "surrogatepass"))


def comparisons(seen: Observation) -> int:
    """Pairs of a case and an implementation beyond the first that was compared with others."""
    exact = seen.contract.exact
    answered = [results.answered for name, results in seen.results.items() if name in exact]
    by_case = np.sum(answered, axis=0, dtype=np.int64) if answered else np.zeros(0, np.int64)
    return int(np.maximum(by_case - 1, 0).sum())
