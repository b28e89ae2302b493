"""Plans for tests: of anything, and of a few seconds on toys by a number of cases."""

from dataclasses import replace

from corpora.generators.catalog import generators
from harness.checks import CHECKS
from harness.engine import selection
from harness.engine.plan import Plan
from harness.engine.suites import SUITES, Budget, Suite
from harness.workers import Limits


def any_plan(impls=(), vocabularies=(), seed=0, **changes):
    """A plan of these, in which nobody is asked anything unless the changes say what."""
    plan = Plan(
        vocabularies=selection.vocabularies(vocabularies, seed) if vocabularies else {},
        participants=selection.participants(impls)[0] if impls else [],
        references=frozenset(),
        generators=[],
        checks=[],
        expectations=(),
        suite=SUITES["smoke"],
        budget=Budget(),
        seed=seed,
        jobs=1,
        fail_fast=False,
    )
    return replace(plan, **changes)


def toy_plan(
    cases,
    impls,
    vocabularies=("toy_bytes",),
    checks=("survival", "equivalence"),
    drawn=("edge", "tokens", "repeats", "raw"),
    longest=512,
    **changes,
):
    """These implementations beside the definition, which is trusted. drawn: the generators."""
    given = {
        "references": frozenset({"bpe.naive"}),
        "generators": [generators()[name] for name in drawn],
        "checks": [CHECKS[name] for name in checks],
        "suite": Suite("fuzz", "endless", longest, 0.0, 0),
        "budget": Budget(cases=cases),
        "limits": Limits(seconds=120.0, deaths=3, batch_deaths=1),
    }
    return any_plan(["bpe.naive", *impls], vocabularies, **{**given, **changes})
