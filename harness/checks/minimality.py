"""Minimality: what claims the fewest tokens is never longer than any other spelling."""

import numpy as np

from harness.checks.base import (
    Ask,
    Check,
    Judgement,
    Observation,
    Script,
    ids_of,
    is_raw,
    spelled,
)
from harness.core.comparisons import Contract
from harness.core.partition import Part
from impls.interface import Law

UNANSWERED = np.iinfo(np.int64).max
"""The length of what is no encoding."""


class Minimality(Check):
    """For A with ``Law.FEWEST``, any B, and all x: decode(B(x)) = x implies |A(x)| <= |B(x)|.

    Checked without pre-tokenization, where both spell the same one piece. What spells another
    text proves nothing, and is the round trip's to tell.
    """

    name = "minimality"
    summary = "an encoder that claims the fewest tokens never gives more than another"
    said = "gave more tokens than another, and claims the fewest"
    script = Script("differ")

    asks_further = False

    def applies(self, contract: Contract) -> bool:
        """With somebody who claims it, and somebody else."""
        claims = any(one.about.law is Law.FEWEST for one in contract.participants)
        return claims and is_raw(contract) and len(contract.participants) > 1

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """Only shorter answers are looked at, the shortest first; one violation an input."""
        judgement = Judgement()
        sizes = {
            name: np.where(results.status == 0, np.diff(results.ends, prepend=0), UNANSWERED)
            for name, results in seen.results.items()
        }
        least = np.min([*sizes.values()], axis=0)
        for participant in self.asked(seen):
            if participant.about.law is not Law.FEWEST:
                continue
            name, own = participant.name, sizes[participant.name]
            answered = own < UNANSWERED
            judgement.exercised[name] += int(answered.sum())
            for index in np.flatnonzero(answered & (least < own)).tolist():
                data, long = seen.inputs[index], Part((name,), seen.results[name].outcome(index))
                shorter = [other for other, size in sizes.items() if size[index] < own[index]]
                for other in sorted(shorter, key=lambda other: int(sizes[other][index])):
                    short = seen.results[other].outcome(index)
                    if spelled(seen.contract.vocabulary, ids_of(short)) == data:
                        parts = Part((other,), short), long
                        found = self.violation(seen, index, parts, (name,), "length")
                        judgement.violations.append(found)
                        break
        return judgement
