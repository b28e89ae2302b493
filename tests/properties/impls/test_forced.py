"""Forced tokens: the exact policy equals the definition; the heuristics do what they say."""

import random
from functools import partial
from itertools import product

import pytest

from corpora.generators import characters
from corpora.generators.material import is_text
from corpora.grammars.finite import FiniteLanguage, Unrestricted
from corpora.vocabularies import sources
from impls.bpe.tokens import ordered_merges
from impls.forced.drop_pretoken import DropPretoken
from impls.forced.exact import Exact
from impls.forced.healed import HealedBack
from impls.forced.interface import Context
from impls.forced.none import NoHealing
from impls.forced.printed import Printed
from impls.forced.spellings import whole_characters
from impls.forced.tokenizer import Tokenizer
from impls.interface import Unsupported
from tests.data import data_path
from tests.properties.impls.bpe_vocabularies import random_text, random_vocabulary
from tests.properties.impls.forced_definition import Letters, Unlisted, assert_defined, defined

WORDS = (
    *characters.WORDS, *characters.CONTRACTIONS, *characters.SPACES[-30:], "hello", " name", " of",
    "University of Pennsylvan", "ia", "icus", "HELLO", '{"', '":', '"', "order", "Id", " 2024",
)  # fmt: skip


GRAMMARS = 5
"""Of one random vocabulary."""


@pytest.mark.parametrize("seed", range(20))
def test_inside_a_piece_it_is_the_definition(seed):
    """A random vocabulary, of proper and improper merges, and random finite grammars."""
    rng = random.Random(seed)
    letters, vocabulary = random_vocabulary(rng, proper=rng.random() < 0.8)
    tokenizer = Tokenizer(vocabulary, pretokenize=False)
    exact = Exact(tokenizer, budget=300)
    longest = max(len(token) for token in vocabulary.tokens if token)
    for _ in range(GRAMMARS):
        text, forced = random_text(rng, letters, 20), random_text(rng, letters, 16) or letters[:1]
        sentences = [random_text(rng, letters, rng.choice([4, 10, 24])) for _ in range(5)]
        context, _ = assert_defined(exact, tokenizer, text, forced, sentences)

        anything = [bytes(way) for n in range(5) for way in product(letters[:4], repeat=n)]
        anything += [bytes(rng.choices(letters, k=2 * longest)) for _ in range(200)]
        for token in vocabulary.tokens:
            for size in range(1, len(token or b"")):
                if (text + forced).endswith(token[:size]):
                    anything.append(token[size:])
        healed = exact.heal(context, forced, Letters(letters))
        # Brute force cannot try everything: the proof has what it may miss.
        anything += [future.continuation for future in healed.proof]
        assert healed.ids == defined(tokenizer, context, forced, anything)


LARGE = [pytest.mark.data, pytest.mark.thorough]

VOCABULARIES = [
    "tekken_240911",
    pytest.param("vocabs/llama3.tiktoken.gz#pattern=llama3", marks=LARGE),
    pytest.param("vocabs/o200k_base.tiktoken.gz#pattern=o200k_base", marks=LARGE),
]


def loaded(name):
    path, hash_, pattern = name.partition("#")
    return sources.resolve(f"{data_path(path)}{hash_}{pattern}" if hash_ else name)


@pytest.fixture(scope="module", params=VOCABULARIES)
def tokenizer(request):
    return Tokenizer(loaded(request.param))


@pytest.fixture(scope="module")
def exact(tokenizer):
    return Exact(tokenizer)


