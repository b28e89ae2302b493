"""Mistakes of the services: counts, chunks, texts that grow, intervals."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainServices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.interface import Mode

    Range = tuple[int, int]

ON = "toy_bytes"


@planted("incremental", on=ON, stages=("append",), shows=(b"a",))
class AppendsLate(PlainServices):
    """The last byte is not counted yet."""

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        return [self.count(text[:-1], mode) for text in accumulate(chunks)]


@planted("incremental", on=ON, stages=("append",), shows=(b"the",))
class AppendsChunks(PlainServices):
    """Chunks are encoded by themselves: wrong where a token spans two."""

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        return list(accumulate(self.count(chunk, mode) for chunk in chunks))


@planted("incremental", on=ON, stages=("prepend",), shows=(b"the",))
class PrependsBehind(PlainServices):
    """Puts the chunks behind those already there."""

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        return self.append(chunks, mode)


@planted("incremental", on=ON, stages=("append-errored",), shows=(b"a",))
class AppendRaises(PlainServices):
    """A text that grows runs out of rows."""

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        raise IndexError("row 7 of 7")


@planted("incremental", on=ON, stages=("append-errored",), shows=(b"a",))
class AppendGivesFewer(PlainServices):
    """The count after the first chunk is left out."""

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        return super().append(chunks, mode)[1:]


@planted("interval", on=ON, stages=("interval",), shows=(b"abc",))
class EndInclusive(PlainServices):
    """The end of an interval is taken for its last byte."""

    def interval(self, text: bytes, ranges: Sequence[Range], mode: Mode) -> Sequence[int]:
        return super().interval(text, [(start, end + 1) for start, end in ranges], mode)


@planted("interval", on=ON, stages=("interval",), shows=(b"the the the",))
class Differences(PlainServices):
    """Subtracts the counts of two prefixes, as if the tokens between them stayed the same."""

    def interval(self, text: bytes, ranges: Sequence[Range], mode: Mode) -> Sequence[int]:
        return [
            max(0, self.count(text[:end], mode) - self.count(text[:start], mode))
            for start, end in ranges
        ]


@planted("count-till-limit", on=ON, stages=("count",), shows=(b"a",))
class CountsOneMore(PlainServices):
    """``count`` alone gives one too many: it counts an end-of-text token."""

    def count(self, data: bytes, mode: Mode) -> int:
        return super().count(data, mode) + 1

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        count = super().count(data, mode)
        return count if count <= limit else None

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        return [count - 1 for count in super().append(chunks, mode)]

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        return [count - 1 for count in super().prepend(chunks, mode)]

    def interval(self, text: bytes, ranges: Sequence[Range], mode: Mode) -> Sequence[int]:
        return [count - 1 for count in super().interval(text, ranges, mode)]

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        return super().split(data, limit + 1, mode)


@planted("count-till-limit", on=ON, stages=("count_till_limit",), shows=(b"abc",))
class StopsAtTheLimit(PlainServices):
    """Null already where the count is the limit."""

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        count = self.count(data, mode)
        return count if count < limit else None


@planted("count-till-limit", on=ON, stages=("count_till_limit",), shows=(b"abc",))
class StopsLate(PlainServices):
    """Null only where the count is past the limit by two."""

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        count = self.count(data, mode)
        return count if count <= limit + 1 else None


@planted("split", on=ON, stages=("limit",), shows=(b"abcdef",))
class SplitsOneMore(PlainServices):
    """A token too many in a chunk."""

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        return super().split(data, limit + 1, mode)


@planted("split", on=ON, stages=("character",), shows=(b"\xc3\xa9",))
class SplitsCharacters(PlainServices):
    """Cuts inside characters."""

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        return list(range(1, len(data) + 1))


@planted("split", on=ON, stages=("cover",), shows=(b"abcdef",))
class SplitsEmpty(PlainServices):
    """The first chunk is followed by an empty one."""

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        ends = super().split(data, limit, mode)
        return [*ends[:1], *ends]


@planted("split", on=ON, stages=("cover",), shows=(b"abcdef",))
class SplitsShort(PlainServices):
    """Forgets the last chunk."""

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        return super().split(data, limit, mode)[:-1]


@planted("split", on=ON, stages=("split-errored",), shows=(b"a",))
class NoMethod(PlainServices):
    """Claims what it does not do."""

    @property
    def split(self) -> None:  # type: ignore[override]
        return None
