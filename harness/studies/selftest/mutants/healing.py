"""Mistakes in the healing of forced tokens: made with the tokenizer, they are policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.healing import PlainHealing, size
from impls.forced.heuristics import ids_of
from impls.forced.interface import Healed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.studies.selftest.plain.healing import Steps
    from impls.forced.context import Context, GrammarState

ON = "tekken_240911"


@planted("canonicality", on=ON, mode="text")
class HealsNothing(PlainHealing):
    """All tokens of the forced bytes are forced."""

    def places(self, forced: bytes, steps: Steps) -> Iterable[int]:
        return ()


@planted("canonicality", on=ON, mode="text")
class LastByteOnly(PlainHealing):
    """Only a token that begins with the last forced byte is thought of."""

    def places(self, forced: bytes, steps: Steps) -> Iterable[int]:
        return range(max(0, len(forced) - 1), len(forced))


@planted("canonicality", on=ON, mode="text")
class OneTokenMore(PlainHealing):
    """One token too many is kept: off by one."""

    def kept(self, steps: Steps, place: int, forced: bytes) -> Healed:
        more = steps[: len(super().kept(steps, place, forced).ids) + 1]
        return Healed(ids_of(more), forced[size(more) :])


@planted("canonicality", on=ON, mode="text")
class NoContext(PlainHealing):
    """The forced bytes are encoded by themselves, whatever stands before them."""

    def steps(self, context: Context, forced: bytes) -> Steps:
        return self.tokenizer.steps(forced)


@planted("canonicality", on=ON, mode="text")
class OverlooksOneByte(PlainHealing):
    """A token that goes on by a single byte is overlooked."""

    def goes_on(self, rest: bytes, grammar: GrammarState) -> bool:
        found = self.tokenizer.extensions(rest, grammar.viable)
        return any(len(more) > 1 for _, more in found)


@planted("canonicality", on=ON, mode="text")
class StartsLate(PlainHealing):
    """The window begins at its second token: off by one."""

    def places(self, forced: bytes, steps: Steps) -> Iterable[int]:
        return range(max(0, len(forced) - size(steps[-1:])) + 1, len(forced))
