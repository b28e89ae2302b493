"""What else a cost may grow with: special tokens, calls in a batch, ids, a stream, a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.core.messages import Decode, Encode, Measure, Meter
from harness.core.outcomes import Inputs
from harness.studies.costs.series import event, measure_series
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.base import Family
    from harness.core.comparisons import Contract
    from harness.events import Measured
    from harness.studies.costs.series import Ask
    from harness.studies.costs.subject import Stopped, Subject

SIZES = tuple(16 << doubling for doubling in range(9))
"""How many special tokens, texts or ids: 16 to 4,096."""

LIMIT = 8_000_000
"""Nanoseconds of a call after which no larger size is asked."""

DOCUMENT = 32
"""Bytes of a text in a batch."""

WARM_UP = 8
"""Of whatever is counted, before what is timed."""

MANY_IDS = 4096
"""Ids that a text is asked for, which are decoded then."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis. name: what grows, in plural; row: stands in place of a family."""

    name: str
    row: str
    asking: Callable[[Subject, Sequence[Contract], Family], Ask | None]


def special_tokens(subject: Subject, contracts: Sequence[Contract], family: Family) -> Ask | None:
    """Texts with so many special tokens, a word between any two."""
    mine = [one for one in contracts if subject.name in one.names and one.mode.special == "all"]
    vocabulary = subject.contract.vocabulary
    specials = sorted(vocabulary.special_tokens)
    if not mine or not specials:
        return None

    def text(size: int, turn: int) -> bytes:
        words = family.make(vocabulary, 8 * size, turn).split() or [b""]
        parts = [
            specials[(turn + place) % len(specials)].encode() + words[place % len(words)]
            for place in range(size)
        ]
        return b"".join(parts)

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        inputs = [text(size, turn) for size in (WARM_UP, *sizes)]
        results = subject.pool.gauge(subject.name, mine[0], inputs, Meter.TIME)
        if results.status.any() or results.costs is None:
            return None
        return [int(cost) for cost in results.costs[1:, 0]]

    return ask


def batch(subject: Subject, contracts: Sequence[Contract], family: Family) -> Ask | None:
    """One call for so many short texts."""
    vocabulary = subject.contract.vocabulary

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        found = []
        for size in sizes:
            text = family.make(vocabulary, DOCUMENT * size, turn)
            request = Measure(Inputs.of([text]), subject.contract.mode, document=DOCUMENT)
            spent = subject.pool.answer(subject.name, request).timed
            if spent is None:
                return None
            found.append(max(spent.cpu, spent.elsewhere or 0))
        return found

    return ask


def decoded(subject: Subject, contracts: Sequence[Contract], family: Family) -> Ask | None:
    """So many ids, decoded in one call."""
    return _decoding(subject, family, stream=False)


def streamed(subject: Subject, contracts: Sequence[Contract], family: Family) -> Ask | None:
    """So many ids, decoded one by one."""
    return _decoding(subject, family, stream=True)


def _decoding(subject: Subject, family: Family, *, stream: bool) -> Ask | None:
    if Capability.DECODE not in subject.participant.about.capabilities:
        return None
    text = family.make(subject.contract.vocabulary, 4 * MANY_IDS, 0)
    limit = subject.most
    inputs = Inputs.of([text if limit is None else text[:limit]])
    results = subject.pool.answer(subject.name, Encode(inputs, subject.contract.mode))
    ids = results.ids
    if results.status.any() or not len(ids):
        return None

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        lengths = (WARM_UP, *sizes)
        # Other ids in each round, so that no answer is known already.
        every = np.concatenate([np.roll(np.resize(ids, size), turn) for size in lengths])
        request = Decode(every, np.cumsum(lengths, dtype=np.int64), stream=stream, timed=True)
        results = subject.pool.answer(subject.name, request)
        if results.status.any() or results.costs is None:
            return None
        return [int(cost) for cost in results.costs[1:, 0]]

    return ask


AXES = (
    Axis("special tokens", "special-tokens", special_tokens),
    Axis("calls", "batch", batch),
    Axis("ids", "decoding", decoded),
    Axis("ids", "streaming", streamed),
)
"""The axes on which the loaded vocabulary is asked, in the order in which they are measured."""


def measure_axis(
    axis: Axis,
    subject: Subject,
    contracts: Sequence[Contract],
    family: Family,
    stopped: Stopped,
) -> Measured | None:
    """The cost along an axis; None for one that the implementation or the vocabulary has not.

    Raises Stopped and OutOfTime.
    """
    ask = axis.asking(subject, contracts, family)
    if ask is None:
        return None
    found = measure_series(ask, SIZES, LIMIT, stopped)
    return event(subject.name, subject.contract.vocabulary.id, axis.name, axis.row, found)
