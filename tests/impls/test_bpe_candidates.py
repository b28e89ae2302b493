"""What backtracking tries: no candidate that must fail, and each one that may not."""

import pytest

from corpora.vocabularies.model import VocabularyError
from impls.bpe import heap
from impls.bpe.tokens import spellings_of, tokens_of
from impls.fast.bpe import candidates
from impls.fast.bpe.block import SHORTER
from impls.fast.bpe.candidates import FEW, LESS_BITS, candidate_tables
from impls.fast.bpe.implementations import IMPLEMENTATION as FAST
from impls.interface import Mode
from impls.kernels.layout import EMPTY
from tests.impls.bpe_vocabularies import oracle, vocabulary

RAW = Mode(pretokenize=False)
E_ACUTE = "é".encode()


def shorter(drawn, text):
    """The spelling of the token that is tried after ``text``, None if there is none."""
    tokens = tokens_of(drawn)
    spellings = spellings_of(drawn, tokens.ids)
    entry = int(candidate_tables(tokens, spellings)[SHORTER][spellings.index(text)])
    return None if entry == EMPTY else spellings[entry >> LESS_BITS]


def test_half_a_character_is_not_tried_where_its_other_half_cannot_follow():
    base_tokens = [b"a", E_ACUTE[:1], E_ACUTE[1:]]

    assert shorter(vocabulary([*base_tokens, E_ACUTE]), E_ACUTE) is None
    assert shorter(vocabulary([*base_tokens, b"a" + E_ACUTE[:1], E_ACUTE]), E_ACUTE) is None


def test_half_a_character_is_tried_where_an_older_token_begins_with_the_other_half():
    base_tokens = [b"a", E_ACUTE[:1], E_ACUTE[1:]]
    drawn = vocabulary([*base_tokens, E_ACUTE[1:] + b"a", E_ACUTE])

    assert shorter(drawn, E_ACUTE) == E_ACUTE[:1]
    encoder = FAST.load(drawn)
    for text in (E_ACUTE, E_ACUTE + b"a", E_ACUTE + E_ACUTE + b"aa"):
        assert encoder.encode(text, RAW) == oracle(drawn, text)


@pytest.mark.parametrize("others", [FEW - 1, FEW])
def test_what_many_tokens_may_follow_is_not_searched(others):
    """None of them would do: they are younger than the character."""
    letters = [bytes([32 + index]) for index in range(others)]
    tokens = [*letters, E_ACUTE[:1], E_ACUTE[1:], E_ACUTE, *(E_ACUTE[1:] + x for x in letters)]

    assert shorter(vocabulary(tokens), E_ACUTE) == (None if others < FEW else E_ACUTE[:1])


def test_a_candidate_may_be_shorter_by_more_than_an_entry_holds():
    """Spaces double from token to token; the longest have over a thousand more than the next."""
    drawn = vocabulary([b"x", *(b" " * (1 << power) for power in range(13))])
    encoder, reference = FAST.load(drawn), heap.IMPLEMENTATION.load(drawn)

    for length in (1023, 1024, 4095, 4096, 4097, 12287):
        text = b"x" + b" " * length + b"x"
        assert encoder.encode(text, RAW) == reference.encode(text, RAW)


def test_a_trie_too_large_for_its_entries_is_refused(monkeypatch):
    monkeypatch.setattr(candidates, "VALUE_MASK", 500)
    drawn = vocabulary([b"a", b"b", b"ab"])

    with pytest.raises(VocabularyError, match="slots of a trie and 3 tokens are more than 500"):
        FAST.load(drawn)
