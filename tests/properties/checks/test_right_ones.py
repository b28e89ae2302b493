"""Nobody who is right is accused, wherever a check says that it applies; and what is alike."""

from dataclasses import replace
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.heal_questions import alike
from harness.core.comparisons import modes_of
from impls import registry
from tests.doubles.local import Local

TEXTS = [b"", b"two  spaces", b"the tokens, don't 123", "日本語 🙂 é".encode(), b"acbbab", b"<s>x"]
RIGHT = {
    "toy_bytes": ["tiktoken", "bpe.heap", "bpe.minimal", "bpe.backtracking"],
    "toy_acbb": ["tokenizers", "bpe.naive", "bpe.minimal"],
    "toy_improper": ["bpe.naive", "bpe.heap"],
    "toy_characters": ["sentencepiece", "spm.sentencepiece"],
    "unigram_nfkc": ["sentencepiece", "unigram.sentencepiece"],
}


@pytest.mark.parametrize("name", RIGHT)
def test_who_is_right_is_accused_of_nothing(name):
    vocabulary, applied = resolve(name), set()
    texts = [one for one in TEXTS if vocabulary.can_encode(one)]
    for mode in modes_of(vocabulary):
        specs = [one for one in RIGHT[name] if not supports(one, vocabulary, mode)]
        if not specs:
            continue
        local = Local(vocabulary, specs, mode)
        local.contract = replace(local.contract, proper=name != "toy_improper")
        for check in CHECKS.values():
            if check.applies(local.contract):
                applied.add(check.name)
                wrong = local.examine(check, texts).violations
                told = [(one.data, one.culprits, one.parts) for one in wrong]
                assert not told, (check.name, mode.label)
    assert len(applied) > len(CHECKS) / 4


def supports(spec, vocabulary, mode):
    """What keeps an implementation from running a vocabulary."""
    return registry.resolve(spec).supports(vocabulary, mode)


@given(st.lists(st.lists(st.integers(0, 2)), min_size=1))
def test_with_how_many_of_the_same_elements_sequences_begin(sequences):
    shortest = min(map(len, sequences))
    same = (at for at in range(shortest) if len({one[at] for one in sequences}) == 1)
    wanted = sum(1 for place, at in takewhile(lambda pair: pair[0] == pair[1], enumerate(same)))
    assert alike(sequences) == wanted
