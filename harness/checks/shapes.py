"""Truncation and padding: the windows and rows that a library makes of an encoding."""

import zlib
from collections.abc import Sequence
from itertools import compress, islice

from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import Severity, ids_of
from harness.core.messages import Padding, Windows, numbers_of
from harness.core.outcomes import Encoded, Outcome, Unsupported
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


class Truncation(AsksAgain):
    """For ids t = encode(x), a length l and an overlap o < l: the window kept is t[:l], or t[-l:]
    from the left; the next ones begin l - o further on, and the last one ends where t does.

    Of encoders that cut (``Truncates``): libraries give the windows for the whole of a long text to
    be seen, and what is lost or doubled between two of them shows nowhere else.
    """

    name = "truncation"
    summary = "truncation gives the right windows of the ids, on either side and with any overlap"
    severity = Severity.SERVICE
    said = "cut a long text into wrong windows"
    every = 10

    def look(self, one: Subject) -> Look:
        """In one of the shapes, and by definition."""
        bare = one.vocabulary.native is None
        some = [x for x in WINDOWS if bare or not x.overlap or x.length - x.overlap > MOST_ADDED]
        shape = some[zlib.crc32(one.data) % len(some)]
        (outcome,) = yield [one.encode(one.data, shape=shape)]
        right = Encoded(tuple(numbers_of(windows(one.ids, shape))))
        one.expect(self.name, Part((f"encode, {shape}",), right), outcome)


class PaddedRows(AsksAgain):
    """Of the texts x, xx and the empty one padded together: all rows are as long as the longest,
    rounded up to the multiple asked for; the mask is 0 on the padded side and 1 elsewhere; and the
    ids where it is 1 are those of encode.

    Of encoders that pad (``Pads``).
    """

    name = "padding"
    summary = "padded rows have the right length, and their masks mark the ids of encode"
    severity = Severity.SERVICE
    said = "padded a batch wrongly"
    every = 16

    def look(self, one: Subject) -> Look:
        """The rows, the text twice over by itself, and the empty one; and the rows by definition,
        whatever stands where the mask is 0.
        """
        shape = PADDING[zlib.crc32(one.data) % len(PADDING)]
        (outcome,) = yield [one.encode(one.data, shape=shape)]
        if isinstance(outcome, Unsupported):
            return
        others = yield [*map(one.encode, (one.data * 2, b""))]
        if all(isinstance(other, Encoded) for other in others):
            texts = [one.ids, *map(ids_of, others)]
            right = Encoded(tuple(masked(texts, shape)))
            one.expect(self.name, Part((f"encode, {shape}",), right), unpadded(outcome))


def windows(ids: Sequence[int], shape: Windows) -> list[list[int]]:
    """The windows by definition: the one that is kept, then the others going away from it."""
    way = -1 if shape.left else 1
    ids = ids[::way]  # once: a long text has as many windows as ids
    starts = range(0, max(1, len(ids) - shape.overlap), shape.length - shape.overlap)
    return [[*ids[start : start + shape.length][::way]] for start in starts]


def masked(rows: Sequence[Sequence[int]], shape: Padding) -> list[int]:
    """The rows by definition: the length, the mask, and the ids that are not padding."""
    length = -(-max(map(len, rows)) // shape.multiple) * shape.multiple
    found: list[int] = []
    for row in rows:
        mask = [1] * len(row) + [0] * (length - len(row))
        found += [length, *(mask[::-1] if shape.left else mask), *row]
    return found


def unpadded(outcome: Outcome) -> Outcome:
    """An answer of length, mask and ids, row by row, without the ids where the mask is 0."""
    if not isinstance(outcome, Encoded):
        return outcome
    left, found = iter(outcome.ids), list[int]()
    for length in left:
        mask, ids = [*islice(left, length)], islice(left, length)
        found += [length, *mask, *compress(ids, mask)]
    return Encoded(tuple(found))
