"""Which vocabulary a pool of workers takes next."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from corpora.vocabularies import embedded
from harness.core.comparisons import algorithm_of
from harness.engine.sessions import Unvisited

KINDS = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b", "c1": "c"}


def large(source):
    """Sources in capitals are large; those of no kind are nobody's."""
    return float(source.isupper())


@pytest.mark.parametrize(
    ("sources", "takers", "taken"),
    [
        # A pool keeps to its algorithms while others have enough; then nobody is idle.
        ("a1 b1 a2 c1 b2 a3", [0, 1, 1, 1, 1, 0, 0, 1], "a1 b1 c1 b2 a2 a3 None None"),
        # Small ones are not passed over for large ones behind them.
        ("A1 B1 a2 b2 B2", [0, 1, 1, 1, 1], "A1 B1 b2 a2 B2"),
        # What is not known comes in its turn.
        ("mine.json a1 yours.json a2", [0, 1, 0, 0], "mine.json a1 yours.json a2"),
        # Alone it is the order of the plan.
        ("a1 a2 a3 b1 b2 c1", [0] * 6, "a1 a2 a3 b1 b2 c1"),
    ],
)
def test_what_a_pool_takes_next(sources, takers, taken):
    unvisited = Unvisited(sources.split(), lambda one: KINDS.get(one.lower()), large)
    assert " ".join(str(unvisited.take(taker)) for taker in takers) == taken


def test_each_is_taken_once():
    sources = [f"{kind}{i}" for i in range(100) for kind in "abc"]
    unvisited = Unvisited(sources, lambda source: source[0])
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda job: unvisited.take(job % 4), range(300)))
    assert sorted(map(str, taken)) == sorted(sources)


@pytest.mark.parametrize("name", sorted(set(embedded.embedded()) - {"tekken_240718"}))
def test_algorithms_of_embedded_vocabularies(name):
    assert embedded.algorithm(name) == algorithm_of(embedded.load(name))
    assert embedded.algorithm(f"./{name}") is None
