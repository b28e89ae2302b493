"""The verdict: findings against expectations, growth against its bounds."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.exit_statuses import CANNOT_START, FAILS, HOLDS
from harness.events import NOTHING_TO_COMPARE, ExpectationJudged, by_cause, named

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.events import Forced, Found, GrowthJudged, Measured
    from harness.verdict.expectations import Expectation

REASONS_SHOWN = 8

MORE_TIME = "give a larger --budget"

EXACT_METHOD = "exact"
"""The method of forced tokens that decides instead of guessing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the gate holds, and why not."""

    passed: bool
    reasons: tuple[str, ...]
    exit_status: int
    notes: tuple[str, ...] = ()
    """The notes say what was left open, which is no failure and no pass either."""


def judge_expectations(
    expectations: Sequence[Expectation],
    findings: Sequence[Found],
    exercised: set[int],
    shown: set[int],
    versions: Mapping[str, str],
    today: datetime.date,
) -> list[ExpectationJudged]:
    """What became of each expectation; ``exercised`` and ``shown`` are places in the list.

    versions: of the implementations that take part; an entry for others is not exercised.
    """
    judged = []
    for place, expectation in enumerate(expectations):
        seen = place in shown or (
            # Where each example has to show, a finding of another input says nothing of them.
            not (place in exercised and expectation.one_vocabulary)
            and expectation.applies(versions)
            and any(expectation.shows_in(f.bucket, f.vocabulary) for f in findings)
        )
        if seen:
            status = "expired" if expectation.expired(today) else "shown"
        else:
            status = "stale" if place in exercised else "not-exercised"
        judged.append(
            ExpectationJudged(
                bucket=expectation.bucket,
                status=status,
                reason=expectation.reason,
                link=expectation.link,
                implementations=sorted(expectation.implementations),
                vocabulary=expectation.vocabulary,
            )
        )
    return judged


def judge(
    findings: Sequence[Found],
    expectations: Sequence[ExpectationJudged],
    measured: Sequence[Measured],
    growth: Collection[GrowthJudged],
    failed_to_start: Sequence[str],
    comparisons: int,
    *,
    comparing: bool = True,
    compared_nothing: str = "nothing was compared",
    inapplicable: str = "",
    judged: int = 0,
    idle: Sequence[str] = (),
    late: Mapping[str, Sequence[str]] | None = None,
    why: Mapping[str, str] | None = None,
    complete: bool = True,
    forced: Sequence[Forced] = (),
) -> Verdict:
    """The verdict of a run; one that is not complete is never said to have passed over anybody.

    growth: the cells that bounds are on. failed_to_start: one line each.
    comparing: whether the run was to compare at all, and not only to measure or to check each
    implementation by itself. compared_nothing: why there is no comparison, where there is none.
    inapplicable: why no check applied to anybody, where none did; nothing else is said then.
    judged: outcomes that some check judged. idle: those that the
    user named and of which no outcome was judged; a gate that never looked at them says nothing.
    late: for each of them the vocabularies for which no time was left. why: the reason that it gave
    for taking no part, where it gave one.
    forced: rows of forced tokens, of which the exact method's are held to no error.
    A run that compared and judged nothing does not pass: it says nothing.
    """
    reasons = []
    # By cause: a mistake that shows on several kinds of inputs is one finding.
    causes = by_cause(finding for finding in findings if finding.expected is None)
    unexpected = sorted(named(alike) for alike in causes.values())
    if unexpected:
        plural = "" if len(unexpected) == 1 else "s"
        shown = ", ".join(unexpected[:REASONS_SHOWN])
        more = len(unexpected) - REASONS_SHOWN
        rest = f", and {more} more" if more > 0 else ""
        reasons.append(f"{len(unexpected)} unexpected finding{plural}: {shown}{rest}")
    for status, words in (
        ("stale", "expected, exercised, and no longer there (mend the expectations file)"),
        ("expired", "expected until a date that has passed"),
    ):
        buckets = [one.bucket for one in expectations if one.status == status]
        if buckets:
            reasons.append(f"{words}: {', '.join(buckets)}")
    reasons += broken_bounds(growth)
    notes = open_bounds(growth)
    erring = [one for one in forced if one.method == EXACT_METHOD and one.unsafe]
    if erring:
        where = ", ".join(f"{one.vocabulary} ({one.unsafe} sequences)" for one in erring)
        reasons.append(f"exact forces tokens that are not canonical: {where}")
    if inapplicable and complete and not measured and not forced:
        idle = ()
        reasons.append(inapplicable)
    if idle and complete:
        late = late or {}
        for name in idle:
            if late.get(name):
                where = ", ".join(late[name][:REASONS_SHOWN])
                reasons.append(f"no time was left to judge {name} on {where}; {MORE_TIME}")
        never = [name for name in idle if not late.get(name)]
        if never:
            described = [f"{name} ({why[name]})" if why and name in why else name for name in never]
            reasons.append(f"asked for by name and never judged: {', '.join(described)}")
    elif idle:
        reasons.append(f"the end came before any outcome was judged of: {', '.join(idle)}")
    if failed_to_start:
        reasons.append(f"could not be started: {'; '.join(failed_to_start[:REASONS_SHOWN])}")
        return Verdict(False, tuple(reasons), CANNOT_START, notes)
    if not complete or inapplicable in reasons:
        pass  # what did not happen may only not have been reached, or is told already
    elif not comparing and not measured and not judged and not forced:
        reasons.append("nothing was judged or measured: no implementation can run a vocabulary")
    elif comparing and not comparisons:
        reasons.append(compared_nothing)
    return Verdict(not reasons, tuple(reasons), FAILS if reasons else HOLDS, notes)


def without_rival(verdict: Verdict, compared_nothing: str, rivals: bool) -> Verdict | None:
    """The verdict where nothing was compared as there was nobody to compare with; else None.

    compared_nothing: the reason that a verdict without comparisons has. rivals: whether there was
    anybody. Such a run has not failed, and has not passed either: who asked for a comparison got
    none. One that found anything else failed as any other.
    """
    if rivals or verdict.reasons != (compared_nothing,):
        return None
    return Verdict(False, (NOTHING_TO_COMPARE,), verdict.exit_status, verdict.notes)


def broken_bounds(growth: Collection[GrowthJudged]) -> list[str]:
    """A line for each implementation and bound that was broken, the first of them in full."""
    broken: dict[tuple[str, str], list[GrowthJudged]] = {}
    for one in growth:
        if one.outcome == "fail":
            broken.setdefault((one.implementation, one.bound), []).append(one)
    lines = []
    for (name, bound), cells in broken.items():
        first, more = cells[0], len(cells) - 1
        rest = f", and on {more} more" if more else ""
        lines.append(
            f"{name} is bound to {bound} ({first.reason}), but {first.line} "
            f"on {first.family} of {first.vocabulary}{rest}"
        )
    hidden = len(lines) - REASONS_SHOWN
    more_lines = [f"and {hidden} more bounds on growth are broken"] if hidden > 0 else []
    return lines[:REASONS_SHOWN] + more_lines


def open_bounds(growth: Collection[GrowthJudged]) -> tuple[str, ...]:
    """One line on the bounds that could not be judged, if any."""
    left = [one for one in growth if one.outcome == "inconclusive"]
    if not left:
        return ()
    counts = Counter(one.implementation for one in left)
    shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common(REASONS_SHOWN))
    return (f"growth inconclusive in {len(left)} of {len(growth)} bound cells: {shown}",)
