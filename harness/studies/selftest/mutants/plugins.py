"""Plug-ins as a user writes them, which the gate must not pass: ``gate.toml`` has the table.

They are given to the gate by the path of this file, as those of a user are, so that nothing is
known of their inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.plain.bpe import PlainBpe, PlainServices
from impls.interface import Capability, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.interface import Mode

ODD = "\u2581".encode()
"""A character that some treat otherwise, as is known and expected. It has a token in ``toy_bytes``,
which U+FEFF and unassigned code points have not."""


class Right(PlainBpe):
    """Right: what the others are without their faults."""

    name = "gate.right"


class Unmerged(PlainBpe):
    """Encodes a character byte by byte: a known difference."""

    name = "gate.unmerged"

    def segment(self, piece: bytes) -> list[int]:
        """The ids of the parts around it, and of its bytes."""
        first, *rest = (PlainBpe.segment(self, part) for part in piece.split(ODD))
        return [*first, *(i for part in rest for i in (*self.symbols(ODD), *part))]


class Declining(PlainBpe):
    """Claims services, and raises Unsupported for each."""

    right = Right
    capabilities = PlainServices.capabilities

    def count(self, *asked: Any) -> Any:
        """The answer to any request."""
        raise Unsupported("not yet")

    count_till_limit = split = append = prepend = interval = count


class StreamsWrong(PlainBpe):
    """Takes text only, and streams "WRONG" for each id."""

    right = Right
    text_only = True
    modes = ("text",)
    capabilities = frozenset({Capability.DECODE})

    def encode(self, text: str, mode: Mode) -> list[int]:  # type: ignore[override]
        """The ids of a text."""
        return self.coded(text.encode(), mode)

    def decode(self, ids: Sequence[int]) -> str:  # type: ignore[override]
        """The text of ids."""
        return PlainBpe.decode(self, ids).decode(errors="replace")

    def decode_stream(self, ids: Sequence[int]) -> list[str]:
        """See ``DecodesStreams``."""
        return ["WRONG" for _ in ids]


def __getattr__(place: str) -> type[Any]:
    """The class of a row, as ``--impl`` takes it by the path of this file."""
    if f"gate.{place}" not in mistakes():
        raise AttributeError(place)
    return mistakes()[f"gate.{place}"].changed()
