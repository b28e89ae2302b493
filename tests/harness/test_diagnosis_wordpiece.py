"""Stages of WordPiece: what parts two encodings, from the words down to their pieces."""

from dataclasses import replace

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded
from harness.core.partition import Part
from harness.findings.diagnosis import stage_of
from impls.interface import Mode
from tests.harness.samples import participant

TOY = resolve("toy_wordpiece")
IDS = {text.decode(): token_id for token_id, text in enumerate(TOY.tokens) if text} | dict(
    TOY.special_tokens
)


@pytest.mark.parametrize(
    ("one", "other", "stage", "seen"),
    [
        ("aba", "ab ##a", "pieces", "ids"),
        ("aba", "a ba_", "unknown-id", "unknown-id"),
        ("a ##a", "a a", "words", "ids"),
        ("a", "a ##a", "normalization", "text"),
        ("[UNK]", "ab ##ac", "unknown", "unknown"),
        ("[UNK]", "[UNK] ab", "normalization", "text"),
        ("a", "[CLS] a", "special-tokens", "special-tokens"),
    ],
)
@pytest.mark.parametrize("culprit", ["llama.cpp", "black-box"])
def test_stages_of_wordpiece(one: str, other: str, stage: str, seen: str, culprit: str) -> None:
    """``seen``: what is said of an implementation whose inside is not known."""
    members = (
        participant("tokenizers"),
        participant("llama.cpp"),
        replace(participant("tokenizers"), name="black-box", spec="mine.py:Mine"),
    )
    references = frozenset({"tokenizers"})
    contract = Contract(TOY, Mode(), members, references, {}, proper=True)
    first, second = (
        Encoded(tuple(IDS.get(text, 999) for text in texts.split())) for texts in (one, other)
    )
    parts = (Part(("tokenizers",), first), Part((culprit,), second))
    assert contract.algorithm == "wordpiece"
    said = stage_of(Violation("equivalence", 0, b"", parts, (culprit,)), contract)
    assert said == (seen if culprit == "black-box" else stage)


@pytest.mark.parametrize(("one", "other", "seen"), [("a b", "ab", "ids"), ("a", "ab", "text")])
def test_of_a_file_that_its_readers_alone_know_it_is_said_what_can_be_seen(
    one: str, other: str, seen: str
) -> None:
    vocabulary = resolve("toy_file_subwords")
    members = tuple(map(participant, ("tokenizers", "pipeline.huggingface")))
    contract = Contract(vocabulary, Mode(), members, frozenset({"tokenizers"}), {}, proper=True)
    ids = [
        Encoded(tuple(vocabulary.ids[text.encode()] for text in x.split())) for x in (one, other)
    ]
    parts = (Part(("tokenizers",), ids[0]), Part(("pipeline.huggingface",), ids[1]))
    violation = Violation("equivalence", 0, b"", parts, ("pipeline.huggingface",))
    assert stage_of(violation, contract) == seen
