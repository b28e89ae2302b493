"""Why two implementations part: their pipelines run side by side, stage by stage.

Each of our implementations can say what its text is after every stage (``steps`` of
:class:`impls.interface.Explains`). An engine is explained by the one of ours that is exact to it;
that it gave the very ids of the engine on this input is part of the explanation, so that a model
that is wrong explains nothing. Of byte-level BPE the ids themselves tell the stages
(:func:`harness.findings.diagnosis.seen`).
"""

from __future__ import annotations

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
    from harness.events.running import Explained, Stage

    Side = tuple[str, str, Sequence[Step]]
    """An implementation, whose stages were run for it, and these stages."""

LONGEST = 1024
"""Bytes of an input that is explained: stages run interpreted, and nobody reads more."""


SHOWN_ONLY = frozenset({"user-defined"})
"""Engines that cut symbols out do so in every text that has them, whether it matters or not: where
it does, the diagnosis of the segmentation says so."""


def explain(violation: Violation, contract: Contract) -> Explained | None:
    """Where the trusted outcome and the first culprit's part; None where nobody can tell.

    A stage that has no counterpart on the other side (byte fallback, where an engine has none)
    shows in a later one, and is left out.
    """
    if violation.check != "equivalence" or len(violation.parts) < 2:
        return None
    if len(violation.data) > LONGEST:
        return None
    bytes_ = contract.algorithm == "bpe"
    if bytes_ and not stages_known(violation, contract):
        return None
    side = _observed if bytes_ else _modelled
    left, right = (side(part, violation.data, contract) for part in violation.parts[:2])
    if left is None or right is None:
        return None
    theirs = {step.name: step.value for step in right[2]}
    stages: list[Stage] = [
        {"name": one.name, "left": one.value, "right": theirs[one.name]}
        for one in left[2]
        if one.name in theirs
    ]
    parted = [one["name"] for one in stages if one["left"] != one["right"]]
    first = next((name for name in parted if name not in SHOWN_ONLY), None)
    if first is None:
        return None
    return {
        "left": left[0],
        "right": right[0],
        "left_model": left[1],
        "right_model": right[1],
        "stages": stages,
        "parted": first,
    }


def _modelled(part: Part, data: bytes, contract: Contract) -> Side | None:
    """The stages of the first of a part's implementations that a model explains."""
    if not isinstance(part.outcome, Encoded):
        return None
    last = Step(IDS, shown_ids(part.outcome.ids))
    for own in (one for one in contract.participants if one.name in part.names):
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
    if not isinstance(part.outcome, Encoded) or not known(contract.vocabulary, *part.outcome.ids):
        return None
    steps = [Step(name, _shown(value)) for name, value in seen(contract, data, part.outcome.ids)]
    return part.names[0], part.names[0], steps


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return literal(value)
    assert isinstance(value, list)
    return shown_parts(value) if value and isinstance(value[0], bytes) else shown_ids(value)
