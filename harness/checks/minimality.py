"""Minimality: what claims the fewest tokens is never longer than any other spelling."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

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
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Results
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
    severity = Severity.IDS
    said = "gave more tokens than another, and claims the fewest"
    script = Script(Shows.DIFFER)

    def applies(self, contract: Contract) -> bool:
        """With somebody who claims it, and somebody else."""
        claims = [c for c in contract.participants if c.about.law is Law.FEWEST]
        raw = not contract.mode.pretokenize and contract.mode.special == "none"
        return raw and bool(claims) and len(contract.participants) > 1

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Only shorter answers are looked at, the shortest first; one violation an input."""
        judgement = Judgement()
        sizes = {
            name: np.where(results.status == 0, np.diff(results.ends, prepend=0), UNANSWERED)
            for name, results in seen.results.items()
        }
        for participant in seen.contract.participants:
            name = participant.name
            if participant.about.law is not Law.FEWEST or name not in sizes:
                continue
            answered = seen.results[name].status == 0
            judgement.exercised[name] += int(np.sum(answered))
            beaten = answered & (np.min([*sizes.values()], axis=0) < sizes[name])
            for index in np.nonzero(beaten)[0].tolist():
                shorter = {who: int(size[index]) for who, size in sizes.items()}
                shorter = {who: n for who, n in shorter.items() if n < shorter[name]}
                others = sorted(shorter, key=shorter.__getitem__)
                found = (self._violation(seen, index, name, other) for other in others)
                judgement.violations.extend(islice(filter(None, found), 1))
        return judgement

    def _violation(self, seen: Observation, index: int, name: str, other: str) -> Violation | None:
        data = seen.inputs[index]
        long, short = (seen.results[n].outcome(index) for n in (name, other))
        if not (isinstance(long, Encoded) and isinstance(short, Encoded)):
            return None
        try:
            if seen.contract.vocabulary.spell(list(short.ids)) != data:
                return None
        except KeyError:
            return None  # an id that does not exist
        parts = (Part((other,), short), Part((name,), long))
        return Violation(self.name, index, data, parts, (name,), stage="length")
