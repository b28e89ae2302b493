"""Forced tokens: the exact policy equals the definition; the heuristics do what they say."""

import random
from itertools import product

import pytest

from corpora.grammars.finite import FiniteLanguage
from corpora.grammars.unrestricted import Unrestricted
from corpora.vocabularies import sources
from impls.forced.exact import Exact
from impls.forced.heuristics import DropPretoken, HealedBack, NoHealing, Printed
from impls.forced.interface import Context
from impls.forced.tokenizer import Tokenizer, whole_characters
from impls.interface import Unsupported
from tests.data import data_path
from tests.impls.bpe_vocabularies import random_text, random_vocabulary

WORDS = (
    "hello", "the", " name", " of", "University of Pennsylvan", "ia", "icus", "'s", "'ll", "don't",
    "HELLO", "Hello", "World", "123", "12", "  ", "   ", "\n", "\n\n", "\r\n", '{"', '":', '"',
    "order", "Id", "Name", "_", "/", "//", ".", "...", "é", "あ", "漢字", "ˀ", "\u0301", "²",
    "\u00a0", "(", "x", " y", "ABC", "Def", " 2024", "-01", "\t", "ſ", "'S", "'re", "🙂",
)  # fmt: skip


class Unlisted:
    """A grammar that does not list its sentences, so that they are not simply all encoded."""

    def __init__(self, grammar):
        self._grammar = grammar

    @property
    def complete(self):
        return self._grammar.complete

    def forced(self):
        return self._grammar.forced()

    def viable(self, data):
        return self._grammar.viable(data)

    def after(self, data):
        return Unlisted(self._grammar.after(data))

    def next_bytes(self):
        return self._grammar.next_bytes()

    def sentences(self, most):
        return None


class Letters(Unlisted):
    """All texts over a few letters."""

    def __init__(self, letters):
        super().__init__(Unrestricted())
        self._letters = letters

    def viable(self, data):
        return all(byte in self._letters for byte in data)

    def after(self, data):
        return self

    def next_bytes(self):
        return sorted(self._letters)


def defined(tokenizer, context, forced, continuations):
    """The longest safely canonical tokens, by the definition."""
    encoded = tokenizer.encode_many([context.text + forced + more for more in continuations])
    common = []
    for column in zip(*encoded, strict=False):
        if len(set(column)) > 1:
            break
        common.append(column[0])
    if tuple(common[: len(context.ids)]) != context.ids:
        return ()
    ids, size = [], 0
    for token_id in common[len(context.ids) :]:
        size += len(tokenizer.spelling(token_id))
        if size > len(forced):
            break
        ids.append(token_id)
    return tuple(ids)


@pytest.mark.parametrize("seed", range(60))
def test_inside_a_piece_it_is_the_definition(seed):
    rng = random.Random(seed)
    letters, vocabulary = random_vocabulary(rng, proper=rng.random() < 0.8)
    if len(vocabulary.tokens) < 2:
        pytest.skip("a vocabulary of one token")
    tokenizer = Tokenizer(vocabulary, pretokenize=False)
    exact = Exact(tokenizer, budget=300)
    longest = max(len(token) for token in vocabulary.tokens if token)
    for _ in range(6):
        text, forced = random_text(rng, letters, 20), random_text(rng, letters, 16) or letters[:1]
        context = Context(text, tokenizer.encode(text))
        sentences = [random_text(rng, letters, rng.choice([4, 10, 24])) for _ in range(5)]
        expected = defined(tokenizer, context, forced, sentences)
        assert exact.heal(context, forced, FiniteLanguage(sentences)).ids == expected
        got = exact.heal(context, forced, Unlisted(FiniteLanguage(sentences))).ids
        assert got == expected

        anything = [bytes(way) for n in range(5) for way in product(letters[:4], repeat=n)]
        anything += [bytes(rng.choices(letters, k=2 * longest)) for _ in range(200)]
        for token in vocabulary.tokens:
            for size in range(1, len(token or b"")):
                if (text + forced).endswith(token[:size]):
                    anything.append(token[size:])
        expected = defined(tokenizer, context, forced, anything)
        got = exact.heal(context, forced, Letters(letters)).ids
        # The brute force does not try everything: it may not see what the theorem knows.
        assert got == expected[: len(got)]
        assert got == expected or _witnessed(tokenizer, exact, context, forced, got)


def _witnessed(tokenizer, exact, context, forced, got):
    """Whether the proof has a real continuation after which no more than ``got`` stays."""
    healed = exact.heal(context, forced, Letters(bytes(range(256))))
    ways = [future.continuation for future in healed.proof]
    return defined(tokenizer, context, forced, ways) == got


VOCABULARIES = [
    "tekken_240911",
    pytest.param("vocabs/llama3.tiktoken.gz#pattern=llama3", marks=pytest.mark.data),
    pytest.param("vocabs/o200k_base.tiktoken.gz#pattern=o200k_base", marks=pytest.mark.data),
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
        context = Context(before, tokenizer.encode(before))
        expected = defined(tokenizer, context, forced, sentences) if forced else ()
        grammar = Unlisted(FiniteLanguage(sentences))
        assert exact.heal(context, forced, grammar).ids == expected
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


def test_the_heuristic_drops_what_a_token_goes_on_from(tekken):
    grammar = FiniteLanguage([b":1}", b" :2}"])
    forced = b'{"name_of_the_person"'
    plain = NoHealing(tekken).heal(Context(b"", ()), forced, grammar).ids
    healed = HealedBack(tekken).heal(Context(b"", ()), forced, grammar)

    assert healed.ids == plain[: len(healed.ids)]
    assert healed.leftover == b'"'


def test_without_a_window_nothing_is_healed(tekken):
    grammar = FiniteLanguage([b":1}"])
    forced = b'{"name"'
    assert HealedBack(tekken, max_tokens=0).heal(Context(b"", ()), forced, grammar).leftover == b""


def test_the_conservative_heuristic_does_not_ask_the_grammar(tekken):
    grammar = FiniteLanguage([b"\x01"])
    forced = b'{"name"'
    assert HealedBack(tekken).heal(Context(b"", ()), forced, grammar).leftover == b""
    careful = HealedBack(tekken, conservative=True).heal(Context(b"", ()), forced, grammar)
    assert careful.leftover


def test_a_window_in_bytes_may_be_longer_than_what_is_forced(tekken):
    grammar = FiniteLanguage([b":1}"])
    healed = HealedBack(tekken, max_tokens=None, max_length=1000)
    assert healed.heal(Context(b"", ()), b'"', grammar).leftover == b'"'


def test_the_printed_pseudo_code_drops_the_last_token_whatever_it_is(tekken):
    grammar = FiniteLanguage([b"\x01"])
    healed = Printed(tekken).heal(Context(b"", ()), b'{"name', grammar)
    assert healed.leftover == b"name"


def test_dropping_the_last_pre_token(tekken):
    healed = DropPretoken(tekken).heal(Context(b"", ()), b"hello world", Unrestricted())
    assert healed.leftover == b" world"


def test_names_tell_the_window(tekken):
    assert HealedBack(tekken).name == "healed, grammar, 4 tokens"
    assert (
        HealedBack(tekken, max_tokens=1, conservative=True).name == "healed, conservative, 1 token"
    )
    assert HealedBack(tekken, max_length=7).name == "healed, grammar, 7 bytes"


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
