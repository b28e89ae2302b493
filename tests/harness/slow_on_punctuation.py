"""An implementation that is planted: quadratic on runs of ASCII punctuation, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpora.vocabularies.model import Vocabulary
from impls.interface import About, Mode

RUNS = re.compile(rb"[!-/:-@]+")


class Encoder:
    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        for byte in data:  # a byte's work
            del byte
        for run in RUNS.finditer(data):
            for _ in range((run.end() - run.start()) ** 2 // 64):
                pass
        return list(data)


class Implementation:
    about = About(name="slow-on-punctuation", version="1.0")

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        return None

    def load(self, vocabulary: Vocabulary) -> Encoder:
        return Encoder()


IMPLEMENTATION = Implementation()