def test_at_the_end_of_pre_tokens_it_is_the_definition(tokenizer, exact):
    rng = random.Random(tokenizer.vocabulary.id)
    first_bound = Exact(tokenizer, budget=0)
    equal = 0
    for _ in range(60):
        some = rng.sample(WORDS, rng.randint(3, 8))

        def text(count, some=some):
            return "".join(rng.choices(some, k=count)).encode()

        before, forced = text(rng.randint(0, 5)), text(rng.randint(1, 4))
        sentences = [text(rng.randint(0, 5)) for _ in range(rng.randint(1, 6))]
        cut = rng.choice([0, 0, 0, 1, 2])  # inside a character, now and then
        sentences = [forced[len(forced) - cut :] + sentence for sentence in sentences]
        forced = forced[: len(forced) - cut]
        context, expected = assert_defined(exact, tokenizer, before, forced, sentences)
        grammar = Unlisted(FiniteLanguage(sentences))
        bound = first_bound.heal(context, forced, grammar).ids
        assert bound == expected[: len(bound)]
        equal += bound == expected
    assert equal >= 50


def test_a_proof_shows_the_continuation_that_takes_a_token_away(exact, tokenizer):
    forced = b"say hel"
    grammar = FiniteLanguage([b"lo", b"p me"])
    healed = exact.heal(Context(b"", ()), forced, Unlisted(grammar))

    assert healed.leftover
    kept = min(healed.proof, key=lambda future: future.kept)
    ids = tokenizer.encode(forced + kept.continuation)
    assert ids[: len(healed.ids)] == healed.ids
    whole = tokenizer.encode(forced)
    assert ids[: len(whole)] != whole or len(healed.ids) == len(whole)


def test_nothing_forced_is_nothing(exact):
    assert exact.heal(Context(b"a", ()), b"", Unrestricted()).ids == ()


@pytest.fixture(scope="module")
def tekken():
    return Tokenizer(sources.resolve("tekken_240911"))


@pytest.mark.parametrize(
    ("policy", "forced", "sentence", "leftover"),
    [
        # A token goes on from the quote: is it, or could it be, followed so?
        (HealedBack, b'{"name_of_the_person"', b":1}", b'"'),
        (HealedBack, b'{"name"', b"\x01", b""),
        (partial(HealedBack, conservative=True), b'{"name"', b"\x01", b'"'),
        (partial(HealedBack, size=0), b'{"name"', b":1}", b""),
        (partial(HealedBack, size=1000, in_bytes=True), b'"', b":1}", b'"'),
        # Whatever comes.
        (Printed, b'{"name', b"\x01", b"name"),
        (DropPretoken, b"hello world", b"", b" world"),
    ],
)
def test_what_heuristics_leave_over(tekken, policy, forced, sentence, leftover):
    empty, grammar = Context(b"", ()), FiniteLanguage([sentence])
    healed = policy(tekken).heal(empty, forced, grammar)
    assert healed.leftover == leftover
    assert healed.ids == NoHealing(tekken).heal(empty, forced, grammar).ids[: len(healed.ids)]
    assert tekken.vocabulary.spell(healed.ids) + leftover == forced


@pytest.mark.parametrize(
    ("data", "end"),
    [
        (b"", 0),
        (b"ab", 2),
        ("é".encode(), 2),
        (b"a\xc3", 1),
        (b"a\xf0\x9f\x99", 1),
        (b"\xe3\x81", 0),
    ],
)
def test_whole_characters(data, end):
    assert whole_characters(data) == end


def test_vocabularies_that_it_cannot_run_are_refused():
    with pytest.raises(Unsupported, match="byte"):
        Tokenizer(sources.resolve("toy_unigram"))


@pytest.mark.data
@pytest.mark.thorough  # a large vocabulary
def test_llama_3_late_tokens_are_decided_exactly():
    """Tokens whose merges act out of order: whole, begun, and others instead."""
    tokenizer = Tokenizer(loaded("vocabs/llama3.tiktoken.gz#pattern=llama3"))
    exact = Exact(tokenizer)
    _, late = ordered_merges(tokenizer.vocabulary)
    assert len(late) == 107
    for spelling in late[::7]:
        text = b'{"a": "x' + spelling
        for size in range(9, len(text)):
            rest = text[size:]
            sentences = [rest, rest + b" y", rest + b's"', rest[:1] + b'"', b'"', b"nh"]
            sentences = [one for one in sentences if is_text(text[:size] + one)]
            assert_defined(exact, tokenizer, text[:4], text[4:size], sentences)
