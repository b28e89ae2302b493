"""Splitting: chunks of at most so many tokens, cut between characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from corpora.generators.material import is_text
from harness.checks.asking import AsksAgain, Fault, Look, Subject
from harness.checks.base import LongRuns, Severity, draw, ids_of
from harness.checks.serving import (
    against,
    by_definers,
    counted,
    definers,
    unanswered,
)
from harness.core.outcomes import Encoded
from impls.interface import Capability

LIMITS = (1, 2, 3, 7)
"""Tokens a chunk; for a long text enough for at most :data:`CHUNKS`."""

CHUNKS = 50

LONGEST_CHARACTER = 4
"""Bytes. In a text that is not UTF-8, what a character is is for the implementation to say: so many
bytes, or one with all that follow it and begin no character."""


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
        limit = max(draw(one.data).choice(LIMITS), len(one.ids) // CHUNKS)
        (outcome,) = yield [one.serve(Capability.SPLIT, one.data, limit)]
        if not isinstance(outcome, Encoded):
            one.judge(outcome, unanswered(one, "split", outcome))
            return
        ends = outcome.ids
        ranges = [*pairwise((0, *ends))] if covers(one.data, ends) else []
        sizes = yield by_definers(one, ranges)
        by_definer = [*zip(product(definers(one), ranges), map(ids_of, sizes), strict=True)]
        one.judge(outcome, fault(one, limit, ends, by_definer))


def is_character(chunk: bytes) -> bool:
    """Whether bytes of a text that is not UTF-8 may be one character."""
    return len(chunk) <= LONGEST_CHARACTER or all(byte & 0xC0 == 0x80 for byte in chunk[1:])


def covers(data: bytes, ends: Sequence[int]) -> bool:
    """Whether chunks that end there are non-empty, in order, and make up the text."""
    bounds = (0, *ends)
    return bounds[-1] == len(data) and all(a < b for a, b in pairwise(bounds))


def fault(
    one: Subject,
    limit: int,
    ends: Sequence[int],
    chunks: Sequence[tuple[tuple[str, tuple[int, int]], tuple[int, ...]]],
) -> Fault | None:
    """The rule that chunks break, if any. chunks: each with who encoded it, and to which ids."""
    data, text = one.data, is_text(one.data)

    def broken(stage: str, law: str, wrong: str) -> Fault:
        return against(one, stage, "split", "the rule", law, wrong)

    if not covers(data, ends):
        shown = ", ".join(map(str, ends[:8])) or "no end"
        law = f"ends in order, the last at {len(data)}, and no chunk empty"
        return broken("cover", law, f"chunks that end at {shown}")
    for end in ends[:-1]:
        if text and data[end] & 0xC0 == 0x80:
            return broken("character", "no cut inside a character", f"a cut at {end}")
    for (definer, (start, end)), ids in chunks:
        chunk = data[start:end]
        alone = len(chunk.decode()) == 1 if text else is_character(chunk)
        if len(ids) > limit and not alone:
            law = f"at most {counted(limit)} a chunk of several characters"
            wrong = f"a chunk from {start} to {end}, of {counted(len(ids))} by {definer}"
            return broken("limit", law, wrong)
    return None
