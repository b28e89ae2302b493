"""A correct plug-in, and planted ones: what the benchmark of false alarms gives to ``--impl``.

The benchmark copies this file into the folder of each run, as ``mine.py``, so that it is loaded as
a user's own file is; it imports nothing of tokgate but the interface. ``Mine`` is byte-pair
encoding by a heap in plain Python, without pre-tokenization, and right. The others are ``Mine``
with one mistake each, which shows on texts that contain :data:`TRIGGER`, or on every text.
"""

from __future__ import annotations

import heapq
import time
from typing import TYPE_CHECKING, ClassVar

from impls.interface import About, Capability, Mode, Rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

TRIGGER = "\u00e9".encode()
"""What the mistakes on some inputs wait for: generators make it within the first seconds."""

SLEEP_SECONDS = 30.0

SLOW_CALL_SECONDS = 1e-3
"""CPU seconds that the slow plug-in takes for a call: tiktoken takes 10 microseconds for one."""

SLOW_BYTE_SECONDS = 3e-6
"""CPU seconds that it takes for a byte more: tiktoken encodes some 30 MB a second."""

LEAKED_BYTES = 4 << 20
"""Memory that the leaking plug-in keeps after each call: the limit of 1 GiB is reached after some
two hundred inputs, at none that is special."""


class Encoder:
    """Byte-pair encoding of whole texts."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.tokens = vocabulary.tokens
        self.ids = vocabulary.ids
        self.whole = self.ids if vocabulary.ignore_merges else {}
        table = vocabulary.merges
        columns = (table.left.tolist(), table.right.tolist(), table.merged.tolist())
        self.merges: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, (left, right, merged) in enumerate(zip(*columns, strict=True)):
            self.merges.setdefault((left, right), (rank, merged))

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        if data in self.whole:
            return [self.whole[data]]
        try:
            ids = [self.ids[data[place : place + 1]] for place in range(len(data))]
        except KeyError as error:
            raise Rejected(f"no token for {error}") from error
        after, before = list(range(1, len(ids) + 1)), list(range(-1, len(ids) - 1))
        heap: list[tuple[int, int, tuple[int, int]]] = []

        def offer(place: int) -> None:
            pair = (ids[place], ids[after[place]])
            if pair in self.merges:
                heapq.heappush(heap, (self.merges[pair][0], place, pair))

        for place in range(len(ids) - 1):
            offer(place)
        while heap:
            _, place, pair = heapq.heappop(heap)
            gone = after[place]
            if gone == len(ids) or (ids[place], ids[gone]) != pair:
                continue  # One of the two has merged with its other neighbour since.
            ids[place], ids[gone], after[place] = self.merges[pair][1], -1, after[gone]
            if after[place] < len(ids):
                before[after[place]] = place
                offer(place)
            if before[place] >= 0:
                offer(before[place])
        return [token_id for token_id in ids if token_id >= 0]

    def decode(self, ids: Sequence[int]) -> bytes:
        if min(ids, default=0) < 0:  # which a list would take from its end
            raise Rejected("a negative number is no token's id")
        return b"".join(self.tokens[token_id] or b"" for token_id in ids)


class Mine:
    """The right encoder."""

    name: ClassVar[str] = "mine"
    encoder: ClassVar[type[Encoder]] = Encoder

    @property
    def about(self) -> About:
        return About(name=self.name, version="1.0", capabilities=frozenset({Capability.DECODE}))

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        if mode != Mode(pretokenize=False):
            return "neither pre-tokenization nor special tokens"
        if vocabulary.algorithm != "bpe" or vocabulary.pieces or vocabulary.added_tokens:
            return "byte-level byte-pair encoding only"
        return None

    def load(self, vocabulary: Vocabulary) -> Encoder:
        return self.encoder(vocabulary)


class BusyEncoder(Encoder):
    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        while TRIGGER in data:
            pass
        return super().encode(data, mode)


class HangsBusy(Mine):
    """Computes for ever on some inputs."""

    name = "hangs-busy"
    encoder = BusyEncoder


class AsleepEncoder(Encoder):
    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        while TRIGGER in data:
            time.sleep(60)
        return super().encode(data, mode)


class HangsAsleep(Mine):
    """Sleeps for ever on some inputs."""

    name = "hangs-asleep"
    encoder = AsleepEncoder


class LateEncoder(Encoder):
    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        if TRIGGER in data:
            time.sleep(SLEEP_SECONDS)
        return super().encode(data, mode)


class Sleeps30(Mine):
    """Answers rightly, on some inputs after half a minute of sleep."""

    name = "sleeps-30s"
    encoder = LateEncoder


class SlowEncoder(Encoder):
    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        # By the clock of this thread, so that busy processes beside it make it no slower still.
        end = time.thread_time() + SLOW_CALL_SECONDS + SLOW_BYTE_SECONDS * len(data)
        ids = super().encode(data, mode)
        while time.thread_time() < end:
            pass
        return ids


class Slow(Mine):
    """Right, and a hundred times slower than tiktoken on every input."""

    name = "slow-100x"
    encoder = SlowEncoder


class GrowingEncoder(Encoder):
    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        taken = []
        while TRIGGER in data:
            taken.append(b"x" * (1 << 20))
        return super().encode(data, mode)


class Grows(Mine):
    """Takes ever more memory on some inputs, and never answers them."""

    name = "grows"
    encoder = GrowingEncoder


class LeakingEncoder(Encoder):
    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self.leaked: list[bytes] = []

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        # Not zeros: pages of zeros that nobody has written to take no memory.
        self.leaked.append(b"x" * LEAKED_BYTES)
        return super().encode(data, mode)


class Leaks(Mine):
    """Keeps some memory after each call, so that it dies sooner or later, on any input."""

    name = "leaks"
    encoder = LeakingEncoder
