"""Offsets: where an implementation says that its tokens come from."""

from itertools import pairwise

from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import LongRuns, Severity, spelled, spellings, verbatim
from harness.core.outcomes import Encoded, Failed, Outcome
from impls.interface import Capability


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
        """The same ids, and of each token a range that may have it."""
        (outcome,) = yield [one.encode(one.data, offsets=True)]
        stage = stage_of(one, outcome)
        fault = stage, one.says(Encoded(one.ids), "ids"), one.says(outcome)
        one.judge(outcome, [fault] if stage else [])


def stage_of(one: Subject, outcome: Outcome) -> str:
    """What is wrong with the offsets; empty if nothing is."""
    if isinstance(outcome, Failed):
        return outcome.status.label
    if not isinstance(outcome, Encoded) or outcome.offsets is None:
        return ""
    ids, data, spans = one.ids, one.data, outcome.offsets
    if outcome.ids != ids:
        return "ids"
    if any(not 0 <= start <= end <= len(data) for start, end in spans):
        return "range"
    if any(a > c or b > d for (a, b), (c, d) in pairwise(spans)):
        return "order"
    if not verbatim(one.contract):
        return ""
    # An id that does not exist is for the equivalence check.
    tokens = spellings(one.vocabulary, ids) or [
        spelled(one.vocabulary, (token_id,)) or b"" for token_id in ids
    ]
    pairs = zip(tokens, spans, strict=True)
    return "text" if any(token not in data[start:end] for token, (start, end) in pairs) else ""
