"""Offsets: where an implementation says that its tokens come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.checks.base import Judgement, Observation, Probe, Violation, encoded_indices
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Outcome, Results
from harness.core.partition import Part
from impls.interface import Capability


@dataclass(frozen=True, slots=True)
class Offsets:
    """For ids t and byte ranges [s, e) of x: ids as without offsets; 0 <= s <= e <= |x|; s and e
    never decrease; and, where nothing is normalized, x[s:e] contains the bytes of t.

    The last is containment and not equality, because some libraries give a token that is part of
    a character the range of the whole character.
    """

    name: str = "offsets"
    summary: str = "each token's byte range is in order, within the text, and spells the token"
    every: int = 5

    def applies(self, contract: Contract) -> bool:
        """With somebody who gives them."""
        return any(c.can(Capability.OFFSETS) for c in contract.participants)

    def probes(self, seen: Observation) -> list[Probe]:
        """Encode again, with offsets."""
        request = Encode(seen.inputs, seen.contract.mode, offsets=True)
        return [
            Probe(participant.name, request)
            for participant in seen.contract.participants
            if participant.can(Capability.OFFSETS) and participant.name in seen.results
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Look at every token of every input."""
        judgement = Judgement()
        for probe, answer in zip(self.probes(seen), answers, strict=True):
            name = probe.implementation
            results = seen.results[name]
            for index in encoded_indices(results):
                data = seen.inputs[index]
                outcome = answer.outcome(index)
                stage = fault(seen.contract, data, tuple(results.ids_of(index)), outcome)
                judgement.exercised[name] += 1
                if stage is not None:
                    wanted = results.outcome(index)
                    if isinstance(wanted, Encoded) and isinstance(outcome, Encoded):
                        wanted = replace(wanted, offsets=None)
                    parts = (Part((f"{name} (ids)",), wanted), Part((name,), outcome))
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), stage=stage)
                    )
        return judgement


def fault(contract: Contract, data: bytes, ids: tuple[int, ...], outcome: Outcome) -> str | None:
    """What is wrong with the offsets, or None."""
    if isinstance(outcome, Failed):
        return outcome.status.label
    if not isinstance(outcome, Encoded) or outcome.offsets is None:
        return None
    if outcome.ids != ids:
        return "ids"
    if any(not 0 <= start <= end <= len(data) for start, end in outcome.offsets):
        return "range"
    ends = [end for _, end in outcome.offsets]
    starts = [start for start, _ in outcome.offsets]
    if starts != sorted(starts) or ends != sorted(ends):
        return "order"
    if contract.vocabulary.normalizes or contract.vocabulary.pieces:
        return None
    for token_id, (start, end) in zip(ids, outcome.offsets, strict=True):
        try:
            token = contract.vocabulary.spelling(token_id)
        except KeyError:
            continue  # an id that does not exist is for the equivalence check
        if token not in data[start:end]:
            return "text"
    return None
