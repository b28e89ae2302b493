"""Cleaned spaces: decoded for a person, a text loses the spaces that English has not, no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm
from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    decoders,
    encoded_indices,
    packed,
)
from harness.checks.round_trip import decoding_stage
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Results, Unsupported
from harness.core.partition import Part
from impls.interface import Capability

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

REPLACED = (
    (b" .", b"."),
    (b" ?", b"?"),
    (b" !", b"!"),
    (b" ,", b","),
    (b" ' ", b"'"),
    (b" n't", b"n't"),
    (b" 'm", b"'m"),
    (b" 's", b"'s"),
    (b" 've", b"'ve"),
    (b" 're", b"'re"),
)
"""What becomes of what, in this order, from left to right each."""


class CleanUp(Check):
    """For ids t = encode(x) and y = decode(t): decode_cleaned(t) = clean(y), or for byte-pair
    encoding y itself, where clean takes the space away before each of . ? ! , n't 'm 's 've 're,
    and both around ', in this order.

    Of decoders that clean spaces up (``CleansSpaces``), as the option
    ``clean_up_tokenization_spaces`` of transformers does: it was made for WordPiece, and newer
    releases leave a text of byte-pair encoding alone, since that loses spaces of its own by it.
    """

    name = "clean-up"
    summary = "decoded with its spaces cleaned up, a text loses those before punctuation alone"
    severity = Severity.TEXT
    said = "cleaned spaces up that belong to the text, or left others"
    every = 12
    needs = (Capability.DECODE,)

    def probes(self, seen: Observation) -> list[Probe]:
        """The texts with their spaces cleaned up."""
        return [
            Probe(name, Decode(*packed(ids_of(seen.results[name], rows)), clean=True))
            for name, rows in asked(seen)
        ]

    def follow_ups(self, seen: Observation, answers: Sequence[Results]) -> list[Probe]:
        """The texts as they are, of those who clean up."""
        return [
            Probe(name, Decode(*packed(ids_of(seen.results[name], rows))))
            for name, rows, _ in cleaning(seen, answers)
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Clean the texts by the rule, and compare."""
        judgement = Judgement()
        who = cleaning(seen, answers)
        plain = answers[len(answers) - len(who) :]
        for (name, rows, cleaned_up), as_it_is in zip(who, plain, strict=True):
            for row, index in enumerate(rows):
                decoded, outcome = as_it_is.outcome(row), cleaned_up.outcome(row)
                if not isinstance(decoded, Encoded) or isinstance(outcome, Unsupported):
                    continue  # a decoder that fails by itself is the round trip's
                judgement.exercised[name] += 1
                lawful = texts_of(seen.contract.vocabulary, decoded.text or b"")
                if isinstance(outcome, Encoded) and outcome.text in lawful:
                    continue
                right = Encoded(decoded.ids, text=lawful[0])
                parts = (
                    Part((f"{name} (cleaned up by the rule)",), right),
                    Part((f"{name} (cleaning up)",), outcome),
                )
                data, stage = seen.inputs[index], decoding_stage(outcome)
                judgement.violations.append(
                    Violation(self.name, index, data, parts, (name,), stage)
                )
        return judgement


def cleaned(text: bytes) -> bytes:
    """A text with its spaces cleaned up."""
    for spaced, clean in REPLACED:
        text = text.replace(spaced, clean)
    return text


def texts_of(vocabulary: Vocabulary, text: bytes) -> list[bytes]:
    """What a text may be once it is cleaned up, the text by the rule first."""
    return [cleaned(text), *([text] if vocabulary.algorithm is Algorithm.BPE else [])]


def asked(seen: Observation) -> list[tuple[str, list[int]]]:
    """By decoder the inputs that it encodes."""
    rows = {name: encoded_indices(seen.results[name]) for name in decoders(seen)}
    return [(name, some) for name, some in rows.items() if some]


def ids_of(results: Results, rows: Sequence[int]) -> list[list[int]]:
    """The ids of some inputs."""
    return [results.ids_of(index) for index in rows]


def cleaning(seen: Observation, answers: Sequence[Results]) -> list[tuple[str, list[int], Results]]:
    """The decoders that clean up: their inputs and what they made of them."""
    return [
        (name, rows, answer)
        for (name, rows), answer in zip(asked(seen), answers, strict=False)
        if not isinstance(answer.outcome(0), Unsupported)
    ]
