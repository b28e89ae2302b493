"""Stages of WordPiece: what parts two encodings, from the words down to their pieces."""

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks.base import Violation
from harness.contracts import Contract
from harness.diagnosis import stage_of
from harness.outcomes import Encoded
from harness.partition import Part
from impls.interface import Mode

TOY = resolve("toy_wordpiece")
IDS = {text.decode(): token_id for token_id, text in enumerate(TOY.tokens) if text} | dict(
    TOY.special_tokens
)


@pytest.mark.parametrize(
    ("one", "other", "stage"),
    [
        ("aba", "ab ##a", "pieces"),
        ("aba", "a ba_", "unknown-id"),
        ("a ##a", "a a", "words"),
        ("a", "a ##a", "normalization"),
        ("[UNK]", "ab ##ac", "unknown"),
        ("[UNK]", "[UNK] ab", "normalization"),
        ("a", "[CLS] a", "special-tokens"),
    ],
)
def test_stages_of_wordpiece(one: str, other: str, stage: str) -> None:
    contract = Contract(TOY, Mode(), (), frozenset(), {}, proper=True)
    first, second = (
        Encoded(tuple(IDS.get(text, 999) for text in texts.split())) for texts in (one, other)
    )
    parts = (Part(("a",), first), Part(("b",), second))
    assert contract.algorithm == "wordpiece"
    assert stage_of(Violation("equivalence", 0, b"", parts, ("b",)), contract) == stage
