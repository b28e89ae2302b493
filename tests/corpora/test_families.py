"""What the families promise: pure in their arguments, of the size asked for, fresh by variant."""

import random
import re
import unicodedata

import pytest

from corpora.families import drawn_from
from corpora.families.base import Family
from corpora.families.catalog import FAMILIES, TELLING, families
from corpora.families.pattern import WIDEST, drawn, repeated
from corpora.families.recipes import VARIANTS
from corpora.vocabularies import sources
from impls.unigram.charsmap import load_charsmap

SIZES = (0, 1, 2, 5, 16, 100, 256, 1000, 4096)
VOCABULARIES = ("toy_bytes", "unigram_nfkc", "toy_acbb", "toy_unigram", "toy_wordpiece")
SHORTER = WIDEST * VARIANTS
"""Bytes by which an input may be shorter than asked for: a variant, and a cut character."""


@pytest.fixture(scope="module", params=VOCABULARIES)
def vocabulary(request):
    return sources.resolve(request.param)


def suiting(vocabulary):
    """The families that there are of a vocabulary: the others say so."""
    for family in FAMILIES:
        recipe = family.recipe(vocabulary)
        if recipe is not None:
            yield family, recipe
        else:
            assert not family.suits(vocabulary)


def test_size_is_as_asked(vocabulary):
    for family, recipe in suiting(vocabulary):
        for size in SIZES:
            for variant in (0, 7, 23, VARIANTS - 1):
                data = family.make(vocabulary, size, variant)
                assert size - SHORTER <= len(data) <= size, family.name
                if getattr(recipe, "text", True):
                    data.decode()
            assert len(family.make(vocabulary, size, 0)) >= size - 3, family.name


def test_makes_the_same_again(vocabulary):
    for family, _ in suiting(vocabulary):
        random.seed(1)
        first = family.make(vocabulary, 1000, 3)
        random.seed(2)
        assert family.make(vocabulary, 1000, 3) == first, family.name


def test_the_line_of_python_makes_it(vocabulary):
    for family, _ in suiting(vocabulary):
        line = family.expression(vocabulary)
        assert "\n" not in line
        for size in (100, 1000, 4096):
            made = eval(line, {"random": random, "n": size})
            assert made == family.make(vocabulary, size, 0), family.name


def test_variants_are_fresh(vocabulary):
    for family, _ in suiting(vocabulary):
        made = [family.make(vocabulary, 1000, variant) for variant in range(VARIANTS)]
        # A character of two bytes is cut at every other of them.
        assert len(set(made)) >= VARIANTS // 2, family.name
        assert len({len(data) for data in made}) > 1 or len(set(made)) == VARIANTS, family.name


@pytest.mark.parametrize("name", ["prose", "long-word", "digits", "cjk", "random-text"])
def test_sizes_share_no_beginning(name):
    # What was encoded at one size must not be a help at the next.
    vocabulary = sources.resolve("unigram_nfkc")
    shorter = families()[name].make(vocabulary, 512, 0)
    assert not families()[name].make(vocabulary, 1024, 0).startswith(shorter[:64])


def test_the_users_own_come_early_and_may_replace():
    mine = Family("mine", "seen at work", lambda vocabulary: repeated(b"xy"))
    runs = Family("letter-run", "another letter", lambda vocabulary: repeated(b"z"))
    found = families([mine, runs])
    assert list(found).index("mine") == len(TELLING)
    assert found["letter-run"] is runs
    assert len(found) == len(FAMILIES) + 1


def test_only_what_the_vocabulary_spells():
    acbb = sources.resolve("toy_acbb")
    suited = {family.name for family in FAMILIES if family.suits(acbb)}
    assert {"letter-run", "pair-run", "triple-run", "long-word", "merge-chain"} <= suited
    assert not {"cjk", "newlines", "invalid-utf8", "special-tokens"} & suited
    for name in suited:
        for variant in range(24):
            assert acbb.can_encode(families()[name].make(acbb, 1000, variant))


def test_what_a_vocabulary_lacks_is_said():
    with pytest.raises(ValueError, match="toy_acbb has nothing to make charsmap-prefixes of"):
        families()["charsmap-prefixes"].make(sources.resolve("toy_acbb"), 100, 0)


