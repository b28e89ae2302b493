"""Mistakes of other ways to the same ids: in batches, saved and loaded, in parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Merges
from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe, PlainDropout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.studies.selftest.plain.base import Plain
    from impls.interface import Mode

SHORT = 3
"""Ids that ``TruncatesBatches`` has room for."""


@planted("batch", on="toy_bytes", stages=("batch",))
class TruncatesBatches(PlainBpe):
    """In a batch, texts of more than three ids lose the last one."""

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> list[list[int]]:
        """See ``EncodesMany``."""
        every = [self.encode(data, mode) for data in inputs]
        return [ids[:-1] if len(ids) > SHORT else ids for ids in every]


@planted("reload", on="toy_bytes", stages=("reload",))
class LosesLastLine(PlainBpe):
    """The file that it writes lacks its last line, and so a token."""

    def reloaded(self) -> Plain:
        """See ``Reloads``."""
        written = self.vocabulary
        merges = written.merges
        columns = (merges.left[:-1], merges.right[:-1], merges.merged[:-1])
        cut = Merges(*columns)
        return PlainBpe().load(replace(written, merges=cut))


@planted("specials", on="tekken_240911", mode="special", stages=("on",), shows=(b"a ",))
class TrimsWhenOn(PlainBpe):
    """Where special tokens are read, white space at the end is dropped from any text."""

    modes = ("special",)

    def parts(self, text: str, mode: Mode) -> Iterable[str | int]:
        return super().parts(text.rstrip(" ") if mode.special == "all" else text, mode)


@planted("streaming", on="toy_bytes", stages=("decode",), shows=(b" ",))
class StripsShort(PlainBpe):
    """The space at the beginning of one or two ids does not come back."""

    def decode(self, ids: Sequence[int]) -> bytes:
        text = super().decode(ids)
        return text.removeprefix(b" ") if len(ids) <= 2 else text


@planted("single-ids", on="toy_bytes", stages=("unknown-id",))
class CountsFromTheEnd(PlainBpe):
    """A negative id is that of a token counted from the end, as in a Python list."""

    def decode(self, ids: Sequence[int]) -> bytes:
        return super().decode([i if i >= 0 else i % len(self.vocabulary) for i in ids])


@planted("single-ids", on="toy_bytes", stages=("crashed",))
class PanicsPastTheEnd(PlainBpe):
    """An id past the last one is looked up without a look at the size of the table."""

    def decode(self, ids: Sequence[int]) -> bytes:
        if max(ids, default=0) >= len(self.vocabulary):
            raise SystemExit("index out of bounds")
        return super().decode(ids)


@planted("stream-decoder", on="toy_bytes", stages=("decode",))
class HoldsTheLastBack(PlainBpe):
    """Id by id, a last token of a single byte is never given out."""

    def decode_stream(self, ids: Sequence[int]) -> list[bytes]:
        """See ``DecodesStreams``."""
        given = [self.decode([token_id]) for token_id in ids]
        return given[:-1] if given and len(given[-1]) == 1 else given


@planted("truncation", on="toy_bytes", stages=("truncation",))
class LosesTheLastWindow(PlainBpe):
    """A last window that has nothing but what overlaps and one id more is dropped."""

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> list[list[int]]:
        """See ``Truncates``."""
        ids, step = self.encode(data, mode)[:: -1 if left else 1], length - overlap
        starts = range(0, max(1, len(ids) - overlap), step)
        found = [ids[start : start + length][:: -1 if left else 1] for start in starts]
        return found[:-1] if len(found) > 1 and len(found[-1]) == overlap + 1 else found


@planted("template", on="toy_bytes", stages=("template",))
class AddsTheEndOnce(PlainBpe):
    """The token of the end is not added to a text that ends with a space."""

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """See ``AddsSpecials``; the first and the last id stand for special tokens."""
        first, last = 0, len(self.vocabulary) - 1
        ids = [first, *self.encode(data, mode)]
        if pair is not None:
            ids += [last, *self.encode(pair, mode)]
        return ids if data.endswith(b" ") else [*ids, last]


@planted("surrogates", on="toy_bytes", stages=("surrogates",))
class EndsAtASurrogate(PlainBpe):
    """A text ends for it where a lone surrogate stands."""

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        """See ``EncodesStr``."""
        end = next((i for i, one in enumerate(text) if "\ud800" <= one <= "\udfff"), len(text))
        return self.encode(text[:end].encode(), mode)


@planted("surrogates", on="toy_bytes", stages=("crashed",))
class PanicsAtASurrogate(PlainBpe):
    """A text is taken for UTF-8 without a look."""

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        """See ``EncodesStr``."""
        try:
            return self.encode(text.encode(), mode)
        except UnicodeEncodeError as error:
            raise SystemExit("called `unwrap` on an `Err` value") from error


@planted("padding", on="toy_bytes", stages=("padding",))
class PadsOnTheRight(PlainBpe):
    """Padding comes last whichever side was asked for."""

    def padded(
        self, inputs: Sequence[bytes], multiple: int, left: bool, mode: Mode
    ) -> list[tuple[list[int], list[int]]]:
        """See ``Pads``."""
        rows = [self.encode(data, mode) for data in inputs]
        length = -(-max(map(len, rows)) // multiple) * multiple
        gaps = [[0] * (length - len(row)) for row in rows]
        return [(row + gap, [1] * len(row) + gap) for row, gap in zip(rows, gaps, strict=True)]


@planted("skip-specials", on="tekken_240911", mode="text", stages=("decode",))
class SkipsTheFirstAlone(PlainBpe):
    """Of special tokens only the one that a text begins with is left out."""

    modes = ("text",)

    def decode_without_specials(self, ids: Sequence[int]) -> bytes:
        """See ``SkipsSpecials``."""
        special = set(self.vocabulary.special_tokens.values())
        return self.decode(ids[1:] if ids and ids[0] in special else ids)


@planted("clean-up", on="toy_bytes", stages=("decode",))
class JoinsSpaces(PlainBpe):
    """Cleaning up makes one space of two, wherever they stand."""

    def decode_cleaned(self, ids: Sequence[int]) -> bytes:
        """See ``CleansSpaces``."""
        return self.decode(ids).replace(b"  ", b" ")


@planted("unstable", on="toy_bytes", stages=("stable",))
class CallsAllStable(PlainBpe):
    """All ids are called stable, though the last ones may merge with what follows."""

    def encode_with_unstable(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[Sequence[int]]]:
        """See ``EncodesUnstable``."""
        return self.encode(data, mode), []


@planted("unstable", on="toy_bytes", stages=("completion",))
class CompletesOneByteLess(PlainBpe):
    """Completions leave out the last byte of the text."""

    def encode_with_unstable(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[Sequence[int]]]:
        """See ``EncodesUnstable``."""
        return [], [self.encode(data[:-1], mode)]


@planted(
    "reachability", on="toy_file_dropout", mode="text", stages=("unreachable",), shows=(b"then",)
)
class LongestWithDropout(PlainDropout):
    """With dropout it takes the longest tokens from the left, be they made by merges or not."""

    def drawn(self, piece: bytes) -> list[int]:
        ids: list[int] = []
        while piece:
            token = next(piece[:end] for end in range(len(piece), 0, -1) if piece[:end] in self.ids)
            ids.append(self.ids[token])
            piece = piece[len(token) :]
        return ids


@planted(
    "reachability", on="toy_file_dropout", mode="text", stages=("pre-tokens",), shows=(b"e e",)
)
class WholeWithDropout(PlainDropout):
    """With dropout it merges beyond the ends of pre-tokens."""

    def encode_with_dropout(self, data: bytes, mode: Mode) -> list[int]:
        return self.merge(data)


@planted("reachability", on="toy_file_dropout", mode="text", stages=("text",), shows=(b"ab",))
class LosesWithDropout(PlainDropout):
    """With dropout the last symbol of a pre-token is lost where nothing merges with it."""

    def drawn(self, piece: bytes) -> list[int]:
        return super().drawn(piece)[: max(1, len(piece) - 1)]


@planted("chunks", on="toy_bytes", mode="text", stages=("chunks",), shows=(b" the",))
class FirstWordApart(PlainBpe):
    """The space before the first word of a text is a piece of its own."""

    modes = ("text",)

    def pieces(self, text: str) -> list[str]:
        found = super().pieces(text)
        if found and len(found[0]) > 1 and found[0][0] == " ":
            found[:1] = [" ", found[0][1:]]
        return found
