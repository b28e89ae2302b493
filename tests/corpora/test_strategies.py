"""The public Hypothesis strategies: one a generator, of the same kind, shrinking well."""

import random

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from corpora.generators import strategies
from corpora.generators.catalog import generators
from corpora.generators.material import is_text
from tests.breadth import thorough
from tests.corpora.generator_vocabularies import VOCABULARIES, byte_level, toy, unigram

FEW = settings(
    max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
SEARCH = settings(
    max_examples=3_000,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def test_every_generator_has_a_strategy_of_its_name():
    assert list(strategies.STRATEGIES) == list(generators())


@pytest.mark.parametrize("vocabulary_id", VOCABULARIES)
@pytest.mark.parametrize("name", strategies.STRATEGIES)
def test_each_gives_bytes_for_each_vocabulary(name, vocabulary_id):
    vocabulary = VOCABULARIES[vocabulary_id]
    if name == "mutations" and vocabulary_id == "empty":
        pytest.skip("nothing but empty input can be spelt without tokens")

    @FEW
    @given(strategies.STRATEGIES[name](vocabulary))
    def check(data):
        assert type(data) is bytes

    check()


@pytest.mark.parametrize("vocabulary", [byte_level(), toy(), unigram()], ids=lambda v: v.id)
def test_inputs_can_be_spelt(vocabulary):
    @settings(FEW, max_examples=100)
    @given(strategies.inputs(vocabulary))
    def check(data):
        assert vocabulary.can_encode(data)

    check()


@pytest.mark.parametrize(
    ("strategy", "wanted", "smallest"),
    [
        (strategies.tokens(byte_level()), lambda d: len(d) > 1, 2),
        (strategies.concatenations(byte_level()), lambda d: b"the" in d, 5),
        (strategies.overlaps(byte_level()), lambda d: len(d) >= 4, 4),
        thorough((strategies.repeats(byte_level()), lambda d: b"aab" in d, 3)),
        (strategies.repeats(byte_level()), lambda d: len(d) >= 100, 100),
        (strategies.codepoints(byte_level()), lambda d: "\u0301" in d.decode(), 3),
        (strategies.whitespace(byte_level()), lambda d: "\u3000" in d.decode(), 3),
        (strategies.special(byte_level()), lambda d: b"<|end|>" in d, 7),
        (strategies.scripts(byte_level()), lambda d: not d.isascii(), 2),
        (strategies.raw(byte_level()), lambda d: not is_text(d), 1),
        (strategies.raw(toy()), lambda d: d.count(b"c") == 2, 2),
        (strategies.mutants(st.just(b"abcd")), lambda d: len(d) < 4, 3),
        (strategies.prose(byte_level()), lambda d: " " in d.decode(), 3),
        (strategies.json(byte_level()), lambda d: d.startswith(b"[["), 4),
        (strategies.runs(byte_level()), lambda d: len(d) > 500, 501),
        (strategies.edge(byte_level()), lambda d: len(d.decode(errors="ignore")) == 2, 2),
        (strategies.source(byte_level()), lambda d: len(d) > 3, 4),
    ],
)
def test_they_shrink(strategy, wanted, smallest):
    # Where a search begins depends on what else is imported: Hypothesis draws on the constants of
    # loaded modules. One of a few shrinks all the way.
    for seed in range(8):
        found = find(strategy, wanted, settings=SEARCH, random=random.Random(seed))
        assert wanted(found)
        if len(found) <= smallest:
            return
    raise AssertionError(f"shrinks to {len(found)} bytes, not to {smallest}")
