"""Special tokens that are added stand around the ids of a text, and a wrong place is found."""

from __future__ import annotations

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.template import framed, frames
from harness.studies.selftest.catalog import mistakes
from tests.harness.test_service_checks import RAW, TEXT, Local

INPUTS = [b"", b"a", b" ", b"text number 1 ", "日本 é".encode()]


def test_what_may_have_been_added() -> None:
    assert frames((1, 7, 2), [(7,)]) == {((1,), (2,))}
    assert frames((7, 7), [(7,)]) == {((), (7,)), ((7,), ())}
    assert frames((1, 7, 2, 7, 7, 3), [(7,), (7, 7)]) == {((1,), (2,), (3,))}
    assert frames((1, 2), [(7,)]) == set()
    assert framed(((1,), (2,), (3,)), [(8, 9), ()]) == (1, 8, 9, 2, 3)


def test_libraries_add_theirs_around_the_text() -> None:
    local = Local(resolve("mistral_v1"), ["sentencepiece", "tokenizers", "mistral-common"], TEXT)
    judgement = local.examine(CHECKS["template"], INPUTS)
    # Pairs are known to one of the three.
    assert judgement.exercised == {"sentencepiece": 5, "tokenizers": 10, "mistral-common": 5}
    assert not judgement.violations


def test_a_token_that_is_lost_is_named() -> None:
    mistake = mistakes()["ways.adds-the-end-once"]
    local = Local(resolve(mistake.vocabulary), [mistake.spec], RAW)
    judgement = local.examine(CHECKS["template"], INPUTS)
    assert {(one.check, one.stage) for one in judgement.violations} == {("template", "template")}
    assert {one.data for one in judgement.violations} == {b" ", b"text number 1 "}


def test_who_adds_others_than_the_library_of_the_file_is_named() -> None:
    family = "file_endings"
    names = ("ends-with-the-beginning", "second-text-first", "pair-as-two-texts")
    told = [mistakes()[f"{family}.{name}"] for name in names]
    local = Local(resolve(told[0].vocabulary), ["tokenizers", *(one.spec for one in told)], TEXT)
    judgement = local.examine(CHECKS["template"], INPUTS)
    found = {name for one in judgement.violations for name in one.culprits}
    assert found == {one.name for one in told}


def test_who_reads_a_file_adds_what_its_library_adds() -> None:
    for name in ("toy_file_words", "toy_file_subwords"):
        local = Local(resolve(name), ["tokenizers", "pipeline.huggingface"], TEXT)
        judgement = local.examine(CHECKS["template"], INPUTS)
        assert judgement.exercised.total() == 4 * len(INPUTS)
        assert not judgement.violations
