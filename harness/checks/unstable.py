"""Unstable ends: ids that are called sure of a text stay, whatever the text goes on with."""

import zlib
from collections.abc import Iterator, Sequence

from corpora.generators.material import is_text
from harness.checks.another_way import AsksAgain, Fault, Look, Subject
from harness.checks.base import draw, ids_of, spelled, verbatim, without_specials
from harness.checks.heal import shown, tokens
from harness.checks.heal_questions import STAND_INS, alike, boundary, tails
from harness.checks.services import against, unanswered
from harness.core.messages import Unstable, sequences_in
from harness.core.outcomes import Encoded, Outcome, Unsupported

WHOLE = 64
"""Batches up to this size are asked whole: in such ones a finding is confirmed and made smaller."""

ASKED = 4
"""Of a larger batch so many inputs are asked, or about: to look for all tokens that begin as a text
ends takes up to 20 ms. Their checksums choose them, so that it does not matter where they stand."""

LONGEST = 64
"""Bytes of an input that are asked: what is unstable stands at the end."""

COMPLETIONS = 64
"""Completions of a text that are looked at, spread over all of them."""

DRAWN = 4
"""Short continuations that are drawn for a text, besides those that complete a token."""


class UnstableEnds(AsksAgain):
    """For (s, C) = encode_with_unstable(x) and x = y z with y = decode(s): for all w in W,
    encode(x w) begins with s; and decode(c) begins with z for all c in C.

    Of encoders that say which ids are sure while a text goes on (``EncodesUnstable``), as
    ``encode_with_unstable`` of tiktoken does. The sentences W complete tokens that the text's end
    begins, or are short and drawn from it; x is the beginning of an input.
    """

    name = "unstable"
    summary = "ids called stable do not change, whatever follows, and completions continue them"
    said = "called ids stable that a longer text changes"
    every = 12
    where = (without_specials, verbatim)

    def look(self, one: Subject) -> Look:
        """What is stable of a text, and of those who say so, how the text goes on."""
        size = len(one.seen.inputs)
        if size > WHOLE and zlib.crc32(one.data) % (size // ASKED):
            return
        text = one.data[: boundary(one.data, LONGEST)]
        (outcome,) = yield [one.encode(text, shape=Unstable(COMPLETIONS))]
        if isinstance(outcome, Unsupported):
            return
        some = [*tails(text, one.vocabulary), *draw(text).sample(STAND_INS, DRAWN)]
        whole = one.contract.mode.pretokenize
        ways = [way for way in dict.fromkeys(some) if not whole or is_text(text + way)]
        after = yield [one.encode(text + way) for way in ways]
        one.judge(outcome, faults(one, text, outcome, ways, after))


def faults(
    one: Subject, text: bytes, outcome: Outcome, ways: Sequence[bytes], after: Sequence[Outcome]
) -> Iterator[Fault]:
    """What is wrong. after: the encodings of the text gone on with by each way."""
    if not isinstance(outcome, Encoded):
        yield unanswered(one, outcome)
        return
    vocabulary, where = one.vocabulary, f"of {shown(text)}"
    stable, *completions = sequences_in(outcome.ids)
    said = spelled(vocabulary, stable)
    if said is None or not text.startswith(said):
        law = "what is stable spells the beginning of the text"
        wrong = f"stable are {tokens(vocabulary, stable)} {where}"
        yield against(one, "spelling", law, wrong)
        return
    rest = text.removeprefix(said)
    for completion in completions:
        if not (spelled(vocabulary, completion) or b"").startswith(rest):
            law = f"each completion spells {shown(rest)}, and may go on"
            wrong = f"a completion is {tokens(vocabulary, completion)} {where}"
            yield against(one, "completion", law, wrong)
    for way, right in zip(ways, after, strict=True):
        given = ids_of(right)
        if isinstance(right, Encoded) and given[: len(stable)] != stable:
            part = alike([given, stable])
            there = tokens(vocabulary, given[part : part + 1])
            law = f"token {part} is {there} when the text goes on with {shown(way)}"
            wrong = f"stable is {tokens(vocabulary, stable[part : part + 1])} {where}"
            yield against(one, "stable", law, wrong, f"{one.name} (encode)")
