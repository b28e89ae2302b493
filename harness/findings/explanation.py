"""Why two implementations part: their pipelines run side by side, stage by stage.

Each of our implementations can say what its text is after every stage (``steps`` of
:class:`impls.interface.Explains`). An engine is explained by the one of ours that is exact to it;
that it gave the very ids of the engine on this input is part of the explanation, so that a model
that is wrong explains nothing. Byte-level BPE has one definition and no variants: there the ids
themselves tell the text, the special tokens, the pre-tokens and the merges of either side, where
the inside of who is blamed is known (:mod:`harness.findings.insides`): a black box need not have
any of these stages, and is not explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from harness.core.outcomes import Encoded
from harness.core.pretokens import piece_ends
from harness.findings.diagnosis import known
from harness.findings.insides import MODELS, stages_known
from harness.findings.models import modelled
from impls import registry
from impls.explaining import IDS, SEGMENTATION, literal, shown_ids, shown_parts
from impls.interface import Explains, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.core.partition import Part

LONGEST = 1024
"""Bytes of an input that is explained: stages run interpreted, and nobody reads more."""


SHOWN_ONLY = frozenset({"user-defined"})
"""Engines that cut symbols out do so in every text that has them, whether it matters or not: where
it does, the diagnosis of the segmentation says so."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage on both sides; None where a side has no such stage."""

    name: str
    left: str | None
    right: str | None

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

    @property
    def differing(self) -> frozenset[str]:
        """The names of the stages that differ."""
        return frozenset(stage.name for stage in self.stages if not stage.same)

    @property
    def sentence(self) -> str:
        """One line for a reader."""
        stage = next(stage for stage in self.stages if stage.name == self.parted)
        return f"{self.parted}: {stage.left} in {self.left}, {stage.right} in {self.right}"


def explain(violation: Violation, contract: Contract) -> Explanation | None:
    """Where the trusted outcome and the first culprit's part; None where nobody can tell."""
    if violation.check != "equivalence" or len(violation.parts) < 2:
        return None
    if len(violation.data) > LONGEST:
        return None
    if contract.algorithm == "bpe" and not stages_known(violation, contract):
        return None
    look = _observed if contract.algorithm == "bpe" else _modelled
    left, right = (look(part, violation.data, contract) for part in violation.parts[:2])
    if left is None or right is None:
        return None
    stages = tuple(pair_up(left.steps, right.steps))
    different = (stage.name for stage in stages if not stage.same and stage.name not in SHOWN_ONLY)
    parted = next(different, None)
    if parted is None:
        return None
    return Explanation(left.name, right.name, left.model, right.model, stages, parted)


@dataclass(frozen=True, slots=True)
class Side:
    """The stages of one implementation, or of the model that explains it."""

    name: str
    model: str
    steps: Sequence[Step]


def _modelled(part: Part, data: bytes, contract: Contract) -> Side | None:
    """The stages of the first of a part's implementations that a model explains."""
    if not isinstance(part.outcome, Encoded):
        return None
    shown = Step(IDS, shown_ids(part.outcome.ids))
    present = {participant.name: participant for participant in contract.participants}
    for name in part.names:
        if name not in present:
            continue
        own = present[name]
        engine = MODELS.get(own.spec, {}) if registry.built_in(own.spec) else {}
        model = engine.get(modelled(contract.vocabulary))
        try:
            implementation = registry.resolve(model) if model else own.implementation
            if not isinstance(implementation, Explains):
                continue
            steps = implementation.steps(contract.vocabulary, data, contract.mode)
        except Exception:  # an explanation never fails a run
            continue
        if steps and steps[-1] == shown:
            return Side(name, model or name, steps)
    return None


def _observed(part: Part, data: bytes, contract: Contract) -> Side | None:
    """What the ids of a part say of its stages, beside the cuts that the pattern asks for."""
    vocabulary, outcome = contract.vocabulary, part.outcome
    if not isinstance(outcome, Encoded) or not all(known(vocabulary, i) for i in outcome.ids):
        return None
    spellings = [vocabulary.spelling(token_id) for token_id in outcome.ids]
    special = set(vocabulary.special_tokens.values())
    text = b"".join(spellings)
    ends = list(accumulate(map(len, spellings)))
    steps = [
        Step("special-tokens", shown_ids([i for i in outcome.ids if i in special])),
        Step("text", literal(text)),
    ]
    if contract.mode.pretokenize and text == data:
        cuts = sorted(piece_ends(vocabulary, data) & set(ends))
        steps.append(Step("pre-tokens", shown_parts(_parts(text, cuts))))
    steps.append(Step(SEGMENTATION, shown_parts(spellings)))
    steps.append(Step(IDS, shown_ids(outcome.ids)))
    return Side(part.names[0], part.names[0], steps)


def _parts(text: bytes, ends: Sequence[int]) -> list[bytes]:
    return [text[a:b] for a, b in pairwise([0, *ends]) if a < b]


def pair_up(left: Sequence[Step], right: Sequence[Step]) -> list[Stage]:
    """The stages of both sides by name, in order; one that only one side has is left out.

    What has no counterpart (byte fallback, where an engine has none) shows in a later stage.
    """
    values = {step.name: step.value for step in right}
    return [Stage(s.name, s.value, values[s.name]) for s in left if s.name in values]
