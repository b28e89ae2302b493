"""Other ways to what byte-pair encoding gives: a class for each method that a check may ask for.

Each is right. Their control is who has none of them, so that a hunt has one process more, not ten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.plain.bpe import PlainBpe

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from impls.interface import Mode


class Way(PlainBpe):
    """One that has another way."""

    right = PlainBpe


class Batches(Way):
    """See ``EncodesBatches``."""

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All inputs, one by one."""
        import numpy as np  # noqa: PLC0415 - the only one of these that needs it

        starts = [0, *ends.tolist()]
        texts = [data[start:end] for start, end in zip(starts, ends.tolist(), strict=False)]
        every = [self.encode(text, mode) for text in texts]
        return np.concatenate(every).astype(np.int32), np.cumsum([len(ids) for ids in every])


class Many(Way):
    """See ``EncodesMany``."""

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> list[list[int]]:
        """The ids of each input."""
        return [self.encode(data, mode) for data in inputs]


class Reloaded(Way):
    """See ``Reloads``."""

    def reloaded(self) -> PlainBpe:
        """What is loaded from the vocabulary that this one has."""
        return PlainBpe().load(self.vocabulary)


class Streams(Way):
    """See ``DecodesStreams``."""

    def decode_stream(self, ids: Sequence[int]) -> list[bytes]:
        """What each id adds."""
        return [self.decode([token_id]) for token_id in ids]


class Truncating(Way):
    """See ``Truncates``."""

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> list[list[int]]:
        """The windows, from the end that is kept on."""
        turn = -1 if left else 1
        ids, step = self.encode(data, mode)[::turn], length - overlap
        starts = range(0, max(1, len(ids) - overlap), step)
        windows = [ids[start : start + length][::turn] for start in starts]
        return windows


class Framing(Way):
    """See ``AddsSpecials``; the first and the last id stand for special tokens."""

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """A token before the first text, and one after each."""
        first, last = [0], [len(self.vocabulary) - 1]
        ids = first + self.encode(data, mode)
        if pair is not None:
            ids += last + self.encode(pair, mode)
        return ids + last


class Strings(Way):
    """See ``EncodesStr``."""

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        """A lone surrogate is no character."""
        return self.encode(text.encode(errors="replace"), mode)


class Padding(Way):
    """See ``Pads``."""

    def padded(
        self, inputs: Sequence[bytes], multiple: int, left: bool, mode: Mode
    ) -> list[tuple[list[int], list[int]]]:
        """Rows of one length, with zeros on one side."""
        rows = [self.encode(data, mode) for data in inputs]
        length = -(-max(map(len, rows)) // multiple) * multiple
        gaps = [[0] * (length - len(row)) for row in rows]
        if left:
            return [(g + row, g + [1] * len(row)) for row, g in zip(rows, gaps, strict=True)]
        return [(row + g, [1] * len(row) + g) for row, g in zip(rows, gaps, strict=True)]


class Skipping(Way):
    """See ``SkipsSpecials``."""

    modes = ("text",)

    def decode_without_specials(self, ids: Sequence[int]) -> bytes:
        """The text of the other ids."""
        special = set(self.vocabulary.special_tokens.values())
        return self.decode([token_id for token_id in ids if token_id not in special])


class Cleaning(Way):
    """See ``CleansSpaces``; of the rules only the first."""

    def decode_cleaned(self, ids: Sequence[int]) -> bytes:
        """The text without spaces before punctuation."""
        return self.decode(ids).replace(b" .", b".")


class Unstable(Way):
    """See ``EncodesUnstable``."""

    def encode_with_unstable(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[Sequence[int]]]:
        """No id is sure; what there is may come."""
        return [], [self.encode(data, mode)]
