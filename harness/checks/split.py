"""Splitting: chunks of at most so many tokens, cut between characters."""

from itertools import pairwise

from corpora.generators.material import is_text
from harness.checks.another_way import AsksAgain, Fault, Look, Subject
from harness.checks.base import LongRuns, Severity, draw, ids_of
from harness.checks.services import against, by_definers, counted, unanswered
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
        data, text = one.data, is_text(one.data)
        limit = max(draw(data).choice(LIMITS), len(one.ids) // CHUNKS)
        (outcome,) = yield [one.serve(Capability.SPLIT, data, data, limit)]
        if not isinstance(outcome, Encoded):
            one.judge(outcome, unanswered(one, "split", outcome))
            return
        ends = outcome.ids
        ranges = [*pairwise((0, *ends))]
        covers = (0, *ends)[-1] == len(data) and all(start < end for start, end in ranges)
        inside = [end for end in ends[:-1] if text and covers and data[end] & 0xC0 == 0x80]

        def broken(stage: str, law: str, wrong: str) -> Fault:
            return against(one, stage, "split", "the rule", law, wrong)

        fault: Fault | None = None
        asked = by_definers(one, ranges) if covers else []
        texts = yield [one.encode(data[start:end], by=who) for who, (start, end) in asked]
        if not covers:
            shown = ", ".join(map(str, ends[:8])) or "no end"
            law = f"ends in order, the last at {len(data)}, and no chunk empty"
            fault = broken("cover", law, f"chunks that end at {shown}")
        elif inside:
            fault = broken("character", "no cut inside a character", f"a cut at {inside[0]}")
        for (who, (start, end)), ids in zip(asked, map(ids_of, texts), strict=True):
            long = fault is None and len(ids) > limit
            if long and not is_character(data[start:end], text=text):
                law = f"at most {counted(limit)} a chunk of several characters"
                wrong = f"a chunk from {start} to {end}, of {counted(len(ids))} by {who}"
                fault = broken("limit", law, wrong)
        one.judge(outcome, fault)


def is_character(chunk: bytes, *, text: bool) -> bool:
    """Whether bytes are one character, or may be where the text is not UTF-8."""
    if text:
        return len(chunk.decode()) == 1
    return len(chunk) <= LONGEST_CHARACTER or all(byte & 0xC0 == 0x80 for byte in chunk[1:])
