"""The canary of a session: a planted mistake that the same machinery must find, or be disbelieved.

It has a target of its own, with a reference beside it, under a contract that no finding of the
campaign belongs to. Nothing of it is committed: each session has to find it again.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial
from typing import Any

from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.engine import selection
from harness.studies.campaigns.units import Campaign, Place
from harness.studies.fuzz.plan import FuzzPlan
from harness.studies.selftest import canary as planted

ENOUGH_CASES = 100_000
"""The canary shows within a few thousand cases of all generators; after so many, something is
wrong with the campaign."""


def plan_of(plan: FuzzPlan) -> FuzzPlan:
    """What a campaign does, to look for the canary."""
    present, _ = selection.participants([planted.REFERENCE])
    inner = replace(
        plan.plan,
        vocabularies={planted.VOCABULARY: partial(sources.resolve, planted.VOCABULARY)},
        participants=[*present, planted.canary()],
        references=frozenset({planted.REFERENCE}),
        checks=[CHECKS[planted.CANARY.check]],
        expectations=(),
        named=(),
        budget=replace(plan.plan.budget, cases=None),
    )
    return replace(
        plan, plan=inner, structured=False, coverage=False, costly=False, seeds=(), database=None
    )


def said(cases: int, *, found: bool) -> str:
    """What is known, in one line. The canary's cases are none of the campaign's."""
    if found:
        return f"the canary was found within {cases:,} cases of its own"
    return (
        f"the canary was not found in {cases:,} cases of its own: what this campaign does not find "
        "means little"
    )


def seen(plan: FuzzPlan, result: bytes | None) -> tuple[bool | None, str]:
    """Whether the canary was found, None while nobody knows, and what is said of it.

    result: of :func:`watched`, None while there is none.
    """
    if result is not None:
        found, line = json.loads(result)
        return found, line
    unknown = "the canary was not found yet when the session ended"
    return None, unknown if plan.canary else "no canary rode along"


def watched(keep: dict[str, Any], campaign: Campaign) -> bytes:
    """Look for the canary of a session; gives whether it was found, and what is said of it.

    Rounds of its own follow one another until it is found, or there is no hope.
    """
    whole = campaign.here({})
    assert isinstance(whole, FuzzPlan)
    plan = plan_of(whole)
    [source] = plan.plan.vocabularies
    place = keep["canary"] = Place()
    place.open(campaign.target, plan, f"{source}#0", {})
    came = place.perform(lambda target: target.open(), math.inf)
    found, cases = False, 0
    while came.mark and not found and cases < ENOUGH_CASES:
        came = place.perform(lambda target: target.round(), math.inf)
        if came.done is None:
            break
        found, cases = planted.is_caught(came.done.findings), came.done.cases
    place.close()
    return json.dumps([found, said(cases, found=found)]).encode()
