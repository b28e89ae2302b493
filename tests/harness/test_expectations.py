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


@pytest.fixture
def entry(tmp_path):
    (entry,) = load(written(tmp_path, ENTRY))
    return entry


def test_an_entry(entry):
    assert entry.examples == (b"a b", b"\xff\x00")
    assert entry.reason == "doubles"
    assert entry.covers("equivalence/unigram/text/tie/more/tokenizers", "unigram_nfkc")
    assert not entry.covers("equivalence/unigram/text/tie/more/mine", "unigram_nfkc")
    assert not entry.covers("equivalence/unigram/text/tie/more/tokenizers", "tekken_240911")


def test_an_entry_applies_by_versions(entry):
    assert entry.applies(VERSIONS)
    assert not entry.applies({**VERSIONS, "tokenizers": "0.19.1"})
    assert not entry.applies({"tokenizers": "0.23.3"})


def test_an_entry_expires_after_its_day(entry):
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
        (ENTRY.replace('"uni*"', "3"), "vocabulary: expected `str`, got `int`"),
        (ENTRY.replace('"https://example.org"', "3"), r"link: expected `str \| null`, got `int`"),
        (ENTRY + "versions = 1\n", "unknown field 'versions'"),
        (ENTRY.replace('reason = "doubles"', ""), "missing required field `reason`"),
        (
            ENTRY.replace(">=0.20,<1", "new"),
            "implementations.*: version range 'new' is not PEP 440",
        ),
        (ENTRY.replace("ff00", "xyz"), "is not hexadecimal"),
        (ENTRY.replace('["a b"', "[3"), "neither a text nor"),
        (ENTRY.replace("2027-06-30", '"soon"'), "expires: "),
    ],
)
def test_a_file_at_fault_is_named_in_one_line(tmp_path, text, fault):
    path = written(tmp_path, text)
    with pytest.raises(ExpectationsError, match=fault) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value).strip()


def test_no_file(tmp_path):
    with pytest.raises(ExpectationsError, match="check the path"):
        load(tmp_path / "none.toml")


def embedded_alone(entry):
    """Whether an entry stands for embedded vocabularies and for none of a user's."""
    return not entry.vocabulary.startswith(("*", "random:"))


def test_the_shipped_file_is_explained():
    for entry in load(SHIPPED):
        # Which texts show it is another matter on each vocabulary of a user's.
        assert entry.examples or not embedded_alone(entry), entry.bucket
        assert entry.link, entry.bucket
        assert len(entry.bucket.split("/")) == 6, entry.bucket
        assert len(entry.reason) > 40, entry.bucket
