"""An implementation that is planted: quadratic on runs of ASCII punctuation, and nowhere else."""

import re

from impls.interface import About

RUNS = re.compile(rb"[!-/:-@]+")


class Encoder:
    def encode(self, data, mode):
        for byte in data:  # a byte's work
            del byte
        for run in RUNS.finditer(data):
            for _ in range((run.end() - run.start()) ** 2 // 64):
                pass
        return list(data)


class Implementation:
    about = About(name="slow-on-punctuation", version="1.0")

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        return Encoder()


IMPLEMENTATION = Implementation()
