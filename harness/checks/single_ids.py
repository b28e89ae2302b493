"""Single ids: each token decoded alone, and numbers that are no token's."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harness.checks.again import Asked, AsksAgain
from harness.checks.base import (
    REPLACEMENT,
    Fault,
    Observation,
    Probe,
    Script,
    Severity,
    Shows,
    decoders,
    packed,
    stage_of,
)
from harness.checks.round_trip import rewrites
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Failed, Outcome, Results, Status, Unsupported
from harness.core.partition import Part
from impls.interface import Capability

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

MOST_IDS = 8
"""Tokens drawn for one input."""

ID_BYTES = 3
"""Each token that is asked takes so many bytes of an input, so that what is taken out of the input
takes tokens out."""

LIMIT = 1 << 31
"""Ids travel as 32 bits with a sign."""


Single = tuple[int, int, "bytes | None"]
"""The index of an input, an id, and its token's bytes (None: it is no token's)."""


class SingleIds(AsksAgain[Single]):
    """For each token t with id i: decode(i) = t, or t with U+FFFD in place of what is not UTF-8.
    For each i that is no token's, be it negative or past the last one: decode(i) is an error, or
    no text, or U+FFFD, or a text that names the number, and never that of another token. Neither
    ends the process.

    The first is asked where decoding does not rewrite the text, and not of special tokens, which
    some decoders leave out. Ids are drawn from the bytes of the input. It is asked of each
    implementation by itself: a server decodes what a model says, which is no encoding of any text.
    """

    name = "single-ids"
    summary = (
        "each id decodes to its token; a number that is no token's, to no other token's text, and"
        " it ends no process"
    )
    severity = Severity.TEXT
    said = "decoded a single id wrongly"
    every = 12
    needs = (Capability.DECODE,)
    script = Script(Shows.ANOTHER_TEXT, "decode")

    def asked(self, seen: Observation) -> Iterator[Asked[Single]]:
        """Decode each of the ids by itself."""
        contract = seen.contract
        exact = not rewrites(contract)
        rows = [
            (index, token_id, wanted)
            for index, data in enumerate(seen.inputs)
            for token_id, wanted in drawn(data, contract.vocabulary, exact=exact)
        ]
        request = Decode(*packed([[token_id] for _, token_id, _ in rows]))
        for name in decoders(seen) if rows else ():
            yield Asked(name, rows, [Probe(name, request)])

    def compared(
        self, seen: Observation, one: Asked[Single], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare each text with the token's."""
        blamed: set[int] = set()
        for row, (index, token_id, wanted) in enumerate(one.rows):
            outcome = answers[0].outcome(row)
            if isinstance(outcome, Unsupported):
                continue
            if index in blamed or lawful(outcome, wanted):
                yield index, None
                continue
            blamed.add(index)  # one violation an input says enough
            known = wanted is not None
            what = f"the token {token_id}" if known else f"the id {token_id}, which is no token's,"
            right = Encoded((token_id,), text=wanted or b"")
            stage = stage_of(outcome, "decode" if known else "unknown-id")
            yield index, (stage, (Part((what,), right), Part((one.name,), outcome)))


def drawn(data: bytes, vocabulary: Vocabulary, *, exact: bool) -> list[tuple[int, bytes | None]]:
    """The ids that an input stands for, with the token's bytes, or None for no token's.

    Whatever the input, -1 and the first number past all tokens are among them, so that what goes
    wrong with these is minimised to the empty input. exact: with tokens, whose bytes are known.
    """
    past = first_past(vocabulary)
    far = zlib.crc32(data)
    unknown = [-1, past, -1 - far % past, past + far % (LIMIT - past)]
    found: list[tuple[int, bytes | None]] = [(i, None) for i in dict.fromkeys(unknown)]
    if not exact:
        return found
    size = len(vocabulary)
    special = set(vocabulary.special_tokens.values())
    for place in range(0, min(len(data), MOST_IDS * ID_BYTES), ID_BYTES):
        token_id = int.from_bytes(data[place : place + ID_BYTES], "big") % size
        token = vocabulary.tokens[token_id]
        if token is not None and token_id not in special:
            found.append((token_id, vocabulary.spelling(token_id)))
    return found


def first_past(vocabulary: Vocabulary) -> int:
    """The first number past the ids of all tokens, special and added ones included."""
    ids = [*vocabulary.special_tokens.values(), *(token.id for token in vocabulary.added_tokens)]
    return max(len(vocabulary), 1 + max(ids, default=-1))


def lawful(outcome: Outcome, wanted: bytes | None) -> bool:
    """Whether decoding one id gave what it may."""
    if wanted is None:
        if isinstance(outcome, Encoded):
            text = (outcome.text or b"").replace(REPLACEMENT, b"").strip()
            return not text or any(b"%d" % token_id in text for token_id in outcome.ids)
        # An error of its own is how libraries refuse a number; a panic is none.
        return not isinstance(outcome, Failed) or outcome.status is Status.ERRORED
    if not isinstance(outcome, Encoded):
        return False
    return outcome.text in {wanted, wanted.decode("utf-8", "replace").encode()}
