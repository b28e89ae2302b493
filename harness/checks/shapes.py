"""Truncation and padding: the windows and rows that a library makes of an encoding."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from harness.checks.again import Asked, AsksAgain
from harness.checks.base import (
    Fault,
    Observation,
    Probe,
    Severity,
    encoded_by,
    stage_of,
)
from harness.core.comparisons import Contract
from harness.core.messages import Encode, Padding, Windows
from harness.core.outcomes import Encoded, Inputs, Outcome, Results, Unsupported
from harness.core.partition import Part

WINDOWS = (
    Windows(8, 2, left=False),
    Windows(8, 2, left=True),
    Windows(3, 0, left=False),
    Windows(5, 4, left=True),
    Windows(1, 0, left=False),
)
"""Length, overlap and side: with and without overlap, and with the most and the least there is."""

MOST_ADDED = 5
"""The tokens for which a window of a user's own file leaves room besides its overlap. Libraries
keep that room for what the file's post-processor adds, even where nothing is added, and rightly
refuse an overlap that is larger than what is left."""

PADDING = (Padding(1, left=False), Padding(4, left=True), Padding(8, left=False))

Shape = TypeVar("Shape", Windows, Padding)


class Truncation(AsksAgain[tuple[int, Windows]]):
    """For ids t = encode(x), a length l and an overlap o < l: the window kept is t[:l], or t[-l:]
    from the left; the next ones begin l - o further on, and the last one ends where t does.

    Of encoders that cut (``Truncates``): libraries give the windows for the whole of a long text to
    be seen, and what is lost or doubled between two of them shows nowhere else.
    """

    name = "truncation"
    summary = "the windows of a truncated text are those of its ids, whatever side and overlap"
    severity = Severity.SERVICE
    said = "cut a long text into other windows than its ids have"
    every = 10

    def asked(self, seen: Observation) -> Iterator[Asked[tuple[int, Windows]]]:
        """Each input by one of the shapes, which its checksum decides."""
        for name, shape, rows in shaped(seen, windows_for(seen.contract)):
            inputs = Inputs.of([seen.inputs[i] for i in rows])
            request = Encode(inputs, seen.contract.mode, shape=shape)
            yield Asked(name, [(index, shape) for index in rows], [Probe(name, request)])

    def compared(
        self, seen: Observation, one: Asked[tuple[int, Windows]], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare with the windows by definition."""
        for row, (index, shape) in enumerate(one.rows):
            outcome = answers[0].outcome(row)
            if not isinstance(outcome, Unsupported):
                ids = seen.results[one.name].ids_of(index)
                right = Encoded(flat(windows(ids, shape)))
                yield index, fault(self.name, one.name, str(shape), right, outcome)


class PaddedRows(AsksAgain[tuple[int, Padding]]):
    """Of the texts x, xx and the empty one padded together: all rows are as long as the longest,
    rounded up to the multiple asked for; the mask is 0 on the padded side and 1 elsewhere; and the
    ids where it is 1 are those of encode.

    Of encoders that pad (``Pads``).
    """

    name = "padding"
    summary = "rows padded together are as long as asked for, and their masks give encode"
    severity = Severity.SERVICE
    said = "padded a batch wrongly"
    every = 16

    def asked(self, seen: Observation) -> Iterator[Asked[tuple[int, Padding]]]:
        """The rows, and the text twice over by itself."""
        mode = seen.contract.mode
        for name, shape, rows in shaped(seen, PADDING):
            inputs = [seen.inputs[i] for i in rows]
            requests = (
                Encode(Inputs.of(inputs), mode, shape=shape),
                Encode(Inputs.of([data + data for data in inputs]), mode),
                Encode(Inputs.of([b""]), mode),
            )
            probes = [Probe(name, request) for request in requests]
            yield Asked(name, [(index, shape) for index in rows], probes)

    def compared(
        self, seen: Observation, one: Asked[tuple[int, Padding]], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare with the rows by definition, whatever stands where the mask is 0."""
        padded, twice, empty = answers
        none = empty.outcome(0)
        for row, (index, shape) in enumerate(one.rows):
            outcome, double = padded.outcome(row), twice.outcome(row)
            if isinstance(outcome, Unsupported) or not (
                isinstance(double, Encoded) and isinstance(none, Encoded)
            ):
                continue
            once = seen.results[one.name].ids_of(index)
            made = [once, list(double.ids), list(none.ids)]
            right = Encoded(tuple(masked(made, shape)))
            yield index, fault(self.name, one.name, str(shape), right, without_padding(outcome))


def shaped(seen: Observation, shapes: Sequence[Shape]) -> Iterator[tuple[str, Shape, list[int]]]:
    """By implementation and shape the inputs that it encodes and that the shape falls to."""
    shape_of = [zlib.crc32(data) % len(shapes) for data in seen.inputs]
    for name, encoded in encoded_by(seen):
        for number, shape in enumerate(shapes):
            rows = [index for index in encoded if shape_of[index] == number]
            if rows:
                yield name, shape, rows


def windows_for(contract: Contract) -> tuple[Windows, ...]:
    """The windows that any library can cut of this vocabulary."""
    if contract.vocabulary.native is None:
        return WINDOWS
    return tuple(one for one in WINDOWS if not one.overlap or one.length - one.overlap > MOST_ADDED)


def windows(ids: Sequence[int], shape: Windows) -> list[list[int]]:
    """The windows by definition: the one that is kept, then the others going away from it."""
    count, step = len(ids), shape.length - shape.overlap
    found: list[list[int]] = []
    for start in range(0, max(1, count), step):
        end = min(start + shape.length, count)
        part = ids[count - end : count - start] if shape.left else ids[start:end]
        found.append(list(part))
        if end == count:
            break
    return found


def flat(rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Rows as one: each after its length, as a worker answers."""
    return tuple(number for row in rows for number in (len(row), *row))


def masked(rows: Sequence[Sequence[int]], shape: Padding) -> Iterator[int]:
    """The rows by definition: the length, the mask, and the ids that are not padding."""
    longest = max(map(len, rows))
    length = -(-longest // shape.multiple) * shape.multiple
    for row in rows:
        gap = length - len(row)
        mask = [0] * gap + [1] * len(row) if shape.left else [1] * len(row) + [0] * gap
        yield from (length, *mask, *row)


def without_padding(outcome: Outcome) -> Outcome:
    """An answer of length, mask and ids, row by row, without the ids where the mask is 0."""
    if not isinstance(outcome, Encoded):
        return outcome
    left, found = list(outcome.ids), list[int]()
    while left:
        length = left[0]
        mask, ids = left[1 : 1 + length], left[1 + length : 1 + 2 * length]
        found += [length, *mask, *(i for i, there in zip(ids, mask, strict=True) if there)]
        left = left[1 + 2 * length :]
    return Encoded(tuple(found))


def fault(check: str, name: str, words: str, right: Outcome, outcome: Outcome) -> Fault | None:
    """What is wrong, if anything is, with parts that have the rows, each after its length."""
    parts = (Part((f"encode, {words}",), right), Part((name,), outcome))
    return None if outcome == right else (stage_of(outcome, check), parts)
