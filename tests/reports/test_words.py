"""Titles of findings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.words import title
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
    wanted = f"tokenizers disagrees with sentencepiece {words}"
    assert title(replace(finding, bucket=bucket)) == wanted
