"""Which pre-tokens at the end of a text may still change, and the stand-ins for what follows."""

import random
from dataclasses import replace

import pytest

from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies import sources
from corpora.vocabularies.model import AddedToken
from corpora.vocabularies.patterns import PATTERNS
from impls.forced.boundaries import (
    FIRST,
    KNOWN_PATTERNS,
    KNOWN_WINDOW_PIECES,
    STAND_INS,
    WINDOW_PIECES,
)
from impls.forced.exact import Exact
from impls.forced.interface import Context
from impls.forced.tokenizer import Tokenizer
from tests.breadth import thorough_from

TEXTS = 2_000
SEEDS = range(2)
KNOWN = {splits: name for name, splits in PATTERNS.items() if splits in KNOWN_PATTERNS}


def drawn(rng, most):
    """A text of the characters and texts that patterns tell from one another."""
    letters = rng.sample(FIRST, 6)
    atoms = [*letters, *letters, *rng.sample(STAND_INS, 3), " ", "\n", "'"]
    return "".join(rng.choices(atoms, k=rng.randint(0, most)))


def tokenizer_of(splits):
    return Tokenizer(replace(sources.resolve("toy_bytes"), splits=splits))


def moved(tokenizer, text, more):
    """How many pre-tokens at the end of a text another text after it changes."""
    before, after = map(tokenizer.piece_ends, (text.encode(), (text + more).encode()))
    kept = 0
    while kept < min(len(before), len(after)) and before[kept] == after[kept]:
        kept += 1
    return len(before) - kept


@pytest.mark.parametrize("splits", KNOWN, ids=KNOWN.values())
@pytest.mark.parametrize("seed", SEEDS)
def test_what_follows_moves_two_pretokens_of_the_known_patterns_at_most(seed, splits):
    rng = random.Random(f"{seed}/{splits}")
    tokenizer = tokenizer_of(splits)
    for _ in range(TEXTS):
        text, more = drawn(rng, 8), drawn(rng, 4)
        assert moved(tokenizer, text, more) <= KNOWN_WINDOW_PIECES, (text, more)


@pytest.mark.parametrize("splits", KNOWN, ids=KNOWN.values())
@pytest.mark.parametrize("seed", SEEDS)
def test_ways_are_those_of_the_whole_text(seed, splits):
    """By the definition: the whole text with each stand-in, cut from its beginning."""
    rng = random.Random(f"ways/{seed}/{splits}")
    tokenizer = tokenizer_of(splits)
    boundaries = tokenizer.boundaries()
    for _ in range(30):
        text = drawn(rng, 12).encode()
        asked = [stand_in for stand_in in STAND_INS if rng.random() < 0.1] or ["b"]
        grammar = FiniteLanguage([stand_in.encode() for stand_in in asked])
        cut = [tokenizer.piece_ends(text + stand_in.encode()) for stand_in in asked]
        expected = {tuple(end for end in ends if end <= len(text)) for ends in cut}
        # The stand-ins stand for more than those texts.
        assert expected <= set(boundaries.ways(text, grammar))


def test_windows_of_a_text_that_grows_are_those_of_each_text_by_itself():
    rng = random.Random(3)
    for splits in KNOWN:
        tokenizer = tokenizer_of(splits)
        text, growing = b"", tokenizer.boundaries()
        for _ in range(40):
            text = b"" if rng.random() < 0.05 else text + drawn(rng, 3).encode()
            most = rng.randint(0, len(text))
            assert growing.start(text, most) == tokenizer.boundaries().start(text, most)
            ends = tokenizer.piece_ends(text)
            lasting = [0, *ends[: max(0, len(ends) - KNOWN_WINDOW_PIECES)]]
            assert growing.start(text, most) == max(end for end in lasting if end <= most)


def test_an_added_token_takes_more_pretokens_back():
    """It may begin at the end of the text, in pieces that the pattern alone would have left."""
    token = AddedToken("<|a|>", 5_000, special=False)
    plain = tokenizer_of(PATTERNS["gpt2"])
    added = Tokenizer(replace(plain.vocabulary, added_tokens=(token,)))
    assert plain.boundaries().known and not added.boundaries().known
    text = b"a b c d e <|a|"
    assert moved(added, text.decode(), ">") == 3 > KNOWN_WINDOW_PIECES
    assert plain.boundaries().start(text, len(text)) == len(b"a b c d e <|")
    assert added.boundaries().start(text, len(text)) == len(b"a b")
    assert WINDOW_PIECES > 3


@pytest.mark.parametrize("name", ["toy_bytes", *thorough_from(0, ["tekken_240911"])])
def test_whether_a_context_stands_alone_is_seen_at_its_end(name):
    rng = random.Random(name)
    tokenizer = Tokenizer(sources.resolve(name))
    found = []
    for _ in range(20):
        text = drawn(rng, 60).encode()
        place, ids = 0, ()
        for token_id, step in tokenizer.steps(text):
            context = Context(text[:place], ids)
            alone = tokenizer.encode(context.text) == ids
            assert tokenizer.stands_alone(context) == alone
            found.append(alone)
            place, ids = place + len(step), (*ids, token_id)
    assert set(found) == {True, False}


@pytest.mark.parametrize("before", [b"\r\n", b"'S\r\n"])
def test_a_context_whose_last_tokens_change_with_what_follows_is_seen(before):
    """What follows the context parts its last pre-token, so that its tokens are none of the text's;
    it is too long for that to be among the last pre-tokens.
    """
    tokenizer = Tokenizer(sources.resolve("toy_bytes"))
    forced = "\u02c0don't. 2024".encode()
    context = Context(before, tokenizer.encode(before))
    assert tokenizer.encode(before + forced)[: len(context.ids)] != context.ids
    healed = Exact(tokenizer).heal(context, forced, FiniteLanguage([b" 2024", b"\r\nx"])).ids
    assert healed == ()
