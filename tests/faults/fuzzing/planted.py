"""Loaders that are wrong in one way each, on every tenth mutant: the fuzzer must count them."""

import os
from dataclasses import replace

from corpora.vocabularies.toys import TOYS
from tests.faults.fuzzing.formats import Format, hold_whole, refused


def _wrong_on_zero(fault):
    def use(path):
        if path.read_bytes() == b"0":
            fault(path)
        return True

    return use


def _traceback(path):
    raise KeyError(path.name)


def _unclear(path):
    refused(ValueError(f"{path}:\nover two lines"), path)


def _broken(path):
    hold_whole(replace(TOYS["toy_acbb"][1](), special_tokens={"<s>": -1}))


def _hang(path):
    while True:
        pass


def _memory(path):
    bytearray(2 << 30)


def _death(path):
    os.abort()


FAULTS = {
    "traceback": (_traceback, "KeyError at planted.py"),
    "unclear": (_unclear, "Unclear at formats.py"),
    "broken": (_broken, "AssertionError at formats.py"),
    "hang": (_hang, "more than 0.5 s"),
    "memory": (_memory, "MemoryError at planted.py"),
    "death": (_death, "died by 6"),
}
"""By name what goes wrong, and how the fuzzer begins to tell it."""

FORMATS = {
    name: Format(name, "x", lambda rng: b"%d" % rng.randrange(10), _wrong_on_zero(fault))
    for name, (fault, _) in FAULTS.items()
}
