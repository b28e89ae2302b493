"""Each check accuses who breaks its property, asked without processes, and nobody who is right."""

from __future__ import annotations

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.base import Check
from harness.studies.selftest.catalog import Mutant
from tests.doubles.local import Local
from tests.mutants.test_mutants import EVERY, MODES

TEXTS = [b"", b"a", b"two  spaces", b"the tokens, don't ?", "日本語 🙂 é".encode(), b"ab 12 " * 9]
"""Inputs besides those that show a mutant."""

UNSEEN = {
    "equivalence", "minimality", "survival", "re-encoding", "determinism", "release-offsets",
    "release-decode",
}  # fmt: skip
"""Checks that one alone cannot break, or that take a process or many calls: they have tests of
their own."""

ALSO = dict.fromkeys(["validity", "certificate"], "merging.lost-merges")
"""Mutants that break a check besides their own."""


def shown(check: Check, mutant: Mutant, spec: str) -> tuple[int, set[str]]:
    """How many outcomes a check judged on a mutant's inputs, and at which stages one is wrong."""
    vocabulary = resolve(mutant.vocabulary)
    local = Local(vocabulary, [spec], MODES[mutant.mode])
    if not check.applies(local.contract):
        return 0, set()
    last = vocabulary.tokens[-1] or b""  # which a mutant forgets
    judgement = local.examine(check, [*mutant.inputs, *TEXTS, last])
    return sum(judgement.exercised.values()), {str(one.stage) for one in judgement.violations}


ASKED = [
    one
    for one in EVERY.values()
    if one.check in CHECKS and not one.apart
    and one.family not in ("caches", "processes", "growth")
]  # fmt: skip


MUTANTS = {
    name: [one for one in ASKED if one.check == name or one.name == ALSO.get(name)]
    for name in CHECKS
    if name not in UNSEEN
}


@pytest.mark.parametrize("name", MUTANTS)
def test_who_breaks_it_is_accused_and_its_control_is_not(name: str) -> None:
    for mutant in MUTANTS[name]:
        judged, stages = shown(CHECKS[name], mutant, mutant.spec)
        if stages and (mutant.check != name or not mutant.stages or stages & {*mutant.stages}):
            assert judged
            if mutant.control:
                assert shown(CHECKS[name], mutant, mutant.control)[1] == set()
            return
    pytest.fail(f"none of {len(MUTANTS[name])} mutants is accused")
