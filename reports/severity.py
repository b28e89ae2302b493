"""How bad a finding is, in a word; a share of inputs, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.checks.base import Severity

if TYPE_CHECKING:
    from harness.checks.base import Check
    from harness.events import Found, Group

SEVERITIES = tuple(Severity)
"""The worst first."""

DEATHS = frozenset({"crashed", "out-of-memory", "timed-out", "protocol", "errored"}) | {
    "left-processes",
    "false-claim",
}
"""Kinds of :class:`harness.events.Group` in which an implementation gave no answer at all, or left
processes behind."""


def check_of(finding: Found) -> Check | None:
    """The check of a finding; None for one that this version of tokgate does not have."""
    return CHECKS.get(finding.check.replace("_", "-").replace(" ", "-"))


def dead(finding: Found) -> Group | None:
    """The first outcome that is no answer, of somebody who is blamed."""
    blamed = set(finding.culprits)
    groups = (g for g in finding.partition if g.kind in DEATHS and blamed & set(g.implementations))
    return next(groups, None)


def severity(finding: Found) -> Severity:
    """How bad a finding is: a crash where somebody blamed gave no answer, else by its check."""
    if dead(finding):
        return Severity.CRASH
    check = check_of(finding)
    return Severity.SERVICE if check is None else check.severity


def share(value: float) -> str:
    """A share as a percentage with two figures that tell: ``7.1 %``, ``0.032 %``, ``< 0.001 %``."""
    percent = 100 * value
    if percent and percent < 0.001:
        return "< 0.001 %"
    digits = 0 if percent >= 10 else 1 if percent >= 1 else 2 if percent >= 0.1 else 3
    return f"{percent:.{digits}f} %"
