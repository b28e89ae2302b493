"""What the families promise: pure in their arguments, of the size asked for, fresh by variant."""

import random
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.families import drawn_from
from corpora.families.base import Family
from corpora.families.catalog import FAMILIES, TELLING, families
from corpora.families.pattern import WIDEST, Pattern, Pump, repeated
from corpora.families.recipes import VARIANTS
from corpora.generators.material import is_text
from corpora.vocabularies.sources import resolve
from impls.unigram.charsmap import load_charsmap

VOCABULARIES = ("toy_bytes", "unigram_nfkc", "toy_acbb", "toy_unigram", "toy_wordpiece")
SHORTER = WIDEST * VARIANTS
"""Bytes by which an input may be shorter than asked for: a variant, and a cut character."""


def check_recipe(recipe, sizes):
    """Sizes are as asked for, the line of Python makes the same, and variants are fresh."""
    text = getattr(recipe, "text", True)
    line = recipe.expression()
    assert "\n" not in line
    for size in sizes:
        for variant in (0, 7, VARIANTS - 1):
            data = recipe.make(size, variant)
            assert size - SHORTER <= len(data) <= size
            assert not text or is_text(data)
        first = recipe.make(size, 0)
        assert len(first) >= size - 3
        random.seed(size)
        assert recipe.make(size, 0) == first
        if size >= 100:
            assert eval(line, {"random": random, "n": size}) == first
    made = [recipe.make(1000, variant) for variant in range(VARIANTS)]
    # A character of two bytes is cut at every other of them.
    assert len(set(made)) >= VARIANTS // 2
    assert len({len(data) for data in made}) > 1 or len(set(made)) == VARIANTS


@pytest.mark.parametrize("name", VOCABULARIES)
def test_families_keep_their_promises(name):
    vocabulary = resolve(name)
    for family in FAMILIES:
        recipe = family.recipe(vocabulary)
        if recipe is None:
            assert not family.suits(vocabulary)
            with pytest.raises(ValueError, match=f"{name} has nothing to make {family.name} of"):
                family.make(vocabulary, 100, 0)
            continue
        assert family.make(vocabulary, 1000, 3) == recipe.make(1000, 3)
        assert family.expression(vocabulary) == recipe.expression()
        check_recipe(recipe, (0, 1, 2, 5, 16, 100, 1000, 4096))
        if family.suits(vocabulary):
            assert all(vocabulary.can_encode(recipe.make(1000, variant)) for variant in range(24))


UNITS = st.one_of(st.binary(min_size=1, max_size=3), st.text("aé€\n", min_size=1).map(str.encode))
PUMPS = st.builds(Pump, st.lists(UNITS, min_size=1, max_size=4).map(tuple), st.booleans())


@given(st.lists(PUMPS, min_size=1, max_size=3), st.sampled_from([b"", b"<", "é".encode()]))
def test_patterns_are_what_their_line_says_and_come_back_from_toml(pumps, end):
    pattern = Pattern(tuple(pumps), prefix=end, suffix=end)
    assert Pattern.from_dict(pattern.to_dict()) == pattern
    for size in (20, 64, 1023):
        made = pattern.make(size)
        assert eval(pattern.expression(), {"random": random, "n": size}) == made
        assert made.startswith(end) and made.endswith(end)
        assert size - 3 * len(pumps) <= len(made) <= size
        assert not pattern.text or is_text(made)


@pytest.mark.parametrize("name", ["prose", "long-word", "digits", "cjk", "random-text"])
def test_sizes_share_no_beginning(name):
    # What was encoded at one size must not be a help at the next.
    family, vocabulary = families()[name], resolve("unigram_nfkc")
    shorter = family.make(vocabulary, 512, 0)
    assert not family.make(vocabulary, 1024, 0).startswith(shorter[:64])


def test_the_users_own_come_early_and_may_replace():
    mine = Family("mine", "seen at work", lambda vocabulary: repeated(b"xy"))
    runs = Family("letter-run", "another letter", lambda vocabulary: repeated(b"z"))
    found = families([mine, runs])
    assert list(found).index("mine") == len(TELLING)
    assert found["letter-run"] is runs
    assert len(found) == len(FAMILIES) + 1


def test_only_what_the_vocabulary_spells():
    suited = {family.name for family in FAMILIES if family.suits(resolve("toy_acbb"))}
    assert {"letter-run", "pair-run", "triple-run", "long-word", "merge-chain"} <= suited
    assert not {"cjk", "newlines", "invalid-utf8", "special-tokens"} & suited


def made(name, vocabulary="toy_bytes"):
    return families()[name].make(resolve(vocabulary), 3000, 1)


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("letter-run", rb"([a-z])\1+"),
        ("pair-run", rb"(?!(.)\1)(..)\2+.?"),
        ("triple-run", rb"(?!(.)\1)(...)\2+.{0,2}"),
        ("doubled-pair", rb"(([a-z])\2(?!\2)([a-z])\3)\1+.{0,3}"),
        ("trailing-spaces", rb"[a-z]{3} +"),
        ("leading-spaces", rb" +[a-z]{3}"),
        ("newlines", rb"\n+"),
        ("spaces-before-words", rb"( {127}[a-z]){5,} *"),
        ("long-word", rb"[a-z]+"),
        ("digits", rb"\d+"),
        ("normalizer-expansion", rb"(\xef\xb7\xba)+"),
        ("invalid-utf8", rb"[\x80-\xff]+"),
    ],
)
def test_families_are_what_they_are_named(name, expression):
    assert re.fullmatch(expression, made(name), re.DOTALL)


def test_families_of_broken_and_unordered_characters():
    out_of_order = made("marks-out-of-order").decode()
    assert unicodedata.normalize("NFC", out_of_order) != out_of_order
    for name in ("invalid-utf8", "byte-run", "continuations", "cut-characters", "surrogates"):
        with pytest.raises(UnicodeDecodeError):
            made(name).decode()


def units(recipe):
    return {unit for pump in recipe.pumps for unit in pump.units}


def test_prefixes_and_suffixes_are_of_tokens():
    vocabulary = resolve("mistral_v3")
    known = {token.replace("\u2581".encode(), b" ") for token in vocabulary.tokens if token}
    beginnings, ends = {t[:-1] for t in known}, {t[1:] for t in known}
    assert units(drawn_from.token_prefixes(vocabulary)) <= beginnings
    assert units(drawn_from.token_suffixes(vocabulary)) <= ends
    [longest] = units(drawn_from.longest_prefix(vocabulary))
    assert longest in beginnings - vocabulary.ids.keys()


def test_the_densest_lattice_has_more_edges_than_other_texts():
    known = {t.replace("\u2581".encode(), b" ") for t in resolve("unigram_nfkc").tokens if t}

    def edges(name):
        data = made(name, "unigram_nfkc")[:600]
        return sum(data[i:j] in known for i in range(600) for j in range(i + 1, i + 33) if j <= 600)

    assert edges("densest-lattice") > edges("prose")
    assert edges("densest-lattice") >= edges("letter-run")


def test_keys_of_the_charsmap():
    vocabulary = resolve("unigram_nfkc")
    blob = vocabulary.normalizer.charsmap
    keys = drawn_from.charsmap_keys(blob)
    for text in "\ufdfa\uff21\ufb01":  # NFKC, as Unicode has it
        assert keys[text.encode()] == len(unicodedata.normalize("NFKC", text).encode())
    assert load_charsmap("", blob).growth >= max(v / len(k) for k, v in keys.items())
    for part in units(drawn_from.charsmap_prefixes(vocabulary)):
        assert any(key.startswith(part) for key in keys)
