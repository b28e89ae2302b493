"""Equivalence: implementations under one contract give the same ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Script,
    Severity,
    Shows,
    Violation,
)
from harness.core.comparisons import ComparedGroup, Contract
from harness.core.outcomes import Outcome, Results, Unsupported
from harness.core.partition import blames, partition
from harness.core.standing import Standing

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Equivalence(Check):
    """For all exact implementations A, B under one contract and all x: encode_A(x) = encode_B(x).

    A rejection equals a rejection. What an implementation does not support is not compared, and
    what it dies of is the survival check's. Only answers to inputs that another one answered, too,
    are judged.
    """

    name = "equivalence"
    summary = "the same bytes give the same ids in all implementations"
    severity = Severity.IDS
    script = Script(Shows.DIFFER)

    def applies(self, contract: Contract) -> bool:
        """With two or more."""
        return len(contract.exact) > 1

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """The fast path compares whole batches; only batches that differ are taken apart."""
        judgement = Judgement()
        exact = [name for name in seen.contract.exact if name in seen.results]
        groups = seen.contract.compared_groups(exact)
        judgement.exercised.update(compared(seen, groups))
        for group in groups:
            self._compare(seen, group, judgement)
        return judgement

    def _compare(self, seen: Observation, group: ComparedGroup, judgement: Judgement) -> None:
        names = group.names
        suspects: set[int] = set()
        pivot = seen.results[names[0]]
        for name in names[1:]:
            suspects.update(differing(pivot, seen.results[name]))
        for index in sorted(suspects):
            outcomes = {name: seen.results[name].outcome(index) for name in names}
            if undefined(seen.contract, group, outcomes):
                continue
            parts = partition(outcomes, group.standing)
            judgement.violations += [
                Violation(
                    self.name,
                    index,
                    seen.inputs[index],
                    one.parts,
                    one.culprits,
                    undecided=one.undecided,
                )
                for one in blames(parts, group.standing)
            ]


def compared(seen: Observation, groups: Sequence[ComparedGroup]) -> dict[str, int]:
    """How many answers of each had another one of its group beside them; each is counted once."""
    masks: dict[str, NDArray[np.bool_]] = {}
    for group in groups:
        answered = np.stack([seen.results[name].answered for name in group.names])
        with_others = answered & (answered.sum(axis=0) > 1)
        for name, mask in zip(group.names, with_others, strict=True):
            masks[name] = masks[name] | mask if name in masks else mask
    return {name: int(mask.sum()) for name, mask in masks.items()}


def undefined(contract: Contract, group: ComparedGroup, outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a text has no ids, so that nobody can give others.

    So it is where only those take part who read the file, and all who say what it means refuse the
    text: one with a character that the file has no token for, and no unknown token either.
    """
    judges = [name for name in group.names if group.standing[name] >= Standing.DEFINITION]
    refused = (isinstance(outcomes[name], Unsupported) for name in judges)
    return bool(contract.vocabulary.unexpressed and judges) and all(refused)


def differing(one: Results, other: Results) -> list[int]:
    """Indices at which two results may differ (exact for encodings; all else is a suspect)."""
    if one.same_as(other):
        return []
    found = []
    one_ids, other_ids = one.ids.tobytes(), other.ids.tobytes()
    one_start = other_start = 0
    rows = zip(
        one.ends.tolist(),
        other.ends.tolist(),
        one.status.tolist(),
        other.status.tolist(),
        strict=True,
    )
    for index, (one_end, other_end, one_status, other_status) in enumerate(rows):
        if (
            one_status != other_status
            or one_ids[4 * one_start : 4 * one_end] != other_ids[4 * other_start : 4 * other_end]
        ):
            found.append(index)
        one_start, other_start = one_end, other_end
    return found
