"""Mistakes of what is kept between calls, and between threads."""

from __future__ import annotations

import random
import time
import zlib
from typing import TYPE_CHECKING

import numpy as np

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from impls.interface import Mode

LONG = 40
"""Bytes of an input after which ``Leaks`` forgets to clean up."""

SLOTS = 64
"""The number of slots of the ring in which ``Evicted`` keeps ids."""

SEED = 1


@planted("equivalence", on="toy_bytes", shows=(b"th", b"ht"))
class Collides(PlainBpe):
    """Pieces are remembered by their length and the sum of their bytes."""

    def piece(self, piece: bytes) -> list[int]:
        key = b"%d:%d" % (len(piece), sum(piece))
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.segment(piece)
        return found


@planted("equivalence", on="tekken_240911", mode="special", shows=())
class ForgetsMode(PlainBpe):
    """Texts are remembered without the mode in which they were encoded."""

    modes = ("text", "special")

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        known = self.__dict__.setdefault("texts", {})
        if data not in known:
            known[data] = super().encode(data, mode)
        return list(known[data])


@planted("determinism", on="toy_bytes", shows=(b"a" * 41, b"b"))
class Leaks(PlainBpe):
    """After a long input the buffer is not cleared: the next one begins with what is left."""

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        ids = super().encode(data, mode)
        given = [*self.__dict__.get("left", ()), *ids]
        self.left = ids[-1:] if len(data) > LONG else []
        return given


@planted("determinism", on="toy_bytes", shows=())
class Flaky(PlainBpe):
    """One answer in a hundred lacks its last token."""

    def prepare(self) -> None:
        super().prepare()
        self.dice = random.Random(SEED)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        ids = super().encode(data, mode)
        return ids[:-1] if self.dice.random() < 0.01 else ids


@planted("equivalence", on="toy_bytes", shows=())
class Evicted(PlainBpe):
    """What is remembered stays so when its place in a ring of 64 was given to another piece."""

    def prepare(self) -> None:
        super().prepare()
        self.ring: list[list[int]] = [[] for _ in range(SLOTS)]
        self.place: dict[bytes, int] = {}

    def piece(self, piece: bytes) -> list[int]:
        if piece not in self.place:
            self.place[piece] = len(self.place) % SLOTS
            self.ring[self.place[piece]] = self.segment(piece)
        return self.ring[self.place[piece]]


@planted("determinism", on="toy_bytes", stages=("threads",), shows=())
class SharedBuffer(PlainBpe):
    """All threads write to one buffer, though calls from several are allowed."""

    capabilities = PlainBpe.capabilities | {Capability.THREADS}

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        self.buffer = super().encode(data, mode)
        time.sleep(0)  # another thread comes in between
        return self.buffer


@planted("determinism", on="toy_bytes", shows=())
class EveryThousandth(PlainBpe):
    """Every thousandth call gives the ids of the one before it: a counter that wraps."""

    calls = 0
    before: Sequence[int] = ()

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        ids = super().encode(data, mode)
        self.calls += 1
        given = list(self.before) if self.calls % 1000 == 0 else ids
        self.before = ids
        return given


class Batched(PlainBpe):
    """Takes many inputs in one call, one by one."""

    def one(self, data: bytes, number: int, mode: Mode) -> list[int]:
        """The ids of the input of this number in a batch."""
        return self.encode(data, mode)

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """See ``EncodesBatches``."""
        flat: list[int] = []
        id_ends = []
        start = 0
        for number, end in enumerate(ends.tolist()):
            flat += self.one(data[start:end], number, mode)
            id_ends.append(len(flat))
            start = end
        return np.array(flat, dtype=np.int32), np.array(id_ends, dtype=np.int64)


@planted("determinism", on="toy_bytes", shows=())
class BatchOnly(Batched):
    """In a batch, after its hundredth input, one text in fifty loses its last token."""

    def one(self, data: bytes, number: int, mode: Mode) -> list[int]:
        ids = self.encode(data, mode)
        return ids[:-1] if number > 100 and zlib.crc32(data) % 50 == 0 else ids
