"""What mistakes are planted into is right: on every generator, against our compiled encoders."""

from __future__ import annotations

from itertools import islice

import pytest

from corpora.generators.catalog import generators
from corpora.vocabularies.sources import resolve
from harness.studies.selftest.catalog import mistakes
from impls import registry
from impls.interface import Mode
from tests.breadth import thorough_from
from tests.mutants.test_mutants import answer

TEXT, RAW, SPECIAL = Mode(), Mode(pretokenize=False), Mode(special="all")
CASES = [
    ("bpe:PlainBpe", "bpe.heap", "toy_runs", RAW),
    ("bpe:PlainBpe", "bpe.heap", "toy_ties", RAW),
    ("bpe:PlainBpe", "bpe.heap", "toy_merges", RAW),
    ("bpe:PlainBpe", "bpe.heap", "toy_improper", TEXT),
    ("bpe:PlainBpe", "bpe.heap", "toy_bytes", TEXT),
    ("bpe:PlainBpe", "bpe.heap", "toy_bytes", RAW),
    ("bpe:PlainBpe", "bpe.heap", "tekken_240911", TEXT),
    ("bpe:PlainBpe", "bpe.heap", "tekken_240911", SPECIAL),
    ("pieces:PlainSpm", "spm.sentencepiece", "toy_characters", TEXT),
    ("pieces:PlainSpm", "spm.sentencepiece", "mistral_v3", TEXT),
    ("pieces:PlainUnigram", "unigram.sentencepiece", "toy_unigram", TEXT),
    ("pieces:PlainUnigram", "unigram.sentencepiece", "unigram_bytes", TEXT),
    ("pipeline:PlainWordPiece", "wordpiece.bert", "toy_wordpiece", TEXT),
    ("pipeline:PlainPipeline", "pipeline.huggingface", "toy_file_words", TEXT),
]
EACH = 60
LONGEST = 600


@pytest.mark.parametrize(("plain", "compiled", "name", "mode"), thorough_from(5, CASES))
def test_the_ids_are_those_of_the_compiled_encoder(plain, compiled, name, mode):
    vocabulary = resolve(name)
    implementation = registry.resolve(f"harness.studies.selftest.plain.{plain}")
    assert implementation.supports(vocabulary, mode) is None
    encoder = implementation.load(vocabulary)
    right = registry.resolve(compiled).load(vocabulary)
    seen = 0
    for generator in generators().values():
        for data in islice(generator.cases(vocabulary, 5), EACH):
            if len(data) <= LONGEST and vocabulary.can_encode(data):
                told = answer(encoder, data, mode)
                assert told in (answer(right, data, mode), "Unsupported"), data
                seen += told != "Unsupported"
    assert seen > 100


def test_every_control_is_tested():
    tested = {f"harness.studies.selftest.plain.{plain}" for plain, *_ in CASES}
    # Some are our compiled encoders; the others are held to their definitions elsewhere.
    others = {
        "harness.studies.selftest.plain.bpe:PlainServices",
        "harness.studies.selftest.plain.bpe:PlainFewest",
        "harness.studies.selftest.plain.ways:PlainDropout",
        "harness.studies.selftest.plain.growing:PlainBytes",
        "harness.studies.selftest.plain.growing:PlainGrowing",
        "harness.studies.selftest.plain.ways:PlainHealer",
        "harness.studies.selftest.plain.pieces:CompiledUnigram",
        "harness.studies.selftest.plain.pieces:LocatedUnigram",
        "impls.forced.healed:HealedBack",
    }
    # What is right beside the mutants of the gate is held to pass in test_gate.py.
    controls = {one.control for one in mistakes().values() if one.family != "gate"} - {""}
    assert controls <= tested | others
