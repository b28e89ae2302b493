"""Services by definition, right and wrong: ``--impl tests/harness/planted_services.py:Right``.

Each class makes one mistake, and the test names the check and the stage that must show it.
"""

from __future__ import annotations

from itertools import accumulate

from impls import registry
from impls.interface import About, Capability, Mode

SERVICES = frozenset(
    {
        Capability.COUNT,
        Capability.COUNT_TILL_LIMIT,
        Capability.SPLIT,
        Capability.APPEND,
        Capability.PREPEND,
        Capability.INTERVAL,
    }
)


class Right:
    """Every service by ``encode``, as slow as that may be."""

    def __init__(self):
        self.right = registry.resolve("bpe.heap")

    @property
    def about(self):
        return About(name=type(self).__name__, version="1", capabilities=SERVICES)

    def supports(self, vocabulary, mode):
        return self.right.supports(vocabulary, mode)

    def load(self, vocabulary):
        self.encoder = self.right.load(vocabulary)
        return self

    def encode(self, data: bytes, mode: Mode):
        return self.encoder.encode(data, mode)

    def count(self, data, mode):
        return len(self.encode(data, mode))

    def count_till_limit(self, data, limit, mode):
        count = self.count(data, mode)
        return count if count <= limit else None

    def split(self, data, limit, mode):
        ends = []
        start = 0
        while start < len(data):
            cuts = [cut for cut in range(start + 1, len(data) + 1) if is_boundary(data, cut)]
            fit = [cut for cut in cuts if self.count(data[start:cut], mode) <= limit]
            start = max(fit, default=cuts[0])
            ends.append(start)
        return ends

    def append(self, chunks, mode):
        return [self.count(text, mode) for text in accumulate(chunks)]

    def prepend(self, chunks, mode):
        return [self.count(text, mode) for text in accumulate(chunks, lambda a, b: b + a)]

    def interval(self, text, ranges, mode):
        return [self.count(text[start:end], mode) for start, end in ranges]


def is_boundary(data, cut):
    return cut == len(data) or data[cut] & 0xC0 != 0x80


class AppendsLate(Right):
    """The last byte is not counted yet."""

    def append(self, chunks, mode):
        return [self.count(text[:-1], mode) for text in accumulate(chunks)]


class AppendsChunks(Right):
    """Chunks are encoded by themselves: wrong where a token spans two."""

    def append(self, chunks, mode):
        return list(accumulate(self.count(chunk, mode) for chunk in chunks))


class PrependsBehind(Right):
    """Puts the chunks behind those already there."""

    def prepend(self, chunks, mode):
        return self.append(chunks, mode)


class AppendRaises(Right):
    def append(self, chunks, mode):
        raise IndexError("row 7 of 7")


class AppendGivesFewer(Right):
    def append(self, chunks, mode):
        return super().append(chunks, mode)[1:]


class EndInclusive(Right):
    def interval(self, text, ranges, mode):
        return super().interval(text, [(start, end + 1) for start, end in ranges], mode)


class Differences(Right):
    """Subtracts the counts of two prefixes, as if the tokens between them stayed the same."""

    def interval(self, text, ranges, mode):
        return [
            max(0, self.count(text[:end], mode) - self.count(text[:start], mode))
            for start, end in ranges
        ]


class CountsOneMore(Right):
    def count(self, data, mode):
        return super().count(data, mode) + 1

    def count_till_limit(self, data, limit, mode):
        count = super().count(data, mode)
        return count if count <= limit else None

    def append(self, chunks, mode):
        return [count - 1 for count in super().append(chunks, mode)]

    def prepend(self, chunks, mode):
        return [count - 1 for count in super().prepend(chunks, mode)]

    def interval(self, text, ranges, mode):
        return [count - 1 for count in super().interval(text, ranges, mode)]

    def split(self, data, limit, mode):
        return super().split(data, limit + 1, mode)


class StopsAtTheLimit(Right):
    """Null already where the count is the limit."""

    def count_till_limit(self, data, limit, mode):
        count = self.count(data, mode)
        return count if count < limit else None


class StopsLate(Right):
    def count_till_limit(self, data, limit, mode):
        count = self.count(data, mode)
        return count if count <= limit + 1 else None


class SplitsOneMore(Right):
    """A token too many in a chunk."""

    def split(self, data, limit, mode):
        return super().split(data, limit + 1, mode)


class SplitsCharacters(Right):
    def split(self, data, limit, mode):
        return list(range(1, len(data) + 1))


class SplitsEmpty(Right):
    def split(self, data, limit, mode):
        ends = super().split(data, limit, mode)
        return [*ends[:1], *ends]


class SplitsShort(Right):
    """Forgets the last chunk."""

    def split(self, data, limit, mode):
        return super().split(data, limit, mode)[:-1]


class NoMethod(Right):
    """Claims what it does not do."""

    split = None


MISTAKES = {
    AppendsLate: {("incremental", "append")},
    AppendsChunks: {("incremental", "append")},
    PrependsBehind: {("incremental", "prepend")},
    AppendRaises: {("incremental", "append-errored")},
    AppendGivesFewer: {("incremental", "append-errored")},
    EndInclusive: {("interval", "interval")},
    Differences: {("interval", "interval")},
    CountsOneMore: {("count-till-limit", "count")},
    StopsAtTheLimit: {("count-till-limit", "count_till_limit")},
    StopsLate: {("count-till-limit", "count_till_limit")},
    SplitsOneMore: {("split", "limit")},
    SplitsCharacters: {("split", "character")},
    SplitsEmpty: {("split", "cover")},
    SplitsShort: {("split", "cover")},
    NoMethod: {("split", "split-errored")},
}
