"""Unstable ends: ids that are called sure of a text stay, whatever the text goes on with."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
    ids_of,
)
from harness.checks.heal import shown, tokens
from harness.checks.heal_questions import STAND_INS, boundary, tails, tokens_of, whole
from harness.checks.serving import draw, unanswered
from harness.core.comparisons import Contract
from harness.core.messages import Encode, Unstable, unstable_parts
from harness.core.outcomes import Answered, Encoded, Inputs, Outcome, Results, Unsupported
from harness.core.partition import Part

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

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


class UnstableEnds(Check):
    """For (s, C) = encode_with_unstable(x) and x = y z with y = decode(s): for all w in W,
    encode(x w) begins with s; and decode(c) begins with z for all c in C.

    Of encoders that say which ids are sure while a text goes on (``EncodesUnstable``), as
    ``encode_with_unstable`` of tiktoken does. The sentences W complete tokens that the text's end
    begins, or are short and drawn from it; x is the beginning of an input.
    """

    name = "unstable"
    summary = "ids that are called stable stay whatever follows, and completions go on from them"
    severity = Severity.IDS
    said = "called ids stable that another end of the text changes"
    every = 12

    def applies(self, contract: Contract) -> bool:
        """Where ids spell the text, special tokens being text like any other."""
        vocabulary = contract.vocabulary
        return (
            contract.mode.special == "none" and not vocabulary.normalizes and not vocabulary.pieces
        )

    def probes(self, seen: Observation) -> list[Probe]:
        """What is stable of each text, and what may follow."""
        shape, mode = Unstable(COMPLETIONS), seen.contract.mode
        return [
            Probe(name, Encode(Inputs.of([text_of(seen, i) for i in rows]), mode, shape=shape))
            for name, rows in asked(seen)
        ]

    def follow_ups(self, seen: Observation, answers: Sequence[Results]) -> list[Probe]:
        """The texts gone on with, of those who say what is stable."""
        found = []
        for name, rows, _ in telling(seen, answers):
            texts = [text_of(seen, index) for index in rows]
            on = [text + way for text in texts for way in ways(seen.contract, text)]
            found.append(Probe(name, Encode(Inputs.of(on), seen.contract.mode)))
        return found

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Look for a text that takes a stable id away, and a completion of another one."""
        judgement = Judgement()
        who = telling(seen, answers)
        gone_on = answers[len(answers) - len(who) :]
        for (name, rows, encodings), encoded in zip(who, gone_on, strict=True):
            place = 0
            for row, index in enumerate(rows):
                text, outcome = text_of(seen, index), encodings.outcome(row)
                sentences = ways(seen.contract, text)
                after = [encoded.outcome(place + k) for k in range(len(sentences))]
                place += len(sentences)
                if isinstance(outcome, Unsupported):
                    continue
                judgement.exercised[name] += 1
                found = fault(seen.contract.vocabulary, name, text, outcome, sentences, after)
                if found is not None:
                    stage, parts = found
                    data = seen.inputs[index]
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), stage)
                    )
        return judgement


def asked(seen: Observation) -> list[tuple[str, list[int]]]:
    """By implementation the inputs that it encodes, of a large batch some."""
    one_in = 1 if len(seen.inputs) <= WHOLE else len(seen.inputs) // ASKED
    chosen = {i for i, data in enumerate(seen.inputs) if zlib.crc32(data) % one_in == 0}
    rows = {
        name: [index for index in encoded_indices(results) if index in chosen]
        for name, results in seen.results.items()
    }
    return [(name, some) for name, some in rows.items() if some]


def telling(seen: Observation, answers: Sequence[Results]) -> list[tuple[str, list[int], Results]]:
    """Those who say what is stable: their inputs, and what they said."""
    return [
        (name, rows, answer)
        for (name, rows), answer in zip(asked(seen), answers, strict=False)
        if not isinstance(answer.outcome(0), Unsupported)
    ]


def text_of(seen: Observation, index: int) -> bytes:
    """The beginning of an input, whole characters of it."""
    data = seen.inputs[index]
    return data[: boundary(data, LONGEST)]


def ways(contract: Contract, text: bytes) -> list[bytes]:
    """What a text goes on with."""
    some = [
        *tails(text, tokens_of(contract.vocabulary.tokens)),
        *draw(text).sample(STAND_INS, DRAWN),
    ]
    return [
        way for way in dict.fromkeys(some) if not contract.mode.pretokenize or whole(text + way)
    ]


def fault(
    vocabulary: Vocabulary,
    name: str,
    text: bytes,
    outcome: Outcome,
    sentences: Sequence[bytes],
    after: Sequence[Outcome],
) -> tuple[str, tuple[Part, ...]] | None:
    """The stage and the parts of a violation, or None. after: the encodings of the sentences."""
    if not isinstance(outcome, Encoded):
        return unanswered(name, "unstable", outcome)

    def against(law: str, wrong: str, who: str) -> tuple[Part, ...]:
        said = Answered(f"{wrong} of {shown(text)}")
        return (Part((who,), Answered(law)), Part((f"{name} (stable)",), said))

    stable, completions = unstable_parts(outcome.ids)
    spelled = spelling(vocabulary, stable)
    if spelled is None or not text.startswith(spelled):
        law = "what is stable spells the beginning of the text"
        return "spelling", against(law, f"stable are {tokens(vocabulary, stable)}", "the rule")
    rest = text[len(spelled) :]
    for completion in completions:
        further = spelling(vocabulary, completion)
        if further is None or not further.startswith(rest):
            law = f"each completion spells {shown(rest)}, and may go on"
            wrong = f"a completion is {tokens(vocabulary, completion)}"
            return "completion", against(law, wrong, "the rule")
    for way, right in zip(sentences, after, strict=True):
        given = ids_of(right)
        if isinstance(right, Encoded) and given[: len(stable)] != stable:
            part = next(
                i for i, (a, b) in enumerate(zip((*given, -1), stable, strict=False)) if a != b
            )
            there = tokens(vocabulary, given[part : part + 1])
            law = f"token {part} is {there} when the text goes on with {shown(way)}"
            wrong = f"stable is {tokens(vocabulary, stable[part : part + 1])}"
            return "stable", against(law, wrong, f"{name} (encode)")
    return None


def spelling(vocabulary: Vocabulary, ids: Sequence[int]) -> bytes | None:
    """What ids spell; None where one is no token."""
    try:
        return vocabulary.spell(list(ids))
    except KeyError:
        return None
