"""Single ids: each token decoded alone, and numbers that are no token's."""

import zlib

from harness.checks.another_way import Decodes, Look, Subject
from harness.checks.base import (
    REPLACEMENT,
    Script,
    first_past,
    numbers_in,
    special_numbers,
    verbatim,
)
from harness.core.outcomes import Encoded, Failed, Outcome, Results, Status, Unsupported
from harness.core.partition import Part

MOST_IDS = 8
"""Tokens drawn for one input."""

LIMIT = 1 << 31
"""Ids travel as 32 bits with a sign."""


class SingleIds(Decodes):
    """For each token t with id i: decode(i) = t, or t with U+FFFD in place of what is not UTF-8.
    For each i that is not a token's id, negative or past the last one: decode(i) is an error, or
    no text, or U+FFFD, or a text that names the number, and never that of another token. Neither
    ends the process.

    The first is asked where decoding does not rewrite the text, and not of special tokens, which
    some decoders leave out. Ids are drawn from the bytes of the input. It is asked of each
    implementation by itself: a server decodes what a model says, which is no encoding of any text.
    """

    name = "single-ids"
    summary = (
        "each id decodes to its token; an invalid id never decodes to a token's text or ends the "
        "process"
    )
    said = "decoded a single id wrongly"
    every = 12
    script = Script("another text", "decode")

    def rows(self, results: Results) -> range:
        """All inputs, as the ids do not come from their encodings."""
        return range(len(results))

    def look(self, one: Subject) -> Look:
        """Decode each of the ids by itself."""
        asked = drawn(one)
        answers = yield [one.decode([token_id]) for token_id, _ in asked]
        fine = True
        for (token_id, wanted), outcome in zip(asked, answers, strict=True):
            what, stage = f"the token {token_id}", "decode"
            if wanted is None:
                what, stage = f"the id {token_id}, which is no token's,", "unknown-id"
            right = Part((what,), Encoded((token_id,), text=wanted or b""))
            blamed, fine = not fine, fine and lawful(outcome, wanted)
            one.expect(stage, right, outcome, lawful=blamed or fine)  # one an input says enough


def drawn(one: Subject) -> list[tuple[int, bytes | None]]:
    """The ids that an input stands for, with the token's bytes, or None for no token's.

    Whatever the input, -1 and the first number past all tokens are among them, so that what goes
    wrong with these is minimised to the empty input. Tokens are, where their bytes come back.
    """
    vocabulary = one.vocabulary
    past, far = first_past(vocabulary), zlib.crc32(one.data)
    unknown = [-1, past, -1 - far % past, past + far % (LIMIT - past)]
    found: list[tuple[int, bytes | None]] = [(i, None) for i in dict.fromkeys(unknown)]
    if not verbatim(one.contract):
        return found
    special = special_numbers(vocabulary)
    for number in numbers_in(one.data, MOST_IDS):
        token_id = number % len(vocabulary)
        token = vocabulary.tokens[token_id]
        if token is not None and token_id not in special:
            found.append((token_id, vocabulary.spelling(token_id)))
    return found


def lawful(outcome: Outcome, wanted: bytes | None) -> bool:
    """Whether decoding one id gave what it may."""
    if wanted is None:
        if isinstance(outcome, Encoded):
            text = (outcome.text or b"").replace(REPLACEMENT, b"").strip()
            return not text or any(b"%d" % token_id in text for token_id in outcome.ids)
        # An error of its own is how libraries refuse a number; a panic is none.
        return not isinstance(outcome, Failed) or outcome.status is Status.ERRORED
    if not isinstance(outcome, Encoded):
        return isinstance(outcome, Unsupported)  # of which nothing is said
    return outcome.text in {wanted, wanted.decode("utf-8", "replace").encode()}
