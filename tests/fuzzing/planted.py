"""Loaders that are wrong in one way each, on every tenth mutant: the fuzzer must count them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.fuzzing.formats import Format, hold_whole, refused

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path


def _digit(rng: random.Random) -> bytes:
    return b"%d" % rng.randrange(10)


def _wrong_on_zero(fault: Callable[[Path], object]) -> Callable[[Path], bool]:
    def use(path: Path) -> bool:
        # The mutants that warm a child up come before it has limits, and must do no harm.
        if path.read_bytes() == b"0" and not os.environ.get("TOKGATE_WARMING"):
            fault(path)
        return True

    return use


def _traceback(path: Path) -> None:
    raise KeyError(path.name)


def _unclear(path: Path) -> None:
    refused(ValueError(f"{path}:\nover two lines"), path)


def _broken(path: Path) -> None:
    from dataclasses import replace

    from corpora.vocabularies.toys import TOYS

    hold_whole(replace(TOYS["toy_acbb"][1](), special_tokens={"<s>": -1}))


def _hang(path: Path) -> None:
    while True:
        pass


def _memory(path: Path) -> None:
    bytearray(2 << 30)


def _death(path: Path) -> None:
    os.abort()


FORMATS = {
    name: Format(name, "x", _digit, _wrong_on_zero(fault))
    for name, fault in (
        ("traceback", _traceback),
        ("unclear", _unclear),
        ("broken", _broken),
        ("hang", _hang),
        ("memory", _memory),
        ("death", _death),
    )
}
