"""Deliberately wrong implementations, in process: ``--impl tests/mutants/in_process.py:Flaky``.

Each is the encoder of the stdio example with one mutant, without pre-tokenization. (That encoder
and not a compiled one, so that a process which died is there again in half a second.)
"""

from __future__ import annotations

import json
import random
import tempfile
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from corpora.vocabularies.bundle import write_bundle
from harness.studies.selftest.catalog import edited
from harness.studies.selftest.program import DEATHS, wrong
from impls.bpe.heap import IMPLEMENTATION as HEAP
from impls.examples.stdio_encoder import Encoder
from impls.interface import About, Capability, Mode, Rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary


class MutantEncoder:
    """Encodes with a mutant."""

    def __init__(self, mutant: Correct, right: Encoder) -> None:
        self.mutant = mutant
        self.right = right

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        try:
            return self.mutant.wrong(data, self.right)
        except KeyError as error:
            raise Rejected(f"no token for {error}") from error


class AbleEncoder(MutantEncoder):
    """Decodes, and gives offsets, as it should."""

    def decode(self, ids: Sequence[int]) -> bytes:
        return b"".join(self.right.spell[token_id] for token_id in ids)

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        ids = self.encode(data, mode)
        ends = accumulate((len(self.right.spell[token_id]) for token_id in ids), initial=0)
        return ids, list(pairwise(ends))


class Correct:
    """The right encoder under another name."""

    kind: ClassVar[str] = "correct"
    claimed: ClassVar[frozenset[Capability]] = frozenset({Capability.DECODE, Capability.OFFSETS})
    encoder: ClassVar[type[MutantEncoder]] = AbleEncoder
    example: ClassVar[type[Encoder]] = Encoder

    @property
    def about(self) -> About:
        return About(name=f"mini-{self.kind}", version="1.0", capabilities=self.claimed)

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        if mode != Mode(pretokenize=False):
            return "neither pre-tokenization nor special tokens"
        return HEAP.supports(vocabulary, mode)

    def load(self, vocabulary: Vocabulary) -> MutantEncoder:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bundle.json"
            write_bundle(vocabulary, path)
            right = self.example(json.loads(path.read_text()))
        return self.encoder(type(self)(), right)

    def wrong(self, data: bytes, right: Encoder) -> list[int]:
        """The ids, of the encoder that gives the right ones."""
        return wrong(self.kind, data, right.encode)


class Plain(Correct):
    """Base of those that only encode."""

    claimed = frozenset()
    encoder = MutantEncoder


class AlwaysWrong(Plain):
    kind = "always-wrong"

    def wrong(self, data: bytes, right: Encoder) -> list[int]:
        return [*right.encode(data), 0]


class OneToken(Plain):
    """One id of the vocabulary, in its middle, comes out as the one before it."""

    kind = "one-token"

    def wrong(self, data: bytes, right: Encoder) -> list[int]:
        middle = (max(right.spell) + 1) // 2
        return [middle - 1 if token_id == middle else token_id for token_id in right.encode(data)]


class Ties(Plain):
    """Among equal ranks the rightmost pair is merged first, not the leftmost."""

    kind = "ties"
    example = type(
        "Tied", (Encoder,), edited(
            Encoder, (
                "(self.merges[pair][0], place, pair)", "(self.merges[pair][0], -place, pair)",
                "_, place, pair = heapq.heappop(heap)",
                "_, place, pair = heapq.heappop(heap); place = -place",
            ),
        ),
    )  # fmt: skip


class Above500(Plain):
    """Works on a buffer of 500 bytes: what is beyond it is encoded by itself."""

    kind = "above-500"

    def wrong(self, data: bytes, right: Encoder) -> list[int]:
        return right.encode(data[:500]) + right.encode(data[500:])


class Flaky(Plain):
    """One answer in a hundred lacks its last token."""

    kind = "flaky"

    def __init__(self) -> None:
        self.dice = random.Random(1)

    def wrong(self, data: bytes, right: Encoder) -> list[int]:
        ids = right.encode(data)
        return ids[:-1] if self.dice.random() < 0.01 else ids


class Claims(Correct):
    kind = "claims"
    encoder = MutantEncoder


def __getattr__(name: str) -> type[Plain]:
    """The classes of kinds that :func:`harness.studies.selftest.program.wrong` knows."""
    if name.lower() not in {"leak", "floats", *DEATHS}:
        raise AttributeError(name)
    return type(name, (Plain,), {"kind": name.lower()})
