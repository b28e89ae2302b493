"""Steps of our own algorithms on all families: ``python -m tests.benchmarks.growth_in_steps``.

Lines of source executed, exactly reproducible, at four sizes from 512 bytes: the exponent of each
cell against the bound that the shipped expectations file has for the implementation. Arguments are
implementations; by default all that are held to a bound. Exits with 1 where a bound is broken.
"""

from __future__ import annotations

import sys

from corpora.families.catalog import FAMILIES
from corpora.vocabularies import sources
from harness.core.messages import Meter
from harness.engine import selection
from harness.engine.costs import NotLoaded, costs, loaded
from harness.events import Measured
from harness.verdict import expectations
from harness.verdict.bounds import Bound, load, outcome_of
from harness.verdict.exponents import judge
from harness.workers import Limits
from impls import registry

SIZES = (512, 1024, 2048, 4096)
VOCABULARIES = ("toy_bytes", "toy_unigram", "toy_characters", "toy_wordpiece")
"""Small ones: interpreted, it takes a quarter of an hour to make the tables of a large one."""
VARIANT = 7
"""Not the first, which a warm-up may have encoded."""

LIMITS = Limits(seconds=600.0, load_seconds=600.0)
"""Interpreted, on a busy machine."""


def bound_of(name: str, bounds: list[Bound]) -> str | None:
    """The bound that is on an implementation whatever the vocabulary and family."""
    cell = Measured(name, "", "", None, None, None, "", [])
    return next((bound.bound for bound in bounds if bound.covers(cell)), None)


def main() -> None:
    """A line for each implementation and vocabulary, and for each cell beyond its bound."""
    bounds = load(expectations.SHIPPED)
    names = sys.argv[1:] or [name for name in registry.BUILT_IN if bound_of(name, bounds)]
    broken = 0
    for participant in selection.participants(names)[0]:
        for source in VOCABULARIES:
            vocabulary = sources.resolve(source)
            bound = bound_of(participant.name, bounds)
            exponents: dict[str, float] = {}
            try:
                with loaded(participant, vocabulary, LIMITS) as on:
                    for family in FAMILIES:
                        if not family.suits(vocabulary):
                            continue
                        inputs = [family.make(vocabulary, size, VARIANT) for size in SIZES]
                        subjects = [lambda _, data=data: data for data in inputs]  # type: ignore[misc]
                        found = costs(on, subjects, Meter.STEPS, rounds=1)
                        if any(cost.outcome is not None for cost in found.of):
                            continue
                        growth = judge({cost.size: float(cost.spent or 0) for cost in found.of})
                        if growth.exponent is None or bound is None:
                            continue
                        exponents[family.name] = growth.exponent
                        cell = Measured(
                            participant.name,
                            source,
                            family.name,
                            growth.exponent,
                            growth.low,
                            growth.high,
                            growth.verdict.value,
                            [],
                            measure="steps",
                        )
                        outcome, line = outcome_of(cell, bound)
                        if outcome == "fail":
                            broken += 1
                            print(f"  beyond {bound}: {family.name}: {line} {found.of}", flush=True)
            except NotLoaded:
                continue
            if exponents:
                worst = max(exponents, key=lambda name: exponents[name])
                print(
                    f"{participant.name} on {source}: {len(exponents)} families, at most "
                    f"{exponents[worst]:.3f} ({worst}), bound {bound}",
                    flush=True,
                )
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
