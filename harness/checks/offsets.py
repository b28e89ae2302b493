"""Offsets: where an implementation says that its tokens come from."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from harness.checks.base import AsksAgain, LongRuns, Look, Severity, Subject, spelled
from harness.core.outcomes import Encoded, Failed, Outcome
from impls.interface import Capability

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


class Offsets(AsksAgain):
    """For ids t and byte ranges [s, e) of x: ids as without offsets; 0 <= s <= e <= |x|; s and e
    never decrease; and, where nothing is normalized, x[s:e] contains the bytes of t.

    The last is containment and not equality, because some libraries give a token that is part of
    a character the range of the whole character.
    """

    name = "offsets"
    summary = "each token's byte range is in order, within the text, and spells the token"
    severity = Severity.OFFSETS
    said = "gave offsets that do not fit the input"
    every = 5
    needs = (Capability.OFFSETS,)
    long_runs = LongRuns.SHORT

    def look(self, one: Subject) -> Look:
        """Encode again, with offsets, and look at every token."""
        (outcome,) = yield [one.encode(one.data, offsets=True)]
        stage = fault(one.vocabulary, one.data, one.ids, outcome)
        broken = stage and (stage, one.says(Encoded(one.ids), "ids"), one.says(outcome))
        one.judge(outcome, broken or None)


def fault(
    vocabulary: Vocabulary, data: bytes, ids: tuple[int, ...], outcome: Outcome
) -> str | None:
    """What is wrong with the offsets, or None."""
    if isinstance(outcome, Failed):
        return outcome.status.label
    if not isinstance(outcome, Encoded) or outcome.offsets is None:
        return None
    if outcome.ids != ids:
        return "ids"
    if any(not 0 <= start <= end <= len(data) for start, end in outcome.offsets):
        return "range"
    if any(a > c or b > d for (a, b), (c, d) in pairwise(outcome.offsets)):
        return "order"
    if vocabulary.normalizes or vocabulary.pieces:
        return None
    for token_id, (start, end) in zip(ids, outcome.offsets, strict=True):
        token = spelled(vocabulary, [token_id])
        # An id that does not exist is for the equivalence check.
        if token is not None and token not in data[start:end]:
            return "text"
    return None
