"""What holds of every generator: determinism, laziness, spelling, length, order."""

import os
import statistics
import subprocess
import sys
from itertools import islice

import pytest

from corpora.generators.catalog import generators
from tests.corpora.generator_vocabularies import VOCABULARIES, byte_level

NAMES = list(generators())
FINITE = {"edge", "tokens", "codepoints", "runs"}

_DIGESTS = """
import hashlib
from itertools import islice
from corpora.generators.catalog import generators
from tests.corpora.generator_vocabularies import VOCABULARIES
for name, generator in generators().items():
    for vocabulary in VOCABULARIES.values():
        digest = hashlib.sha256()
        for case in islice(generator.cases(vocabulary, 7), 400):
            digest.update(b"%d:%s" % (len(case), case))
        print(name, vocabulary.id, digest.hexdigest())
"""


def first(name, vocabulary_id, count, seed=1):
    return list(islice(generators()[name].cases(VOCABULARIES[vocabulary_id], seed), count))


def test_names_are_in_the_documented_order():
    assert [
        *("edge", "tokens", "concatenations", "overlaps", "repeats", "codepoints", "whitespace"),
        "boundaries",
        *("special", "scripts", "raw", "mutations", "prose", "source", "json", "runs"),
    ] == NAMES
    assert all(name == generator.name for name, generator in generators().items())
    assert all(
        generator.summary and "\n" not in generator.summary for generator in generators().values()
    )


def test_the_same_cases_in_every_process():
    """Neither the hash seed nor what ran before changes a stream."""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _DIGESTS],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for hash_seed in ("1", "4711")
    ]
    one, other = (run.communicate(timeout=60)[0].splitlines() for run in runs)
    assert len(one) == len(NAMES) * len(VOCABULARIES)
    assert one == other


@pytest.mark.parametrize("name", NAMES)
def test_the_same_cases_again_and_interleaved(name):
    generator, vocabulary = generators()[name], byte_level()
    streams = [generator.cases(vocabulary, 3), generator.cases(vocabulary, 3)]
    pairs = list(islice(zip(*streams, strict=True), 600))
    assert [one for one, _ in pairs] == [other for _, other in pairs]
    assert [one for one, _ in pairs] == list(islice(generator.cases(vocabulary, 3), len(pairs)))


@pytest.mark.parametrize("name", NAMES)
def test_seeds_differ(name):
    count = 800  # beyond what comes in a fixed order: the smallest edge cases and lowest rungs
    assert first(name, "byte-level", count, seed=1) != first(name, "byte-level", count, seed=2)


@pytest.mark.parametrize("vocabulary_id", VOCABULARIES)
@pytest.mark.parametrize("name", NAMES)
def test_cases_are_bytes_that_the_vocabulary_can_spell(name, vocabulary_id):
    vocabulary = VOCABULARIES[vocabulary_id]
    for case in first(name, vocabulary_id, 500):
        assert type(case) is bytes
        assert vocabulary.byte_alphabet == b"" or vocabulary.can_encode(case)


@pytest.mark.parametrize("name", NAMES)
def test_endless_ones_go_on_and_the_others_say_when_they_end(name):
    if name in FINITE - {"codepoints", "runs"}:
        total = sum(1 for _ in generators()[name].cases(byte_level(), 1))
        assert 0 < total < 10_000
    else:
        assert len(first(name, "byte-level", 3_000)) >= (1_000 if name == "runs" else 3_000)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in FINITE])
def test_lengths_of_endless_ones_are_mostly_short(name):
    lengths = [len(case) for case in first(name, "byte-level", 4_000)]
    assert 5 <= statistics.median(lengths) <= 160
    assert max(lengths) <= 20_000


@pytest.mark.parametrize("name", [n for n in NAMES if n not in FINITE])
def test_endless_ones_seldom_repeat_themselves(name):
    cases = first(name, "byte-level", 4_000)
    assert len(set(cases)) > 0.75 * len(cases)
