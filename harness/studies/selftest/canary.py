"""The canary: one planted mistake that rides in every nightly campaign and must be found.

A campaign that does not find it within its budget is not to be believed when it finds nothing else.
It rides in a contract of its own (:data:`REFERENCE` and the canary, on :data:`VOCABULARY`), so that
the buckets of other findings do not name it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.embedded import left_out
from harness.core.participants import Participant
from harness.studies.selftest.catalog import mistakes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.events import Found

CANARY = mistakes()["pretokens.curly-contraction" if left_out() else "merging.long-words"]
"""Subtle, since most words have no tie, and none that is short shows it; findable, since those of
some scripts have one at once. Where its vocabulary is not installed, one of a toy is taken."""

VOCABULARY = CANARY.vocabulary
REFERENCE = "tiktoken"


def canary() -> Participant:
    """The canary as a campaign takes it: its name is ``CANARY.name``."""
    implementation = CANARY.implementation
    return Participant(CANARY.name, CANARY.spec, implementation.about, implementation)


def is_canary(found: Found) -> bool:
    """Whether a finding is the canary's alone: none of what a campaign is run for."""
    return set(found.culprits) == {CANARY.name}


def is_caught(findings: Iterable[Found]) -> bool:
    """Whether the canary was found, and under its name."""
    return any(is_canary(found) and found.check == CANARY.check for found in findings)
