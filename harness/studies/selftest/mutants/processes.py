"""Misbehaving processes: what dies, waits, eats memory, breaks its word or the protocol."""

from __future__ import annotations

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe
from harness.studies.selftest.program import PROGRAM, TRIGGER, wrong
from impls.interface import Capability

__all__ = ["deeper", "wrong"]  # for the changed texts

toy = Mutant(
    "survival", "toy_bytes", PlainBpe, stage="errored", at="found = self.segment(piece)"
)  # fmt: skip
raw = toy("", "", modes=("raw",), stage="crashed", apart=True)
protocol = Mutant("survival", "toy_bytes", stage="protocol", apart=True)


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
        (), "found = wrong('exit', piece, self.segment)",
    ),
    raw(
        "segfaults", "Reads where there is nothing.",
        (), "found = wrong('segfault', piece, self.segment)",
    ),
    raw(
        "aborts", "Gives up as C++ does on an exception that nobody catches.",
        (), "found = wrong('abort', piece, self.segment)",
    ),
    raw(
        "hangs", "Never answers.",
        (), "found = wrong('hang', piece, self.segment)", stage="timed-out",
    ),
    raw(
        "hogs", "Asks for 64 GiB at once.",
        (), "found = wrong('hog', piece, self.segment)", stage="out-of-memory",
    ),
    toy(
        "floats", "Ids are floats.",
        TRIGGER, "found = wrong('floats', piece, self.segment)", modes=("raw",),
    ),
    toy(
        "panics", "Panics as a library in Rust does: what is raised is no Exception.",
        TRIGGER, "panic(piece); @", stage="crashed",
    ),
    toy(
        "recurses", "Goes one call deeper for each symbol, and runs out of stack.",
        b"a" * 300, "deeper(4 * len(piece)); @",
    ),
    toy(
        "claims-to-decode", "Says that it decodes, and has no such method.",
        b"a", decode=property(lambda _: None), check="round-trip",
    ),
    toy(
        "claims-offsets", "Says that it gives offsets, and raises.",
        b"a", "return ids, spans", "raise NotImplementedError('offsets')",
        capabilities=frozenset({Capability.OFFSETS}), check="offsets",
    ),
    *(
        protocol("", summary, wrong=f"{PROGRAM} {kind}", called=f"mini-{kind}")
        for kind, summary in (
            ("seq", "Answers with the number of another request."),
            ("short", "Leaves out the last result of a batch."),
            ("garbage", "Prints a traceback where an answer should be."),
        )
    ),
)  # fmt: skip
