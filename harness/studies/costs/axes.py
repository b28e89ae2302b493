"""What else a cost may grow with: special tokens, calls in a batch, ids, a stream, a vocabulary."""

from __future__ import annotations

import contextlib
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.drawn.sized import of_size
from harness.checks.stream_decoder import kinds
from harness.core.comparisons import contracts_of
from harness.core.messages import Decode, Encode, Measure, Meter
from harness.core.outcomes import Inputs
from harness.studies.growth.cell import FIRST_LOOK, Axis, Cell
from harness.studies.growth.prober import Prober
from harness.verdict.exponents import Verdict
from harness.workers.pool import WorkerPool
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Algorithm, Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Results
    from harness.engine.costs import Loaded
    from harness.events import Measured
    from harness.studies.growth.cell import Ask
    from harness.workers import Limits

SIZES = 16, 4096
"""The least and the most special tokens, texts or ids."""

LIMIT = 0.016
"""Seconds that a call on the next size may take, were the cost quadratic."""

DOCUMENT = 32
"""Bytes of a text in a batch."""

WARM_UP = 8
"""Of whatever is counted, before what is timed."""

MANY_IDS = 4096
"""Ids that a text is asked for, which are decoded then."""

LOADED = 1000, 128_000
"""The least and the most tokens of the vocabularies that are loaded."""

LOAD_LIMIT = 0.05
"""As :data:`LIMIT`, of a load."""

FIRST_LOADED = 600
"""Tokens of the one that is loaded first: libraries are imported by the first load."""


def _costs(results: Results) -> list[int] | None:
    """What each cost but the first, which warms up."""
    if results.status.any() or results.costs is None:
        return None
    return [int(cost) for cost in results.costs[1:, 0]]


def special_tokens(on: Loaded, contracts: Sequence[Contract], family: Family) -> Ask | None:
    """Texts with so many special tokens, a word between any two."""
    name, vocabulary = on.participant.name, on.contract.vocabulary
    mine = [one for one in contracts if name in one.names and one.mode.special == "all"]
    specials = [text.encode() for text in sorted(vocabulary.special_tokens)]
    if not mine or not specials:
        return None

    def text(size: int, turn: int) -> bytes:
        words = family.make(vocabulary, 8 * size, turn).split() or [b""]
        return b"".join(
            specials[(turn + place) % len(specials)] + words[place % len(words)]
            for place in range(size)
        )

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        inputs = [text(size, turn) for size in (WARM_UP, *sizes)]
        return _costs(on.pool.gauge(name, mine[0], inputs, Meter.TIME))

    return ask


def batch(on: Loaded, contracts: Sequence[Contract], family: Family) -> Ask | None:
    """One call for so many short texts."""

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        found = []
        for size in sizes:
            text = Inputs.of([family.make(on.contract.vocabulary, DOCUMENT * size, turn)])
            request = Measure(text, on.contract.mode, document=DOCUMENT)
            spent = on.pool.answer(on.participant.name, request).timed
            if spent is None:
                return None
            found.append(max(spent.cpu, spent.elsewhere or 0))
        return found

    return ask


def decoded(
    on: Loaded,
    contracts: Sequence[Contract],
    family: Family,
    *,
    stream: bool = False,
    cut: bool = False,
) -> Ask | None:
    """So many ids, decoded in one call; stream: one by one; cut: of what is never a character."""
    about, name = on.participant.about, on.participant.name
    if Capability.DECODE not in about.capabilities:
        return None
    text = family.make(on.contract.vocabulary, 4 * MANY_IDS, 0)[: about.max_input]
    results = on.pool.answer(name, Encode(Inputs.of([text]), on.contract.mode))
    ids = results.ids
    if cut:
        ids = np.array(kinds(on.contract.vocabulary).cut[:1], dtype=np.int32)
    if results.status.any() or not len(ids):
        return None

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        lengths = (WARM_UP, *sizes)
        # Other ids in each round, so that no answer is known already.
        every = np.concatenate([np.roll(np.resize(ids, size), turn) for size in lengths])
        ends = np.cumsum(lengths, dtype=np.int64)
        return _costs(on.pool.answer(name, Decode(every, ends, stream=stream, timed=True)))

    return ask


AXES = (
    ("special tokens", "special-tokens", special_tokens),
    ("calls", "batch", batch),
    ("ids", "decoding", decoded),
    ("ids", "streaming", partial(decoded, stream=True)),
    ("ids", "streaming-bytes", partial(decoded, stream=True, cut=True)),
)
"""What grows, in plural, the row of the report, and who asks about the loaded vocabulary."""


@cache
def drawn(algorithm: Algorithm, size: int) -> Vocabulary | None:
    """The vocabulary of a size; the same in every round, as no implementation may keep one."""
    return of_size(algorithm, size)


@contextlib.contextmanager
def loading(on: Loaded, limits: Limits, halted: Callable[[], bool]) -> Iterator[Axis | None]:
    """The CPU time of loading random vocabularies of the algorithm, in a worker of its own.

    halted: whether the run was ended, so that nothing more is loaded. None where none is loaded.
    """
    one, algorithm = on.participant, on.contract.vocabulary.algorithm
    first = drawn(algorithm, FIRST_LOADED)
    if first is None or not contracts_of(first, [one], frozenset(), proper=True):
        yield None
        return
    pool = WorkerPool([one], limits)

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        found = []
        for size in sizes:
            vocabulary = drawn(algorithm, size)
            if halted() or vocabulary is None or pool.load(vocabulary, [one.name]):
                return None
            found.append(pool.loaded[one.name])
        return found

    try:
        loads = not pool.load(first, [one.name])
        yield Axis("tokens", "loading", LOADED, ask) if loads else None
    finally:
        pool.close()


def measure_axis(
    axis: Axis, on: Loaded, family: Family, stopped: Callable[[], bool], limit: float = LIMIT
) -> Measured | None:
    """With c(k) the cost of k special tokens, texts of a batch, ids or tokens: c(k) = O(k log k).

    Sizes double until a call on the next would take longer than the limit, or eight times that
    while there are less than four. Rounds over all of them, of which the least counts at each size,
    are judged as time by bytes is, and what looks superlinear is asked until that is proved. What
    is not answered in the first round has no costs; later, that ends the measurement. Raises
    Stopped and OutOfTime.
    """
    cell, prober = Cell(on.participant, on.contract, family, axis), Prober(on.pool, 0)
    while not cell.decided:
        # What looks superlinear is looked at until that is sure: it has a bounded number of rounds.
        if cell.rounds >= FIRST_LOOK and cell.verdict is not Verdict.SUPERLINEAR and stopped():
            break
        prober.round(cell, limit)
    return cell.event() if cell.calls else None