def test_families_are_what_they_are_named():
    vocabulary = sources.resolve("toy_bytes")

    def made(name):
        return families()[name].make(vocabulary, 3000, 1)

    assert len(set(made("letter-run"))) == 1
    assert len(set(made("pair-run"))) == 2
    assert len(set(made("triple-run"))) == 3
    assert re.fullmatch(rb"([a-z])\1([a-z])\2", made("doubled-pair")[:4])
    assert re.fullmatch(rb"[a-z]{3} +", made("trailing-spaces"))
    assert re.fullmatch(rb" +[a-z]{3}", made("leading-spaces"))
    assert re.fullmatch(rb"\n+", made("newlines"))
    assert re.match(rb"( {127}[a-z]){5,}", made("spaces-before-words"))
    assert re.fullmatch(rb"[a-z]+", made("long-word"))
    assert re.fullmatch(rb"\d+", made("digits"))
    assert made("normalizer-expansion").decode().count("\ufdfa") > 900
    assert min(made("invalid-utf8")) >= 0x80
    out_of_order = made("marks-out-of-order").decode()
    assert unicodedata.normalize("NFC", out_of_order) != out_of_order
    for name in ("invalid-utf8", "byte-run", "continuations", "cut-characters", "surrogates"):
        with pytest.raises(UnicodeDecodeError):
            made(name).decode()


class TestFromAVocabulary:
    def test_prefixes_and_suffixes_are_of_tokens(self):
        vocabulary = sources.resolve("tekken_240911")
        known = [token for token in vocabulary.tokens if token]
        beginnings, ends = {t[:-1] for t in known}, {t[1:] for t in known}
        prefixes = drawn_from.token_prefixes(vocabulary)
        suffixes = drawn_from.token_suffixes(vocabulary)
        assert units(prefixes) <= beginnings
        assert units(suffixes) <= ends
        [longest] = units(drawn_from.longest_prefix(vocabulary))
        assert longest in beginnings
        assert longest not in vocabulary.ids

    def test_the_densest_lattice_has_more_edges_than_a_letter(self):
        vocabulary = sources.resolve("unigram_nfkc")
        known = {t.replace("\u2581".encode(), b" ") for t in vocabulary.tokens if t}

        def edges(data):
            return sum(
                data[i : i + length] in known
                for i in range(len(data))
                for length in range(1, 33)
                if i + length <= len(data)
            )

        dense = families()["densest-lattice"].make(vocabulary, 600, 0)
        assert edges(dense) > edges(families()["prose"].make(vocabulary, 600, 0))
        assert edges(dense) >= edges(families()["letter-run"].make(vocabulary, 600, 0))

    def test_keys_of_the_charsmap(self):
        blob = sources.resolve("unigram_nfkc").normalizer.charsmap
        assert blob is not None
        keys = drawn_from.charsmap_keys(blob)
        # NFKC, as Unicode has it.
        expansion = keys["\ufdfa".encode()]
        assert expansion == len(unicodedata.normalize("NFKC", "\ufdfa").encode())
        assert keys["\uff21".encode()] == 1
        assert load_charsmap("", blob).growth >= max(v / len(k) for k, v in keys.items())
        longest = drawn_from.charsmap_prefixes(sources.resolve("unigram_nfkc"))
        assert all(any(key.startswith(part) for key in keys) for part in units(longest))


def units(recipe):
    assert recipe is not None
    return {unit for pump in recipe.pumps for unit in pump.units}


@pytest.mark.parametrize(
    "recipe",
    [
        repeated(b"a"),
        repeated("é€".encode(), prefix=b"<", suffix=b">"),
        repeated(b"\xff\xfe"),
        drawn((b"a", b"b", b"c")),
        drawn((b"a", "é".encode(), b"\n\n")),
        drawn((b"\xff", b"a")),
    ],
    ids=lambda recipe: recipe.expression()[:40],
)
def test_recipes(recipe):
    for size in (2, 3, 4, 5, 31, 64, 1023):
        made = recipe.make(size)
        assert eval(recipe.expression(), {"random": random, "n": size}) == made
        assert size - 3 <= len(made) <= size
        if getattr(recipe, "text", True):
            made.decode()
