"""Splitting: chunks of at most so many tokens, cut between characters."""

from itertools import pairwise

from corpora.generators.material import is_text
from harness.checks.another_way import Fault, Look, Subject
from harness.checks.base import draw, ids_of
from harness.checks.services import Serves, against, by_definers, counted, unanswered
from harness.core.outcomes import Encoded
from impls.interface import Capability

LIMITS = (1, 2, 3, 7)
"""Tokens a chunk; for a long text enough for at most :data:`CHUNKS`."""

CHUNKS = 50

LONGEST_CHARACTER = 4
"""Bytes. In a text that is not UTF-8, what a character is is for the implementation to say: so many
bytes, or one with all that follow it and begin no character."""


class Split(Serves):
    """For ends e1, .., ek of split(x, n), with e0 = 0: ei < ei+1 and ek = |x|; no ei lies inside a
    UTF-8 character; |encode(x[ei:ei+1])| <= n, unless x[ei:ei+1] is one character.

    The limit is drawn from the input's own checksum. Where cuts must not be is not asked of a text
    that is not UTF-8.
    """

    name = "split"
    summary = "chunks cover the text, end between characters, and keep the token limit"
    said = "split the input against the rules"
    needs = (Capability.SPLIT,)

    def look(self, one: Subject) -> Look:
        """Ask for the chunks, then for their encodings, and look at every cut."""
        data, text = one.data, is_text(one.data)
        limit = max(draw(data).choice(LIMITS), len(one.ids) // CHUNKS)
        (outcome,) = yield [one.serve(Capability.SPLIT, data, data, limit)]
        if not isinstance(outcome, Encoded):
            one.judge(outcome, [unanswered(one, outcome)])
            return
        ends, faults = outcome.ids, list[Fault]()
        ranges = [*pairwise((0, *ends))]
        if (0, *ends)[-1] != len(data) or any(start >= end for start, end in ranges):
            shown = ", ".join(map(str, ends[:8])) or "no end"
            law = f"ends in order, the last at {len(data)}, and no chunk empty"
            one.judge(outcome, [against(one, "cover", law, f"chunks that end at {shown}")])
            return
        for end in ends[:-1] if text else ():
            if data[end] & 0xC0 == 0x80:
                law = "no cut inside a character"
                faults.append(against(one, "character", law, f"a cut at {end}"))
        asked = by_definers(one, ranges)
        texts = yield [one.encode(data[start:end], by=who) for who, (start, end) in asked]
        for (who, (start, end)), ids in zip(asked, map(ids_of, texts), strict=True):
            if len(ids) > limit and (faults or not is_character(data[start:end], text=text)):
                law = f"at most {counted(limit)} a chunk of several characters"
                wrong = f"a chunk from {start} to {end}, of {counted(len(ids))} by {who}"
                faults.append(against(one, "limit", law, wrong))
        one.judge(outcome, faults)


def is_character(chunk: bytes, *, text: bool) -> bool:
    """Whether bytes are one character, or may be where the text is not UTF-8."""
    if text:
        return len(chunk.decode()) == 1
    return len(chunk) <= LONGEST_CHARACTER or all(byte & 0xC0 == 0x80 for byte in chunk[1:])
