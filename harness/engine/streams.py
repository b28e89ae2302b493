"""Batches of cases from generators, in an order that depends on nothing but the seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from corpora.generators import long_runs
from corpora.generators.base import Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.generators.base import Generator
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

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


class Stream:
    """One generator's cases for one vocabulary, cut into batches.

    timed: the clock ends the run, and not the number of cases. most: cases of a batch.
    """

    def __init__(
        self,
        generator: Generator,
        vocabulary: Vocabulary,
        seed: int,
        max_input: int,
        *,
        timed: bool = False,
        most: int = BATCH_CASES,
    ) -> None:
        self.name = generator.name
        self._seed = seed
        self._cases = generator.cases(vocabulary, seed)
        self._can_encode = vocabulary.can_encode if vocabulary.byte_alphabet is not None else None
        self._max_input = max_input
        self._next = 0
        self._number = 0
        self._timed, self._most = timed, most

    @property
    def taken(self) -> int:
        """How many cases have been taken."""
        return self._next

    def take(self) -> Batch | None:
        """The next batch of inputs that the vocabulary can encode; None at the stream's end.

        ``start`` is the index of the first; where inputs are passed over, indices of later ones
        are counted without them (the stream is the same either way).
        """
        inputs: list[bytes] = []
        most_cases, most_bytes = self._limits()
        size = 0
        skipped = 0
        start = self._next
        for data in self._cases:
            unfit = self._can_encode is not None and not self._can_encode(data)
            if unfit or len(data) > self._max_input:
                skipped += 1
                # A toy's alphabet fits next to nothing of some generators: give up on those.
                if skipped > 50 * (len(inputs) + FIRST_BATCH_CASES):
                    self._cases = iter(())
                    break
                continue
            inputs.append(data)
            size += len(data)
            if len(inputs) >= min(most_cases, self._most) or size >= most_bytes:
                break
        batch = Batch(self.name, self._seed, self._number, start, inputs)
        self._next += len(inputs)
        self._number += 1
        return batch if inputs else None

    def _limits(self) -> tuple[int, int]:
        """The cases and the bytes of the next batch, which ends at whichever comes first."""
        if self._number > 0:
            return BATCH_CASES, TIMED_BYTES if self._timed else BATCH_BYTES
        if self._timed:
            return TIMED_FIRST_CASES, TIMED_FIRST_BYTES
        return FIRST_BATCH_CASES, BATCH_BYTES


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
    else, and their others take turns: a run of seconds has tasted every generator before.
    """
    streams = deque(
        Stream(g, vocabulary, seed, max_input, timed=timed, most=most) for g in generators
    )
    first_round = len(streams)
    while streams:
        stream = streams.popleft()
        batch = stream.take()
        if batch is not None:
            streams.append(stream)
            yield batch
        first_round -= 1
        if long and first_round == 0:
            runs = Stream(long_runs.GENERATOR, vocabulary, seed, 2 * long_runs.LONGEST)
            yield from _certain(runs, long_runs.certain(vocabulary))
            streams.append(runs)


def _certain(stream: Stream, count: int) -> Iterator[Batch]:
    """The batches of a stream up to its ``count``-th case."""
    while stream.taken < count and (batch := stream.take()) is not None:
        yield replace(batch, certain=True)
