"""Deliberately wrong implementations, in process: ``--impl tests/miniatures/wrong.py:Flaky``.

Each is ``bpe.heap`` with one vice, without pre-tokenization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import vices

from impls.bpe.heap import IMPLEMENTATION as HEAP
from impls.interface import About, Capability, Encoder, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary


class MiniatureEncoder:
    """Encodes with a vice."""

    def __init__(self, vice: vices.Correct, right: Encoder) -> None:
        self.vice = vice
        self.right: Any = right

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        return self.vice.encode(data, lambda text: self.right.encode(text, mode))


class AbleEncoder(MiniatureEncoder):
    """Decodes, and gives offsets, as it should."""

    def decode(self, ids: Sequence[int]) -> bytes:
        text: bytes = self.right.decode(ids)
        return text

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        ids = self.encode(data, mode)
        _, offsets = self.right.encode_with_offsets(data, mode)
        return ids, offsets


class Correct:
    """``bpe.heap`` under another name."""

    kind: ClassVar[str] = "correct"
    claimed: ClassVar[frozenset[Capability]] = frozenset({Capability.DECODE, Capability.OFFSETS})
    encoder: ClassVar[type[MiniatureEncoder]] = AbleEncoder

    @property
    def about(self) -> About:
        return About(name=f"mini-{self.kind}", version="1.0", capabilities=self.claimed)

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        if mode != Mode(pretokenize=False):
            return "neither pre-tokenization nor special tokens"
        return HEAP.supports(vocabulary, mode)

    def load(self, vocabulary: Vocabulary) -> MiniatureEncoder:
        columns = (vocabulary.merges.left, vocabulary.merges.right, vocabulary.merges.merged)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        merges: vices.Merges = {}
        for rank, (left, right, merged) in enumerate(rows):
            merges.setdefault((left, right), (rank, merged))
        vice = vices.VICES[self.kind](list(vocabulary.tokens), merges)
        return self.encoder(vice, HEAP.load(vocabulary))


class Plain(Correct):
    """Base of those that only encode."""

    claimed = frozenset()
    encoder = MiniatureEncoder


class AlwaysWrong(Plain):
    kind = "always-wrong"


class OneToken(Plain):
    kind = "one-token"


class Ties(Plain):
    kind = "ties"


class Above500(Plain):
    kind = "above-500"


class Leak(Plain):
    kind = "leak"


class Flaky(Plain):
    kind = "flaky"


class Floats(Plain):
    kind = "floats"


class Claims(Correct):
    kind = "claims"
    encoder = MiniatureEncoder


class Exit(Plain):
    kind = "exit"


class Segfault(Plain):
    kind = "segfault"


class Abort(Plain):
    kind = "abort"


class Hang(Plain):
    kind = "hang"


class Hog(Plain):
    kind = "hog"


class Grow(Plain):
    kind = "grow"
