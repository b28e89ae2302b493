"""Spaces are cleaned up by the rule, and what another rule makes of them is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpora.vocabularies.model import Algorithm
from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.clean_up import cleaned, texts_of
from harness.studies.selftest.catalog import mistakes
from tests.harness.test_service_checks import RAW, TEXT, Local

INPUTS = [b"", b"a , b .", b"a  b", b"do n't", "日本 é".encode()]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (b" a . b ?! c ! , d", b" a. b?! c!, d"),
        (b"it 's I 'm we 've they 're do n't", b"it's I'm we've they're don't"),
        (b"rock ' n ' roll", b"rock'n'roll"),
        (b"a  .", b"a ."),
        (b" ; a\n. b", b" ; a\n. b"),
    ],
)
def test_the_rule(text: bytes, clean: bytes) -> None:
    assert cleaned(text) == clean


def test_a_text_of_byte_pair_encoding_may_stay_as_it_is() -> None:
    vocabulary = resolve("toy_bytes")
    assert texts_of(vocabulary, b"a .") == [b"a.", b"a ."]
    assert texts_of(replace(vocabulary, algorithm=Algorithm.WORDPIECE), b"a .") == [b"a."]


def test_who_cleans_nothing_up_is_not_judged() -> None:
    judgement = Local(resolve("toy_bytes"), ["tiktoken"], TEXT).examine(CHECKS["clean-up"], INPUTS)
    assert not judgement.exercised


def test_a_space_that_is_lost_is_named() -> None:
    mistake = mistakes()["ways.joins-spaces"]
    local = Local(resolve(mistake.vocabulary), [mistake.spec], RAW)
    judgement = local.examine(CHECKS["clean-up"], INPUTS)
    assert judgement.exercised == {"ways.joins-spaces": 5}
    assert [(one.check, one.stage, one.data) for one in judgement.violations] == [
        ("clean-up", "decode", b"a  b")
    ]
