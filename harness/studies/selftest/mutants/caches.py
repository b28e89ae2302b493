"""Mistakes of what is kept between calls, and between threads."""

from __future__ import annotations

import random
import time
import zlib

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe
from harness.studies.selftest.plain.ways import Batches
from impls.interface import Capability

__all__ = ["random", "time", "zlib"]  # for the changed texts

ENCODED = "return self.coded(data, mode)"
LOOKED_UP = "found = self.known.get(piece)"
REMEMBERED = "self.known[piece] = found"
KNOWN = "self.known: dict[bytes, list[int]] = {}"

toy = Mutant("equivalence", "toy_bytes", PlainBpe, at=ENCODED)
unsteady = Mutant("determinism", "toy_bytes", PlainBpe, at=ENCODED)

MUTANTS = (
    toy(
        "collides", "Pieces are remembered by their length and the sum of their bytes.",
        (b"th", b"ht"), LOOKED_UP, "key = len(piece), sum(piece); found = self.known.get(key)",
        REMEMBERED, "self.known[key] = found",
    ),
    toy(
        "forgets-mode", "Texts are remembered without the mode in which they were encoded.",
        (), "texts = self.__dict__.setdefault('texts', {});"
        " return list(texts.setdefault(data, self.coded(data, mode)))",
        vocabulary="tekken_240911", mode="special",
    ),
    unsteady(
        "leaks",
        "After a long input the buffer is not cleared: the next one begins with what is left.",
        (b"a" * 41, b"b"), "ids = self.coded(data, mode); left = self.__dict__.get('left', []);"
        " self.left = ids[-1:] if len(data) > 40 else []; return left + ids",
    ),
    unsteady(
        "flaky", "One answer in a hundred lacks its last token.",
        (), KNOWN, "self.known = {}; self.dice = random.Random(1)",
        ENCODED,
        "ids = self.coded(data, mode); return ids[: len(ids) - (self.dice.random() < 0.01)]",
    ),
    toy(
        "evicted",
        "What is remembered stays so when its place in a ring of 64 was given to another piece.",
        (), KNOWN, "self.known = {}; self.ring = {}",
        LOOKED_UP, "found = self.ring.get(self.known.get(piece))",
        REMEMBERED, "slot = self.known[piece] = len(self.known) % 64; self.ring[slot] = found",
    ),
    unsteady(
        "shared-buffer",
        "All threads write to one buffer, though calls from several are allowed.",
        # Another thread comes in between.
        (), "self.buffer = self.coded(data, mode); time.sleep(0); return self.buffer",
        capabilities=PlainBpe.capabilities | {Capability.THREADS}, stage="threads",
    ),
    unsteady(
        "every-thousandth",
        "Every thousandth call gives the ids of the one before it: a counter that wraps.",
        (), KNOWN, "self.known = {}; self.calls = 0; self.before = []",
        ENCODED,
        "self.calls += 1; before, self.before = self.before, self.coded(data, mode);"
        " return before if self.calls % 1000 == 0 else self.before",
    ),
    unsteady(
        "batch-only",
        "In a batch, after its hundredth input, one text in fifty loses its last token.",
        (), "every = [self.encode(text, mode) for text in texts]",
        "@; every = [ids[:-1] if at > 100 and zlib.crc32(text) % 50 == 0 else ids"
        " for at, (ids, text) in enumerate(zip(every, texts))]",
        base=Batches,
    ),
)  # fmt: skip
