"""Splitting: chunks of at most so many tokens, cut between characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from corpora.generators.material import is_text
from harness.checks.base import AsksAgain, Fault, LongRuns, Look, Severity, Subject, draw, ids_of
from harness.checks.serving import (
    Ranges,
    against,
    by_definers,
    by_text,
    counted,
    definers,
    unanswered,
)
from harness.core.outcomes import Encoded, Outcome
from impls.interface import Capability

LIMITS = (1, 2, 3, 7)
"""Tokens a chunk; for a long text enough for at most :data:`CHUNKS`."""

CHUNKS = 50

LONGEST_CHARACTER = 4
"""Bytes. In a text that is not UTF-8, what a character is is for the implementation to say."""


class Split(AsksAgain):
    """For ends e1, .., ek of split(x, n), with e0 = 0: ei < ei+1 and ek = |x|; no ei lies inside a
    UTF-8 character; |encode(x[ei:ei+1])| <= n, unless x[ei:ei+1] is one character.

    The limit is drawn from the input's own checksum. Where cuts must not be is not asked of a text
    that is not UTF-8.
    """

    name = "split"
    summary = "chunks cover the text, end between characters, and keep to the limit of tokens"
    severity = Severity.SERVICE
    said = "split the input against the rules"
    every = 4
    needs = (Capability.SPLIT,)
    long_runs = LongRuns.ALL

    def look(self, one: Subject) -> Look:
        """Ask for the chunks, then for their encodings, and look at every cut."""
        rows = one.encoded
        texts = one.texts(rows)
        limits = [
            max(draw(one.data(index)).choice(LIMITS), len(one.ids(index)) // CHUNKS)
            for index in rows
        ]
        (answer,) = yield [one.serve(Capability.SPLIT, texts, [(limit,) for limit in limits])]
        chunks = [chunks_of(*pair) for pair in zip(texts, answer, strict=True)]
        encodings = yield by_definers(one, texts, chunks)
        sizes = [by_text(chunks, encoding) for encoding in encodings]
        columns = zip(rows, limits, chunks, answer, zip(*sizes, strict=True), strict=True)
        for index, limit, ranges, outcome, each in columns:
            if isinstance(outcome, Encoded):
                by_definer = dict(zip(definers(one), each, strict=True))
                one.judge(index, outcome, fault(one, index, limit, outcome.ids, ranges, by_definer))
            else:
                one.judge(index, outcome, unanswered(one, "split", outcome))


def chunks_of(data: bytes, outcome: Outcome) -> Ranges:
    """The ranges of the chunks; none where the ends do not cover the text."""
    covered = isinstance(outcome, Encoded) and covers(data, outcome.ids)
    return [*pairwise((0, *ids_of(outcome)))] if covered else []


def covers(data: bytes, ends: Sequence[int]) -> bool:
    """Whether chunks that end there are non-empty, in order, and make up the text."""
    bounds = (0, *ends)
    return bounds[-1] == len(data) and all(a < b for a, b in pairwise(bounds))


def fault(
    one: Subject,
    index: int,
    limit: int,
    ends: Sequence[int],
    ranges: Ranges,
    sizes: Mapping[str, Sequence[Outcome]],
) -> Fault | None:
    """The rule that chunks break, if any. sizes: each chunk's encoding, by definer."""
    data = one.data(index)
    text = is_text(data)

    def broken(stage: str, law: str, wrong: str) -> Fault:
        return against(one, stage, "split", "the rule", law, wrong)

    if not covers(data, ends):
        shown = ", ".join(map(str, ends[:8])) or "no end"
        law = f"ends in order, the last at {len(data)}, and no chunk empty"
        return broken("cover", law, f"chunks that end at {shown}")
    for end in ends[:-1]:
        if text and data[end] & 0xC0 == 0x80:
            return broken("character", "no cut inside a character", f"a cut at {end}")
    for definer, outcomes in sizes.items():
        for (start, end), outcome in zip(ranges, outcomes, strict=True):
            size, chunk = len(ids_of(outcome)), data[start:end]
            alone = len(chunk) <= LONGEST_CHARACTER and (not text or len(chunk.decode()) == 1)
            if size > limit and not alone:
                law = f"at most {counted(limit)} a chunk of several characters"
                wrong = f"a chunk from {start} to {end}, of {counted(size)} by {definer}"
                return broken("limit", law, wrong)
    return None
