"""What an encoder keeps of a vocabulary: spellings, and no vocabulary."""

import gc
import weakref
from dataclasses import replace

import pytest

from corpora.vocabularies.model import AddedToken
from corpora.vocabularies.sources import resolve
from impls import registry
from impls.bpe.spelling import Spellings
from impls.interface import Mode


def special():
    """A toy with a hole, a special token beyond the others, and an added one with a token's id."""
    toy = resolve("toy_bytes")
    size = len(toy)
    return replace(
        toy,
        tokens=(*toy.tokens, None, None),
        special_tokens={"<é>": size + 1, "<far>": size + 5},
        added_tokens=(AddedToken("another text of the token", 3),),
    )


@pytest.mark.parametrize("vocabulary", [resolve("toy_bytes"), special(), resolve("tekken_240911")])
def test_spellings_are_those_of_the_vocabulary(vocabulary):
    spellings = Spellings.of(vocabulary)
    known = []
    for token_id in range(-2, len(vocabulary) + 8):
        try:
            expected = vocabulary.spelling(token_id)
        except KeyError:
            with pytest.raises(KeyError):
                spellings.spell([0, token_id])
        else:
            assert spellings.each([token_id]) == [expected]
            known.append(token_id)
    assert spellings.spell(known) == vocabulary.spell(known)
    assert spellings.spell([]) == b""
    assert spellings.longest == max(len(vocabulary.spelling(i)) for i in known)


@pytest.mark.parametrize("name", ["bpe.cached", "bpe.backtracking", "bpe.heap"])
def test_an_encoder_does_not_hold_the_vocabulary(name):
    vocabulary = replace(resolve("toy_bytes"))
    encoder = registry.resolve(name).load(vocabulary)
    gone = weakref.ref(vocabulary)
    del vocabulary
    gc.collect()
    assert gone() is None
    assert list(encoder.encode(b"a", Mode()))
