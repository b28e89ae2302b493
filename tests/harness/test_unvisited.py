"""Which vocabulary a pool of workers takes next."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from corpora.vocabularies import embedded
from harness.core.comparisons import algorithm_of
from harness.engine.sessions import Unvisited

KINDS = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b", "c1": "c"}


def test_a_pool_keeps_to_its_algorithms_while_others_have_enough():
    unvisited = Unvisited(["a1", "b1", "a2", "c1", "b2", "a3"], KINDS.get)
    assert [unvisited.take(0), unvisited.take(1)] == ["a1", "b1"]
    assert [unvisited.take(1), unvisited.take(1)] == ["c1", "b2"]
    # Only those of another pool are left, and nobody is idle.
    assert unvisited.take(1) == "a2"
    assert [unvisited.take(0), unvisited.take(0), unvisited.take(1)] == ["a3", None, None]


def test_small_ones_are_not_passed_over_for_large_ones_behind_them():
    sources = ["A1", "B1", "a2", "b2", "B2"]
    unvisited = Unvisited(sources, lambda one: one[0].lower(), lambda one: float(one[0].isupper()))
    assert [unvisited.take(0), unvisited.take(1)] == ["A1", "B1"]
    assert [unvisited.take(1) for _ in "123"] == ["b2", "a2", "B2"]


def test_what_is_not_known_comes_in_its_turn():
    unvisited = Unvisited(["mine.json", "a1", "yours.json", "a2"], KINDS.get)
    assert [unvisited.take(0), unvisited.take(1)] == ["mine.json", "a1"]
    assert [unvisited.take(0), unvisited.take(0)] == ["yours.json", "a2"]


def test_alone_it_is_the_order_of_the_plan():
    unvisited = Unvisited(KINDS, KINDS.get)
    assert [unvisited.take(0) for _ in KINDS] == list(KINDS)


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
