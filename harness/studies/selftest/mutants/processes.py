"""Misbehaving processes: what dies, waits, eats memory, breaks its word or the protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

from harness.studies.selftest import program_mutants
from harness.studies.selftest.mutant import REGISTERED, Mutant, planted
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.interface import Mode

ON = "toy_bytes"
SHOWN = program_mutants.TRIGGER


class WithMutant(PlainBpe):
    """Right until the mutant comes out."""

    modes = ("raw",)
    mutant: ClassVar[type[program_mutants.Correct]] = program_mutants.Correct

    def prepare(self) -> None:
        super().prepare()
        self.wrong = self.mutant([], {})

    def segment(self, piece: bytes) -> list[int]:
        return self.wrong.encode(piece, super().segment)


@planted("survival", on=ON, stages=("crashed",), apart=True)
class Exits(WithMutant):
    """Ends the process on some inputs, saying why on standard error."""

    mutant = program_mutants.Exit


@planted("survival", on=ON, stages=("crashed",), apart=True)
class Segfaults(WithMutant):
    """Reads where there is nothing."""

    mutant = program_mutants.Segfault


@planted("survival", on=ON, stages=("crashed",), apart=True)
class Aborts(WithMutant):
    """Gives up as C++ does on an exception that nobody catches."""

    mutant = program_mutants.Abort


@planted("survival", on=ON, stages=("timed-out",), apart=True)
class Hangs(WithMutant):
    """Never answers."""

    mutant = program_mutants.Hang


@planted("survival", on=ON, stages=("out-of-memory",), apart=True)
class Hogs(WithMutant):
    """Asks for 64 GiB at once."""

    mutant = program_mutants.Hog


@planted("survival", on=ON, stages=("errored",), shows=(SHOWN,))
class Floats(WithMutant):
    """Ids are floats."""

    mutant = program_mutants.Floats


class PanicException(BaseException):
    """As PyO3 raises it."""


@planted("survival", on=ON, stages=("crashed",), shows=(SHOWN,))
class Panics(PlainBpe):
    """Panics as a library in Rust does: what is raised is no Exception."""

    def segment(self, piece: bytes) -> list[int]:
        if SHOWN in piece:
            raise PanicException("byte index 1 is not a char boundary")
        return super().segment(piece)


@planted("survival", on=ON, stages=("errored",), shows=(b"a" * 300,))
class Recurses(PlainBpe):
    """Goes one call deeper for each symbol, and runs out of stack."""

    def segment(self, piece: bytes) -> list[int]:
        def deeper(left: int) -> None:
            if left:
                deeper(left - 1)

        deeper(4 * len(piece))
        return super().segment(piece)


@planted("round-trip", on=ON, stages=("errored",), shows=(b"a",))
class ClaimsToDecode(PlainBpe):
    """Says that it decodes, and has no such method."""

    @property
    def decode(self) -> None:  # type: ignore[override]
        return None


@planted("offsets", on=ON, stages=("errored",), shows=(b"a",))
class ClaimsOffsets(PlainBpe):
    """Says that it gives offsets, and raises."""

    capabilities = frozenset({Capability.OFFSETS})

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        raise NotImplementedError("offsets")


PROTOCOL = {
    "seq": "Answers with the number of another request.",
    "short": "Leaves out the last result of a batch.",
    "garbage": "Prints a traceback where an answer should be.",
}
"""Mutants of a program that speaks the stdio protocol, by kind."""

for _kind, _summary in PROTOCOL.items():
    REGISTERED[f"mini-{_kind}"] = Mutant(
        name=f"mini-{_kind}",
        family="processes",
        summary=_summary,
        spec=f"cmd:{sys.executable} -m harness.studies.selftest.program --kind {_kind}",
        vocabulary=ON,
        mode="raw",
        check="survival",
        stages=("protocol",),
        apart=True,
    )
