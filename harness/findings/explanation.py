"""Why two implementations part: their pipelines run side by side, stage by stage.

Each of our implementations can say what its text is after every stage (``steps`` of
:class:`impls.interface.Explains`). An engine is explained by the one of ours that is exact to it;
that it gave the very ids of the engine on this input is part of the explanation, so that a model
that is wrong explains nothing. Of byte-level BPE the ids themselves tell the stages
(:func:`harness.findings.diagnosis.seen`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.outcomes import Encoded
from harness.findings.diagnosis import MODELS, known, seen, stages_known
from harness.findings.models import modelled
from impls import registry
from impls.explaining import IDS, literal, shown_ids, shown_parts
from impls.interface import Explains, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.core.partition import Part

    Side = tuple[str, str, Sequence[Step]]
    """An implementation, whose stages were run for it, and these stages."""

LONGEST = 1024
"""Bytes of an input that is explained: stages run interpreted, and nobody reads more."""


SHOWN_ONLY = frozenset({"user-defined"})
"""Engines that cut symbols out do so in every text that has them, whether it matters or not: where
it does, the diagnosis of the segmentation says so."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage on both sides."""

    name: str
    left: str
    right: str

    @property
    def same(self) -> bool:
        """Whether both sides are alike so far as this stage tells."""
        return self.left == self.right


@dataclass(frozen=True, slots=True)
class Explanation:
    """Two pipelines on one input.

    left, right: the implementations that differ, the trusted one first. left_model, right_model:
    whose stages were run for them, often themselves. parted: the first stage that differs.
    """

    left: str
    right: str
    left_model: str
    right_model: str
    stages: tuple[Stage, ...]
    parted: str


def explain(violation: Violation, contract: Contract) -> Explanation | None:
    """Where the trusted outcome and the first culprit's part; None where nobody can tell.

    A stage that has no counterpart on the other side (byte fallback, where an engine has none)
    shows in a later one, and is left out.
    """
    if violation.check != "equivalence" or len(violation.parts) < 2:
        return None
    if len(violation.data) > LONGEST:
        return None
    if contract.algorithm == "bpe" and not stages_known(violation, contract):
        return None
    side = _observed if contract.algorithm == "bpe" else _modelled
    left, right = (side(part, violation.data, contract) for part in violation.parts[:2])
    if left is None or right is None:
        return None
    theirs = {step.name: step.value for step in right[2]}
    stages = [Stage(s.name, s.value, theirs[s.name]) for s in left[2] if s.name in theirs]
    different = (one.name for one in stages if not one.same and one.name not in SHOWN_ONLY)
    parted = next(different, None)
    if parted is None:
        return None
    return Explanation(left[0], right[0], left[1], right[1], tuple(stages), parted)


def _modelled(part: Part, data: bytes, contract: Contract) -> Side | None:
    """The stages of the first of a part's implementations that a model explains."""
    if not isinstance(part.outcome, Encoded):
        return None
    last = Step(IDS, shown_ids(part.outcome.ids))
    present = {participant.name: participant for participant in contract.participants}
    for own in (present[name] for name in part.names if name in present):
        engine = MODELS.get(own.spec, {}) if registry.built_in(own.spec) else {}
        model = engine.get(modelled(contract.vocabulary))
        try:
            implementation = registry.resolve(model) if model else own.implementation
            if not isinstance(implementation, Explains):
                continue
            steps = implementation.steps(contract.vocabulary, data, contract.mode)
        except Exception:  # an explanation never fails a run
            continue
        if steps and steps[-1] == last:
            return own.name, model or own.name, steps
    return None


def _observed(part: Part, data: bytes, contract: Contract) -> Side | None:
    """What the ids of a part of byte-level BPE say of its stages."""
    ids = part.outcome.ids if isinstance(part.outcome, Encoded) else (-1,)
    if not known(contract.vocabulary, *ids):
        return None
    steps = [Step(name, _shown(value)) for name, value in seen(contract, data, ids)]
    return part.names[0], part.names[0], steps


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return literal(value)
    assert isinstance(value, list)
    return shown_parts(value) if value and isinstance(value[0], bytes) else shown_ids(value)
