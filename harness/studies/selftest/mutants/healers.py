"""Mistakes of healers that are plugged in: what ``heal`` answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.studies.selftest import healing_program
from harness.studies.selftest.mutant import REGISTERED, Mutant, planted
from harness.studies.selftest.plain.healers import PlainHealer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.forced.context import GrammarState
    from impls.forced.interface import Policy
    from impls.interface import Mode

    Answer = tuple[Sequence[int], bytes]

ON = "toy_bytes"

LONG = 12
"""Forced bytes from which on ``HealsShort`` goes wrong."""


@planted("heal", on=ON, stages=("canonical",))
class HealsNothing(PlainHealer):
    """Forces all that the forced bytes encode to."""

    def policy(self, mode: Mode) -> Policy:
        from impls.forced.heuristics import NoHealing  # noqa: PLC0415 (Numba)

        return NoHealing(self.tokenizer(mode))


@planted("heal", on=ON, stages=("canonical",))
class LooksBackOneToken(PlainHealer):
    """Looks back at the last token alone, where merges reach further."""

    def policy(self, mode: Mode) -> Policy:
        from impls.forced.heuristics import HealedBack  # noqa: PLC0415 (Numba)

        return HealedBack(self.tokenizer(mode), 1, None, conservative=False)


@planted("heal", on=ON, stages=("canonical",))
class TakesOneSentence(PlainHealer):
    """Knows the first sentence that the grammar allows, and none of the others."""

    def grammar(self, allowed: Sequence[bytes] | None) -> GrammarState:
        return super().grammar(allowed[:1] if allowed is not None else None)


@planted("heal", on=ON, stages=("canonical",))
class HealsShort(PlainHealer):
    """Heals forced bytes up to a length, and forces all tokens of longer ones."""

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> Answer:
        if len(forced) < LONG:
            return super().heal(forced, recent, allowed, mode)
        return super().heal(forced, recent, [b""], mode)


@planted("heal", on=ON, stages=("spelling",))
class LosesTheRest(PlainHealer):
    """Says that nothing is left over where something is."""

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> Answer:
        return super().heal(forced, recent, allowed, mode)[0], b""


@planted("heal", on=ON, stages=("leftover",))
class LeavesTheBeginning(PlainHealer):
    """Leaves the beginning of the forced bytes over in place of their end."""

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> Answer:
        ids, leftover = super().heal(forced, recent, allowed, mode)
        begun = forced[: len(leftover)]
        return ids, leftover if forced.endswith(begun) else begun


@planted("heal", on=ON, stages=("heal-errored",))
class HealRaises(PlainHealer):
    """Has no answer where the grammar allows anything."""

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> Answer:
        if allowed is None:
            raise KeyError("no grammar")
        return super().heal(forced, recent, allowed, mode)


for _kind, _summary in healing_program.MISTAKES.items():
    REGISTERED[f"healer-{_kind}"] = Mutant(
        name=f"healer-{_kind}",
        family="healers",
        summary=_summary,
        spec=f"cmd:{sys.executable} -m harness.studies.selftest.healing_program --kind {_kind}",
        vocabulary=ON,
        mode="raw",
        check="heal",
        stages=(healing_program.STAGES[_kind],),
    )
