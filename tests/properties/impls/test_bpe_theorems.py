"""The theorems of byte-pair encoding over proper vocabularies."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from impls.interface import Mode
from tests.properties.impls.bpe_vocabularies import encodings, oracle

RAW = Mode(pretokenize=False)


def reachable(vocabulary):
    """Tokens that encode to themselves: all, in a proper vocabulary with one merge a token."""
    return [i for text, i in vocabulary.ids.items() if oracle(vocabulary, text) == [i]]


def is_valid(vocabulary, ids):
    return oracle(vocabulary, vocabulary.spell(ids)) == ids


def spellings(vocabulary, tokens, text):
    """All ways to spell a text."""
    if not text:
        return [[]]
    return [
        [token, *rest]
        for token in tokens
        if text.startswith(vocabulary.tokens[token])
        for rest in spellings(vocabulary, tokens, text[len(vocabulary.tokens[token]) :])
    ]


@given(encodings(texts=1))
def test_of_all_spellings_one_has_only_valid_pairs(encoding):
    drawn, texts = encoding
    text = texts[-1][:9]
    valid = [
        ids
        for ids in spellings(drawn, reachable(drawn), text)
        if all(is_valid(drawn, list(pair)) for pair in pairwise(ids))
    ]

    assert valid == [oracle(drawn, text)]


@given(encodings(texts=1), st.data())
def test_any_part_of_a_valid_encoding_is_valid(encoding, data):
    drawn, texts = encoding
    ids = oracle(drawn, texts[-1])
    start = data.draw(st.integers(0, len(ids)))
    end = data.draw(st.integers(start, len(ids)))

    assert is_valid(drawn, ids[start:end])


@given(encodings(texts=1))
def test_the_last_token_determines_an_encoding(encoding):
    drawn, texts = encoding
    ids = oracle(drawn, texts[-1])
    rest = texts[-1]
    found = []
    while rest:
        last = oracle(drawn, rest)[-1]
        found.insert(0, last)
        rest = rest[: len(rest) - len(drawn.tokens[last])]

    assert found == ids


@given(encodings(texts=1), st.data())
def test_encodings_that_share_a_token_may_be_glued(encoding, data):
    drawn, _ = encoding
    tokens = st.sampled_from(reachable(drawn))
    front = oracle(drawn, drawn.spell(data.draw(st.lists(tokens, min_size=1, max_size=5))))
    back = oracle(drawn, drawn.spell([front[-1], *data.draw(st.lists(tokens, max_size=5))]))

    if back[0] == front[-1]:
        assert is_valid(drawn, front + back[1:])
