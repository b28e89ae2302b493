"""Mistakes of other ways to the same ids: in batches, saved and loaded, in parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Merges
from harness.studies.selftest.mistakes import planted
from harness.studies.selftest.plain.bpe import PlainBpe

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


@planted("chunks", on="toy_bytes", mode="text", stages=("chunks",), shows=(b" the",))
class FirstWordApart(PlainBpe):
    """The space before the first word of a text is a piece of its own."""

    modes = ("text",)

    def pieces(self, text: str) -> list[str]:
        found = super().pieces(text)
        if found and len(found[0]) > 1 and found[0][0] == " ":
            found[:1] = [" ", found[0][1:]]
        return found
