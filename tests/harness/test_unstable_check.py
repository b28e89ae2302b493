"""Ids that are called stable stay, and completions go on from them; what does not is found."""

from __future__ import annotations

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.core.messages import numbers_of, sequences_in
from harness.studies.selftest.catalog import mistakes
from tests.harness.test_service_checks import RAW, TEXT, Local

INPUTS = [b"", b"the then", b"a  ", "日本 é".encode(), b"text number 1, of which the end is told"]


def test_stable_ids_and_completions_travel_as_numbers() -> None:
    parts = [(1, 2), (), (3,)]
    assert sequences_in(numbers_of(parts)) == parts


def test_tiktoken_keeps_what_it_calls_stable() -> None:
    local = Local(resolve("toy_bytes"), ["tiktoken", "bpe.naive"], TEXT)
    judgement = local.examine(CHECKS["unstable"], INPUTS)
    assert judgement.exercised == {"tiktoken": 5}
    assert not judgement.violations


def test_of_a_large_batch_some_are_asked_wherever_they_stand() -> None:
    local = Local(resolve("toy_bytes"), ["tiktoken"], TEXT)
    inputs = [b"text number %d" % number for number in range(200)]
    counts = {
        local.examine(CHECKS["unstable"], order).exercised["tiktoken"]
        for order in (inputs, inputs[::-1])
    }
    assert len(counts) == 1
    assert counts < set(range(1, 30))


@pytest.mark.parametrize(
    ("name", "stage"),
    [("calls-all-stable", "stable"), ("completes-one-byte-less", "completion")],
)
def test_a_wrong_answer_is_named(name: str, stage: str) -> None:
    mistake = mistakes()[f"ways.{name}"]
    local = Local(resolve(mistake.vocabulary), [mistake.spec], RAW)
    judgement = local.examine(CHECKS["unstable"], INPUTS)
    assert {(one.check, one.stage) for one in judgement.violations} == {("unstable", stage)}
    assert b"" not in {one.data for one in judgement.violations}
