"""Titles of findings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.blocks.units import plural
from reports.words import spoken, title
from tests.reports import records


@pytest.mark.parametrize(
    ("bucket", "words"),
    [
        ("equivalence/unigram/text/normalization/Mn/tokenizers", "(normalization: Mn)"),
        ("equivalence/unigram/text/another-stage/Mn/tokenizers", "(normalization)"),
        ("equivalence/normalization/double-space", "(normalization)"),
    ],
)
def test_a_title_tells_like_findings_apart(bucket: str, words: str) -> None:
    finding = next(f for f in records.three().findings if f.id == "f-expected")
    wanted = f"tokenizers normalizes otherwise than sentencepiece {words}"
    assert title(replace(finding, bucket=bucket)) == wanted


@pytest.mark.parametrize(
    ("stage", "culprits", "words"),
    [
        ("merges", ["mine"], "mine merges otherwise than tiktoken"),
        ("pre-tokens", ["a", "b"], "a and b split the text otherwise than tiktoken"),
        ("no-such-stage", list("abcdef"), "a, b, c and 3 others give other ids than tiktoken"),
    ],
)
def test_a_headline_says_what_is_done_otherwise(
    stage: str, culprits: list[str], words: str
) -> None:
    parts = [records.group(["tiktoken"], b"aaa", 1), records.group(culprits, b"aaa", 2)]
    finding = records.found("f-1", b"aaa", culprits=culprits, stage=stage, partition=parts)
    assert spoken(finding) == words


def test_a_headline_is_short_however_many_agree() -> None:
    right = [f"other-{i}" for i in range(30)]
    parts = [records.group(right, b"aaa", 1), records.group(["mine"], b"aaa", 2)]
    finding = records.found("f-1", b"aaa", culprits=["mine"], stage="merges", partition=parts)
    assert spoken(finding) == "mine merges otherwise than other-0 and 29 others"


def test_the_verdict_names_the_worst_finding_with_its_severity() -> None:
    record = records.three()
    said = record.reason
    assert said.startswith(plural(len(record.unexpected), "unexpected finding"))
    assert "; the worst is crash: " in said
    assert "the worst" not in records.clean().reason
