"""Proofs about real vocabularies and patterns: what conversions and small changes come to."""

import os
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.model import Merges, RankOrder, Vocabulary
from corpora.vocabularies.patterns import PATTERNS
from harness.studies.compare.differences import numbering
from harness.studies.prove import merges, patterns
from harness.studies.prove.stages import judged
from impls.interface import Mode
from impls.pretokenize.pieces import Cutter, PlainCutter

DATA = Path(os.environ.get("TOKGATE_DATA", "../shared/data"))
BYTES = sources.resolve("toy_bytes")


def resolved(name):
    """A real vocabulary, where it is."""
    if not (DATA / name.partition("#")[0]).exists():
        pytest.skip(f"{name} is not here")
    return sources.resolve(str(DATA / name))


def converted(folder, vocabulary):
    """The tokenizer.json that tokgate writes of a vocabulary."""
    path = folder / "tokenizer.json"
    path.write_bytes(replace(vocabulary, native=None).as_tokenizer_json())
    return sources.resolve(str(path))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "gguf/ggml-vocab-gpt-2.gguf",
        "vocabs/cl100k_base.tiktoken.gz#pattern=cl100k_base",
        "vocabs/llama3.tiktoken.gz#pattern=llama3",
    ],
)
def test_a_conversion_is_proved_equal(name, tmp_path):
    vocabulary = resolved(name)
    told = [*judged(vocabulary, converted(tmp_path, vocabulary))]
    assert {one.verdict for one in told} == {"equal"}, told


def swapped(vocabulary, at):
    """The same with two tokens of neighbouring ranks in each other's place."""
    triples = vocabulary.merges.triples()
    triples[at : at + 2] = [triples[at + 1], triples[at]]
    return replace(vocabulary, native=None, rank_order=RankOrder.MERGES, merges=Merges.of(triples))


@pytest.mark.first
@pytest.mark.thorough
def test_tekken_with_two_merges_swapped():
    tekken = sources.resolve("tekken_240911")
    listed = replace(tekken, native=None, rank_order=RankOrder.MERGES)
    numbers, came = numbering(listed, listed), set()
    for at in [0, 1, 2, 5000, 90000]:
        found = merges.alike(listed, swapped(tekken, at), numbers)
        assert not found.undecided
        came.add(bool(found.texts))
    assert came == {True, False}, "some are told apart, and some never are"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base", "tekken", "qwen2", "qwen35"])
def test_the_scanner_parts_texts_of_all_states_as_its_pattern_does(name):
    """Each state of the pattern's automaton, and each two characters after it."""
    [known] = PATTERNS[name]
    made, [start] = patterns.machine(known)
    texts = {}
    assert not [*patterns.differing(made, (start, start), texts)]
    members, rng = made.letters.members, random.Random(0)
    longer = [text + a + b for text in texts.values() for a in members for b in members]
    datas = [text.encode() for text in rng.sample(longer, min(len(longer), 50_000))]
    vocabulary = Vocabulary("drawn", BYTES.algorithm, "drawn", BYTES.tokens, splits=(known,))
    ends = np.cumsum([len(one) for one in datas], dtype=np.int64)
    scanned, plain = (
        cutter(vocabulary).cut(b"".join(datas), ends, Mode(pretokenize=True))
        for cutter in (Cutter, PlainCutter)
    )
    assert (scanned.ends == plain.ends).all() and (scanned.counts == plain.counts).all()


def test_a_token_that_no_piece_can_have_in_it_makes_no_difference():
    """Both verdicts are told: as one piece it differs, in texts it cannot."""
    ids = BYTES.ids
    triples = BYTES.merges.triples()
    listed = replace(BYTES, native=None, rank_order=RankOrder.MERGES, splits=PATTERNS["gpt2"])
    size = len(BYTES.tokens)
    longer = (*BYTES.tokens, b"1a")
    added = Merges.of([*triples, (ids[b"1"], ids[b"a"], size)])
    told = {one.name: one for one in judged(listed, replace(listed, tokens=longer, merges=added))}
    assert told["merges"].verdict == "equal", told
    assert (
        "'1a' differs" in told["merges"].words
        and "no text has such a piece" in told["merges"].words
    )
