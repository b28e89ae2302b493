"""Which size is measured next: doublings, and small steps where a cost soars."""

import pytest

from harness.studies.growth.sizes import FASTER, MOST_SIZES, STEEP, STEP_FACTOR, next_sizes

LARGEST = 1 << 20


def grown(law, limit, first=16):
    """The sizes that a cost leads to, asked one by one, with what each took."""
    costs = {first: float(law(first))}
    while sizes := next_sizes(costs, limit, LARGEST):
        costs[sizes[0]] = float(law(sizes[0]))
    return costs


@pytest.mark.parametrize("base", [2.0, 2**0.5, 2**0.1, 2 ** (1 / 64), 2 ** (1 / 400)])
def test_an_exponential_cost_never_runs_far_beyond_its_limit(base):
    limit = 0.5
    costs = grown(lambda n: 50e-9 * (n + base**n), limit, first=8)
    # A step that begins within the limit may take some ten times as much, never the time limit.
    assert max(costs.values()) <= 2 * STEP_FACTOR * limit * 2
    assert len(costs) >= 4
    assert costs[max(costs)] > limit / 20, "it stopped too soon to be named"


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
def test_powers_grow_by_doublings(power):
    costs = grown(lambda n: 1e-7 * n**power, 0.05)
    assert list(costs) == [16 << i for i in range(len(costs))]
    assert max(costs.values()) <= 2 * 0.05 * STEP_FACTOR


@pytest.mark.parametrize(
    ("costs", "sizes"),
    [
        ({256: 1e-5, 512: 2e-5}, [1024, 2048, 4096]),
        ({256: 1e-5, 512: FASTER * 1.01e-5}, [1024]),  # suspicious: one at a time
        ({256: 1e-3, 512: STEEP * 1.1e-3}, [635]),  # steep
        ({256: 0.05}, [512]),  # a square would take twice the limit at this one
        ({256: 0.2}, []),
        ({256: 0.0}, [512, 1024, 2048]),
        ({LARGEST: 1e-6}, []),
        ({i + 1: 1e-6 for i in range(MOST_SIZES)}, []),
        # A step that turns out to be one goes on by doublings.
        ({32: 1e-6, 37: 2e-4}, [38]),
        ({32: 1e-4, 37: 1e-4}, [74]),
    ],
)
def test_the_next_sizes(costs, sizes):
    assert next_sizes(costs, 0.1, LARGEST, 3) == sizes
