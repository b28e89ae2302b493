"""Mistakes of decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe

if TYPE_CHECKING:
    from collections.abc import Sequence

BUFFER = 512
"""Ids that ``StopsAtBuffer`` has room for."""


@planted("round-trip", on="toy_bytes", stages=("decode",), shows=(b"\xff",))
class ReplacesDecoded(PlainBpe):
    """What is not UTF-8 comes back as U+FFFD."""

    def decode(self, ids: Sequence[int]) -> bytes:
        return super().decode(ids).decode(errors="replace").encode()


@planted("round-trip", on="toy_bytes", stages=("decode",), shows=("\xfc".encode(),))
class DecodesTokens(PlainBpe):
    """Each token is decoded by itself: characters of several tokens are lost."""

    def decode(self, ids: Sequence[int]) -> bytes:
        texts = [self.vocabulary.spelling(i).decode(errors="ignore") for i in ids]
        return "".join(texts).encode()


@planted("round-trip", on="toy_bytes", stages=("decode",), shows=(b" a",))
class StripsSpace(PlainBpe):
    """A space at the beginning does not come back."""

    def decode(self, ids: Sequence[int]) -> bytes:
        return super().decode(ids).removeprefix(b" ")


@planted("round-trip", on="toy_bytes", stages=("decode",), shows=(b"a .",))
class CleansUp(PlainBpe):
    """Spaces before punctuation are cleaned away."""

    def decode(self, ids: Sequence[int]) -> bytes:
        return super().decode(ids).replace(b" .", b".").replace(b" ,", b",")


@planted("round-trip", on="toy_bytes", stages=("decode",), shows=(b"ab" * 300,))
class StopsAtBuffer(PlainBpe):
    """Ids beyond 512 do not come back."""

    def decode(self, ids: Sequence[int]) -> bytes:
        return super().decode(ids[:BUFFER])


@planted("round-trip", on="toy_bytes", stages=("decode",), shows=(b"\0",))
class DropsPadding(PlainBpe):
    """Ids of zero are dropped as if they were padding."""

    def decode(self, ids: Sequence[int]) -> bytes:
        return super().decode([token_id for token_id in ids if token_id])


@planted("round-trip", on="toy_bytes", stages=("errored",), shows=(b"123",))
class TableTooShort(PlainBpe):
    """The last id of the vocabulary is out of the decoder's table."""

    def decode(self, ids: Sequence[int]) -> bytes:
        table = self.vocabulary.tokens[:-1]
        return b"".join(table[token_id] or b"" for token_id in ids)


@planted("round-trip", on="tekken_240911", mode="special", stages=("decode",), shows=(b"<s>",))
class SkipsSpecials(PlainBpe):
    """Special tokens do not come back, even if nobody asked to skip them."""

    modes = ("special",)

    def decode(self, ids: Sequence[int]) -> bytes:
        special = set(self.specials.values())
        return super().decode([token_id for token_id in ids if token_id not in special])
