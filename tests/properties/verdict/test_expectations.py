"""The expectations file: what it covers, and what is said of one that is at fault."""

import datetime

import pytest
from packaging.specifiers import SpecifierSet

from harness.verdict.expectations import SHIPPED, ExpectationsError, in_range, load

ENTRY = """
[[expected]]
bucket = "equivalence/unigram/text/tie/*/tokenizers"
vocabulary = "uni*"
examples = ["a b", { hex = "ff00" }]
implementations = { tokenizers = ">=0.20,<1", sentencepiece = "*" }
reason = "doubles"
link = "https://example.org"
expires = 2027-06-30
"""
VERSIONS = {"tokenizers": "0.23.3", "sentencepiece": "0.2.3"}


def written(tmp_path, text):
    path = tmp_path / "expected.toml"
    path.write_text(text)
    return path


def test_an_entry_covers_by_pattern_applies_by_version_and_expires_after_its_day(tmp_path):
    (entry,) = load(written(tmp_path, ENTRY))
    assert (entry.examples, entry.reason) == ((b"a b", b"\xff\x00"), "doubles")
    tie = "equivalence/unigram/text/tie/more/"
    for covered, bucket, vocabulary in (
        (True, f"{tie}tokenizers", "unigram_nfkc"),
        (False, f"{tie}mine", "unigram_nfkc"),
        (False, f"{tie}tokenizers", "tekken_240911"),
    ):
        assert entry.covers(bucket, vocabulary) is covered
    assert entry.applies(VERSIONS)
    assert not entry.applies({**VERSIONS, "tokenizers": "0.19.1"})
    assert not entry.applies({"tokenizers": "0.23.3"})
    assert not entry.expired(datetime.date(2027, 6, 30))
    assert entry.expired(datetime.date(2027, 7, 1))


@pytest.mark.parametrize(
    ("version", "allowed", "holds"),
    [
        ("1.2.3", ">=1,<2", True),
        ("2.0", ">=1,<2", False),
        ("2.0rc1", ">=2.0rc1", True),
        ("built yesterday", "", True),
        ("built yesterday", ">=1", False),
    ],
)
def test_ranges(version, allowed, holds):
    assert in_range(version, SpecifierSet(allowed)) == holds


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[expected]\n", "not valid TOML"),
        ("[other]\n", "unknown table 'other'"),
        ("expected = [1]\n", r"write \[\[expected\]\]"),
        (ENTRY.replace('["a b", { hex = "ff00" }]', "1"), "examples: expected `array`, got `int`"),
        (ENTRY + "versions = 1\n", "unknown field 'versions'"),
        (ENTRY.replace('reason = "doubles"', ""), "missing required field `reason`"),
        (
            ENTRY.replace(">=0.20,<1", "new"),
            "implementations.*: version range 'new' is not PEP 440",
        ),
        (ENTRY.replace("ff00", "xyz"), "is not hexadecimal"),
        (ENTRY.replace('["a b"', "[3"), "neither a text nor"),
        (ENTRY.replace("2027-06-30", '"soon"'), "expires: "),
        (None, "check the path"),
    ],
)
def test_a_file_at_fault_is_named_in_one_line(tmp_path, text, fault):
    path = written(tmp_path, text) if text else tmp_path / "none.toml"
    with pytest.raises(ExpectationsError, match=fault) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value).strip()


def test_the_shipped_file_is_explained():
    for entry in load(SHIPPED):
        # Which texts show it is another matter on each vocabulary of a user's.
        assert entry.examples or entry.vocabulary.startswith(("*", "random:")), entry.bucket
        assert entry.link, entry.bucket
        assert len(entry.bucket.split("/")) == 6, entry.bucket
        assert len(entry.reason) > 40, entry.bucket
