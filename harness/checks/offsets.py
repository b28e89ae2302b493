"""Offsets: where an implementation says that its tokens come from."""

from collections.abc import Generator, Sequence
from itertools import accumulate, pairwise
from unicodedata import category

from corpora.generators.material import is_text
from harness.checks.another_way import AsksAgain, Look, Question, Subject
from harness.checks.base import LongRuns, Severity, spelled, spellings, verbatim
from harness.core.outcomes import Encoded, Failed, Outcome
from impls.interface import Capability

MOST_LOOKED_AT = 2
"""Characters in no range of which an input without them is asked for."""


class Offsets(AsksAgain):
    """For ids t and byte ranges [s, e) of x: ids as without offsets; 0 <= s <= e <= |x|; s and e
    never decrease; where nothing is normalized, x[s:e] contains the bytes of t; and elsewhere, for
    a letter, mark or digit c that is in no range, decode(encode(x without c)) = decode(t), white
    space aside.

    The third is containment and not equality, because some libraries give a token that is part of
    a character the range of the whole character. The last holds for what was dropped from the text,
    but not for what came into a token, as the second of two characters that are composed.
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
        if not stage and isinstance(outcome, Encoded) and not verbatim(one.contract):
            stage = yield from self._cover(one, outcome)
        fault = stage, one.says(Encoded(one.ids), "ids"), one.says(outcome)
        one.judge(outcome, [fault] if stage else [])

    def _cover(
        self, one: Subject, outcome: Encoded
    ) -> Generator[Sequence[Question], Sequence[Outcome], str]:
        """The stage of a character in no range without which the text is another; or empty."""
        for start, end in uncovered(one, outcome)[:MOST_LOOKED_AT]:
            (other,) = yield [one.encode(one.data[:start] + one.data[end:])]
            if not isinstance(other, Encoded) or other.ids == one.ids:
                continue
            texts = yield [one.decode(one.ids), one.decode(other.ids)]
            if len({*map(without_spaces, texts)} - {None}) > 1:
                return "cover"
        return ""


def uncovered(one: Subject, outcome: Encoded) -> list[tuple[int, int]]:
    """The ranges of letters, marks and digits that are in no token's range."""
    if not (one.participant.can(Capability.DECODE) and is_text(one.data)):
        return []
    inside = {place for span in outcome.offsets or () for place in range(*span)}
    ends = accumulate(len(c.encode()) for c in one.data.decode())
    spans = zip(one.data.decode(), pairwise([0, *ends]), strict=True)
    return [at for c, at in spans if at[0] not in inside and category(c)[0] in "LMN"]


def without_spaces(outcome: Outcome) -> str | None:
    """What was decoded, without white space; None if nothing was."""
    if not isinstance(outcome, Encoded):
        return None
    return "".join((outcome.text or b"").decode(errors="replace").split())


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
