"""What the families promise: pure in their arguments, of the size asked for, fresh by variant."""

from __future__ import annotations

import random
import re

import pytest

from corpora.families.base import Family, Shape, whole_characters
from corpora.families.catalog import FAMILIES, families
from corpora.vocabularies import sources
from corpora.vocabularies.model import Vocabulary

SIZES = (0, 1, 2, 5, 16, 100, 256, 1000, 4096)
VOCABULARIES = ("toy_bytes", "toy_acbb", "toy_unigram", "unigram_nfkc")


@pytest.fixture(scope="module", params=VOCABULARIES)
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    return sources.resolve(request.param)


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> Family:
    found: Family = request.param
    return found


def test_size_is_as_asked(family: Family, vocabulary: Vocabulary) -> None:
    for size in SIZES:
        for variant in (0, 7, 23):
            data = family.make(vocabulary, size, variant)
            assert size - 3 <= len(data) <= size
            if family.text:
                data.decode()


def test_makes_the_same_again(family: Family, vocabulary: Vocabulary) -> None:
    random.seed(1)
    first = family.make(vocabulary, 1000, 3)
    random.seed(2)
    assert family.make(vocabulary, 1000, 3) == first


def test_variants_are_fresh(family: Family) -> None:
    vocabulary = sources.resolve("unigram_nfkc")
    made = [family.make(vocabulary, 1000, variant) for variant in range(20)]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize(
    "name", ["prose", "long-word", "digits", "cjk", "random-text", "token-prefixes"]
)
def test_sizes_share_no_beginning(name: str) -> None:
    # What was encoded at one size must not be a help at the next.
    vocabulary = sources.resolve("unigram_nfkc")
    shorter = families()[name].make(vocabulary, 512, 0)
    assert not families()[name].make(vocabulary, 1024, 0).startswith(shorter[:64])


def test_cost_of_a_variant_is_the_same_at_all_sizes() -> None:
    vocabulary = sources.resolve("unigram_nfkc")
    for name in ("letter-run", "pair-run", "triple-run", "spaces-before-words"):
        for variant in range(5):
            short = families()[name].make(vocabulary, 300, variant)
            assert families()[name].make(vocabulary, 3000, variant).startswith(short)


def test_catalog_is_fit_to_print() -> None:
    assert len(families()) == len(FAMILIES) >= 14
    for name, family in families().items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert family.reason and "\n" not in family.reason and len(family.reason) <= 90


def test_only_what_the_vocabulary_spells() -> None:
    acbb = sources.resolve("toy_acbb")
    suited = {family.name for family in FAMILIES if family.suits(acbb)}
    assert {"letter-run", "pair-run", "triple-run", "long-word"} <= suited
    assert not {"cjk", "space-run", "invalid-utf8"} & suited
    for name in suited:
        for variant in range(24):
            assert acbb.can_encode(families()[name].make(acbb, 1000, variant))


def test_families_are_what_they_are_named() -> None:
    vocabulary = sources.resolve("toy_bytes")

    def made(name: str) -> bytes:
        return families()[name].make(vocabulary, 3000, 1)

    assert len(set(made("letter-run"))) == 1
    assert len(set(made("pair-run"))) == 2
    assert len(set(made("triple-run"))) == 3
    assert re.fullmatch(rb"[a-z]{2} +", made("space-run"))
    assert re.fullmatch(rb"[a-z]{2}\n+", made("newlines"))
    assert re.match(rb"( {90,127}[a-z]){5,}", made("spaces-before-words"))
    assert re.fullmatch(rb"[a-z]+", made("long-word"))
    assert re.fullmatch(rb"\d+", made("digits"))
    assert made("normalizer-expansion").decode().count("\ufdfa") > 900
    assert min(made("invalid-utf8")) >= 0x80
    with pytest.raises(UnicodeDecodeError):
        made("invalid-utf8").decode()


def test_shape_keeps_its_ends() -> None:
    shape = Shape(b"<", b"ab", b">")
    assert [shape.cut(size) for size in (0, 1, 2, 3, 6)] == [b"", b"<", b"<>", b"<a>", b"<abab>"]


def test_cut_spares_characters() -> None:
    assert Shape(b"", "é".encode()).cut(5) == "éé".encode()
    assert Shape(b"", "é".encode()).cut(5, text=False) == "ééé".encode()[:5]
    assert whole_characters("é€".encode()[:4], "€".encode()[2:]) == "é".encode()
