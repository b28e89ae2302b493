"""The public Hypothesis strategies: one a generator, of the same kind, shrinking well."""

import random

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from corpora.generators import strategies
from corpora.generators.catalog import generators
from corpora.generators.material import is_text
from tests.breadth import thorough
from tests.properties.corpora.generator_vocabularies import VOCABULARIES

FEW = settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))
SEARCH = settings(
    FEW,
    max_examples=3_000,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
)


def test_every_generator_has_a_strategy_of_its_name():
    assert list(strategies.STRATEGIES) == list(generators())


@pytest.mark.parametrize("key", VOCABULARIES)
@pytest.mark.parametrize("name", [*strategies.STRATEGIES, "inputs"])
def test_each_gives_bytes_for_each_vocabulary(name, key):
    vocabulary = VOCABULARIES[key]
    if name == "mutations" and key == "empty":
        pytest.skip("nothing but empty input can be spelt without tokens")

    @FEW
    @given(getattr(strategies, name)(vocabulary))
    def check(data):
        assert type(data) is bytes
        assert name != "inputs" or key == "empty" or vocabulary.can_encode(data)

    check()


@pytest.mark.parametrize(
    ("name", "wanted", "smallest"),
    [
        ("tokens", lambda d: len(d) > 1, 2),
        ("concatenations", lambda d: b"the" in d, 5),
        ("overlaps", lambda d: len(d) >= 4, 4),
        thorough(("repeats", lambda d: len(d) > 2 and len({*d}) > 1, 3)),
        ("repeats", lambda d: len(d) >= 100, 100),
        ("codepoints", lambda d: "\u0301" in d.decode(), 3),
        ("whitespace", lambda d: "\u3000" in d.decode(), 3),
        ("special", lambda d: b"<|end|>" in d, 7),
        ("scripts", lambda d: not d.isascii(), 2),
        ("raw", lambda d: not is_text(d), 1),
        ("prose", lambda d: " " in d.decode(), 3),
        ("json", lambda d: d.startswith(b"[["), 4),
        ("runs", lambda d: len(d) > 500, 501),
        ("edge", lambda d: len(d.decode(errors="ignore")) == 2, 2),
        ("source", lambda d: len(d) > 3, 4),
        ("mutants", lambda d: len(d) < 4, 3),
    ],
)
def test_they_shrink(name, wanted, smallest):
    given_ = st.just(b"abcd") if name == "mutants" else VOCABULARIES["byte-level"]
    strategy = getattr(strategies, name)(given_)
    # Where a search begins depends on what else is imported: Hypothesis draws on the constants of
    # loaded modules. One of a few shrinks all the way.
    sizes = []
    for seed in range(8):
        found = find(strategy, wanted, settings=SEARCH, random=random.Random(seed))
        assert wanted(found)
        sizes.append(len(found))
        if sizes[-1] <= smallest:
            return
    raise AssertionError(f"shrinks to {sizes} bytes, not to {smallest}")
