"""Truncation and padding: the windows and rows that a library makes of an encoding."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.core.comparisons import Contract
from harness.core.messages import Encode, Padding, Windows
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status, Unsupported
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

Asked = tuple[str, "Windows | Padding", list[int]]


class Truncation(Check):
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

    def probes(self, seen: Observation) -> list[Probe]:
        """Each input by one of the shapes, which its checksum decides."""
        return [
            Probe(name, Encode(Inputs.of([seen.inputs[i] for i in rows]), seen.contract.mode,
                               shape=shape))
            for name, shape, rows in asked(seen, windows_for(seen.contract))
        ]  # fmt: skip

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare with the windows by definition."""
        judgement = Judgement()
        questions = asked(seen, windows_for(seen.contract))
        for (name, shape, rows), answer in zip(questions, answers, strict=True):
            assert isinstance(shape, Windows)
            for row, index in enumerate(rows):
                outcome = answer.outcome(row)
                if isinstance(outcome, Unsupported):
                    continue
                judgement.exercised[name] += 1
                ids = seen.results[name].ids_of(index)
                right = Encoded(flat(windows(ids, shape)))
                if outcome != right:
                    judgement.violations.append(
                        violation(self.name, seen, index, name, str(shape), right, outcome)
                    )
        return judgement


class PaddedRows(Check):
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

    def probes(self, seen: Observation) -> list[Probe]:
        """The rows, and the text twice over by itself."""
        mode = seen.contract.mode
        found = []
        for name, shape, rows in asked(seen, PADDING):
            inputs = [seen.inputs[i] for i in rows]
            found.append(Probe(name, Encode(Inputs.of(inputs), mode, shape=shape)))
            found.append(Probe(name, Encode(Inputs.of([data + data for data in inputs]), mode)))
            found.append(Probe(name, Encode(Inputs.of([b""]), mode)))
        return found

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare with the rows by definition, whatever stands where the mask is 0."""
        judgement = Judgement()
        triples = zip(answers[::3], answers[1::3], answers[2::3], strict=True)
        for (name, shape, rows), (padded, twice, empty) in zip(
            asked(seen, PADDING), triples, strict=True
        ):
            assert isinstance(shape, Padding)
            for row, index in enumerate(rows):
                outcome, double, none = padded.outcome(row), twice.outcome(row), empty.outcome(0)
                if isinstance(outcome, Unsupported) or not (
                    isinstance(double, Encoded) and isinstance(none, Encoded)
                ):
                    continue
                judgement.exercised[name] += 1
                once = seen.results[name].ids_of(index)
                made = [once, list(double.ids), list(none.ids)]
                right = Encoded(tuple(masked(made, shape)))
                got = without_padding(outcome)
                if got != right:
                    judgement.violations.append(
                        violation(self.name, seen, index, name, str(shape), right, got)
                    )
        return judgement


def asked(seen: Observation, shapes: Sequence[Windows | Padding]) -> list[Asked]:
    """By implementation and shape the inputs that it encodes and that the shape falls to."""
    found: list[Asked] = []
    shape_of = [zlib.crc32(data) % len(shapes) for data in seen.inputs]
    for name, results in seen.results.items():
        encoded = encoded_indices(results)
        for number, shape in enumerate(shapes):
            rows = [index for index in encoded if shape_of[index] == number]
            if rows:
                found.append((name, shape, rows))
    return found


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


def violation(
    check: str,
    seen: Observation,
    index: int,
    name: str,
    words: str,
    right: Outcome,
    outcome: Outcome,
) -> Violation:
    """A violation whose parts have the rows, each after its length."""
    parts = (Part((f"encode, {words}",), right), Part((name,), outcome))
    stage = Status(outcome.status).label if isinstance(outcome, Failed) else check
    return Violation(check, index, seen.inputs[index], parts, (name,), stage)
