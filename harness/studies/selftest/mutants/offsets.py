"""Mistakes of offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    Spans = Sequence[tuple[int, int]]


class Moved(PlainBpe):
    """Right ids with ranges that are moved."""

    def encode_with_offsets(self, data: bytes, mode: Mode) -> tuple[Sequence[int], Spans]:
        ids, spans = super().encode_with_offsets(data, mode)
        return ids, self.moved(data, list(spans))

    def moved(self, data: bytes, spans: Spans) -> Spans:
        """The wrong ranges."""
        return spans


@planted("offsets", on="toy_bytes", stages=("text",), shows=("\xe91".encode(),))
class InCharacters(Moved):
    """Offsets count characters, not bytes."""

    def moved(self, data: bytes, spans: Spans) -> Spans:
        def place(byte: int) -> int:
            return len(data[:byte].decode(errors="ignore"))

        return [(place(start), place(end)) for start, end in spans]


@planted("offsets", on="toy_bytes", stages=("text",), shows=(b"ab",))
class EndInclusive(Moved):
    """Ends are those of the last byte, not those after it."""

    def moved(self, data: bytes, spans: Spans) -> Spans:
        return [(start, end - 1) for start, end in spans]


@planted("offsets", on="toy_bytes", stages=("text",), shows=(b" the",))
class TrimsSpace(Moved):
    """The space at a token's beginning is left out of its range."""

    def moved(self, data: bytes, spans: Spans) -> Spans:
        return [(start + (data[start:end][:1] == b" "), end) for start, end in spans]


@planted("offsets", on="toy_bytes", stages=("range",), shows=(b"a",))
class BeyondTheEnd(Moved):
    """The last range ends a byte beyond the text."""

    def moved(self, data: bytes, spans: Spans) -> Spans:
        return [*spans[:-1], *((start, end + 1) for start, end in spans[-1:])]


@planted("offsets", on="toy_bytes", stages=("order", "text"), shows=(b"abcde",))
class Reversed(Moved):
    """In texts of several tokens the last two ranges are exchanged."""

    def moved(self, data: bytes, spans: Spans) -> Spans:
        return [*spans[:-2], *spans[-2:][::-1]]


@planted("offsets", on="toy_bytes", mode="text", stages=("ids",), shows=(b"  the",))
class OtherIds(PlainBpe):
    """With offsets, nothing is pre-tokenized, so that the ids are others."""

    def encode_with_offsets(self, data: bytes, mode: Mode) -> tuple[Sequence[int], Spans]:
        self.encode(data, mode)  # what is refused stays so
        return super().encode_with_offsets(data, Mode(pretokenize=False))


@planted("offsets", on="toy_bytes", stages=("errored",), shows=(b"a" * 300,))
class OneTooFew(Moved):
    """A text of more than 256 tokens has a range too few."""

    def moved(self, data: bytes, spans: Spans) -> Spans:
        return spans[:-1] if len(spans) > 256 else spans
