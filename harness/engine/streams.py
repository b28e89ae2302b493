"""Batches of cases from generators, in an order that depends on nothing but the seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from corpora.generators import cells, long_runs
from corpora.generators.base import Case
from impls.interface import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.generators.base import Generator
    from corpora.vocabularies.model import Vocabulary

BATCH_CASES = 2048
BATCH_BYTES = 64 << 10
"""A batch ends at whichever comes first: small enough that the slowest library answers well
within a second, large enough that its round trip (0.2 ms) does not count."""

FIRST_BATCH_CASES = 128
"""First batches are small, so that a short run has tasted every generator."""

TIMED_FIRST_CASES, TIMED_FIRST_BYTES, TIMED_BYTES = 1024, 16 << 10, 128 << 10
"""Likewise where the clock ends the run and not the number of cases. The checks' further questions
cost as much for few inputs of a batch as for many: smaller batches would spend most of the time on
them."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive cases of one generator: its ``number``-th batch, from case ``start`` on.

    places: of a case by its index, where cases come from files. mode: the only one in which they
    are asked, if any.
    """

    generator: str
    seed: int
    number: int
    start: int
    inputs: list[bytes]
    places: Callable[[int], str] | None = None
    mode: Mode | None = None
    certain: bool = False

    def place(self, index: int) -> str:
        """Where one input comes from: a file and a line, or nothing for what was generated."""
        return self.places(self.start + index) if self.places is not None else ""

    def case(self, index: int) -> Case:
        """The provenance of one input."""
        place = partial(self.place, index) if self.places is not None else None
        return Case(self.inputs[index], self.generator, self.seed, self.start + index, place)


def stream(
    generator: Generator,
    vocabulary: Vocabulary,
    seed: int,
    max_input: int,
    *,
    timed: bool = False,
    most: int = BATCH_CASES,
) -> Iterator[Batch]:
    """One generator's cases for one vocabulary, those that it can encode, cut into batches.

    ``start`` of a batch is the index of its first input; where inputs are passed over, indices of
    later ones are counted without them (the stream is the same either way). timed: the clock ends
    the run, and not the number of cases. most: cases of a batch.
    """
    fits = vocabulary.can_encode if vocabulary.byte_alphabet is not None else None
    most_cases, most_bytes = FIRST_BATCH_CASES, BATCH_BYTES
    if timed:
        most_cases, most_bytes = TIMED_FIRST_CASES, TIMED_FIRST_BYTES
    start = number = size = skipped = 0
    inputs: list[bytes] = []
    for data in generator.cases(vocabulary, seed):
        if len(data) > max_input or (fits is not None and not fits(data)):
            skipped += 1
            # A toy's alphabet fits next to nothing of some generators: give up on those.
            if skipped > 50 * (len(inputs) + FIRST_BATCH_CASES):
                break
            continue
        inputs.append(data)
        size += len(data)
        if len(inputs) >= min(most_cases, most) or size >= most_bytes:
            yield Batch(generator.name, seed, number, start, inputs)
            start, number = start + len(inputs), number + 1
            most_cases, most_bytes = BATCH_CASES, TIMED_BYTES if timed else BATCH_BYTES
            inputs, size, skipped = [], 0, 0
    if inputs:
        yield Batch(generator.name, seed, number, start, inputs)


def batches(
    generators: Sequence[Generator],
    vocabulary: Vocabulary,
    seed: int,
    max_input: int,
    *,
    long: bool = False,
    timed: bool = False,
    most: int = BATCH_CASES,
) -> Iterator[Batch]:
    """Round after round, one batch of each generator that still has one.

    timed: the clock ends the run, and not the number of cases. most: cases of a batch.
    long: the certain ones of the long runs come after the first round, however long inputs may be
    else, and their others take turns: a run of seconds has tasted every generator before. So do
    texts of cells, which are asked in the vocabulary's own mode.
    """
    streams = deque(
        stream(g, vocabulary, seed, max_input, timed=timed, most=most) for g in generators
    )
    first_round = len(streams)
    while streams:
        one = streams.popleft()
        if (batch := next(one, None)) is not None:
            streams.append(one)
            yield batch
        first_round -= 1
        if long and first_round == 0:
            runs = stream(long_runs.GENERATOR, vocabulary, seed, 2 * long_runs.LONGEST)
            count, taken = long_runs.certain(vocabulary), 0
            while taken < count and (batch := next(runs, None)) is not None:
                yield replace(batch, certain=True)
                taken = batch.start + len(batch.inputs)
            longest = max(8 * max_input, 2 * long_runs.LONGEST)
            cut = stream(cells.GENERATOR, vocabulary, seed, longest)
            asked = (replace(batch, mode=Mode(), certain=True) for batch in cut)
            yield from islice(asked, cells.CERTAIN)
            streams += [runs, asked]
