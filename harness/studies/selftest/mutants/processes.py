"""Misbehaving processes: what dies, waits, eats memory, breaks its word or the protocol."""

from __future__ import annotations

import sys
from dataclasses import replace

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe
from harness.studies.selftest.program import TRIGGER, wrong
from impls.interface import Capability

__all__ = ["deeper", "wrong"]  # for the changed texts

toy = Mutant("survival", "toy_bytes", PlainBpe, stages=("errored",))
crashes = replace(toy, stages=("crashed",), apart=True)
raw = replace(crashes, members={"modes": ("raw",)})
protocol = Mutant("survival", "toy_bytes", "", stages=("protocol",), apart=True)

SEGMENT = "found = self.segment(piece)"
BEHAVES = "found = wrong({!r}, piece, self.segment)"

PROGRAM = f"cmd:{sys.executable} -m harness.studies.selftest.program --kind"


class PanicException(BaseException):
    """As PyO3 raises it."""


def panic(piece: bytes) -> None:
    """Raise it on some inputs."""
    if TRIGGER in piece:
        raise PanicException("byte index 1 is not a char boundary")


def deeper(left: int) -> None:
    """Go one call deeper for each."""
    if left:
        deeper(left - 1)


MUTANTS = (
    raw(
        "exits", "Ends the process on some inputs, saying why on standard error.",
        (), SEGMENT, BEHAVES.format("exit"),
    ),
    raw("segfaults", "Reads where there is nothing.", (), SEGMENT, BEHAVES.format("segfault")),
    raw(
        "aborts", "Gives up as C++ does on an exception that nobody catches.",
        (), SEGMENT, BEHAVES.format("abort"),
    ),
    replace(raw, stages=("timed-out",))(
        "hangs", "Never answers.", (), SEGMENT, BEHAVES.format("hang"),
    ),
    replace(raw, stages=("out-of-memory",))(
        "hogs", "Asks for 64 GiB at once.", (), SEGMENT, BEHAVES.format("hog"),
    ),
    replace(toy, members={"modes": ("raw",)})(
        "floats", "Ids are floats.", TRIGGER, SEGMENT, BEHAVES.format("floats"),
    ),
    replace(crashes, apart=False)(
        "panics", "Panics as a library in Rust does: what is raised is no Exception.",
        TRIGGER, SEGMENT, f"panic(piece); {SEGMENT}",
    ),
    toy(
        "recurses", "Goes one call deeper for each symbol, and runs out of stack.",
        b"a" * 300, SEGMENT, f"deeper(4 * len(piece)); {SEGMENT}",
    ),
    replace(toy, check="round-trip")(
        "claims-to-decode", "Says that it decodes, and has no such method.",
        b"a", decode=property(lambda _: None),
    ),
    replace(toy, check="offsets")(
        "claims-offsets", "Says that it gives offsets, and raises.",
        b"a", "return ids, spans", "raise NotImplementedError('offsets')",
        capabilities=frozenset({Capability.OFFSETS}),
    ),
    *(
        replace(protocol, wrong=f"{PROGRAM} {kind}", called=f"mini-{kind}", summary=summary)
        for kind, summary in (
            ("seq", "Answers with the number of another request."),
            ("short", "Leaves out the last result of a batch."),
            ("garbage", "Prints a traceback where an answer should be."),
        )
    ),
)  # fmt: skip
