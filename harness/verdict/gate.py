"""The verdict: findings against expectations, growth against its bounds, coverage without gaps."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from harness.core.exit_statuses import CANNOT_START, FAILS, HOLDS, NOT_EXAMINED, USAGE
from harness.events import (
    FAIL,
    PASS,
    UNEXAMINED,
    ExpectationJudged,
    Found,
    GrowthJudged,
    by_cause,
    named,
)
from harness.verdict import gaps
from harness.verdict.coverage import Coverage
from harness.verdict.expectations import Expectation
from harness.verdict.gaps import MANY_SHOWN, listed

EXACT_METHOD = "exact"
"""The method of forced tokens that decides instead of guessing."""


@dataclass(frozen=True)
class Verdict:
    """Whether the gate holds, and why not.

    value: ``pass``, ``fail`` or ``not-examined``, as in ``summary.json``. reasons: why it is no
    pass, a line each. notes: what else a reader should know.
    """

    value: str
    reasons: tuple[str, ...]
    exit_status: int
    notes: tuple[str, ...] = ()


def judge_expectations(
    expectations: Sequence[Expectation],
    findings: Sequence[Found],
    exercised: set[int],
    shown: set[int],
    versions: Mapping[str, str],
    today: datetime.date,
) -> list[ExpectationJudged]:
    """What became of each expectation; ``exercised`` and ``shown`` are places in the list.

    exercised: those whose examples were judged on every vocabulary on which they were asked.

    versions: of the implementations that take part; an entry for others is not exercised.
    """
    judged = []
    for place, entry in enumerate(expectations):
        status = "stale" if place in exercised else "not-exercised"
        if place in shown or (
            # Where each example has to show, a finding of another input says nothing of them.
            not (place in exercised and entry.one_vocabulary)
            and entry.applies(versions)
            and any(entry.shows_in(f.bucket, f.vocabulary) for f in findings)
        ):
            status = "expired" if entry.expired(today) else "shown"
        names = sorted(entry.implementations)
        about = entry.reason, entry.link, names, entry.vocabulary
        judged.append(ExpectationJudged(entry.bucket, status, *about))
    return judged


def judge(
    expectations: Sequence[ExpectationJudged],
    growth: Collection[GrowthJudged],
    coverage: Coverage,
    *,
    complete: bool = True,
) -> Verdict:
    """The verdict of a run.

    growth: the cells that bounds are on. complete: whether it came to its own end; of one that did
    not nobody says what it left out.

    It fails for what is wrong. Where nothing is, it passes only if all that the user named was
    examined (:mod:`harness.verdict.gaps`).
    """
    # By cause: a mistake that shows on several kinds of inputs is one finding.
    causes = by_cause(one for one in coverage.findings.values() if one.expected is None)
    unexpected = sorted(map(named, causes.values()))
    count = f"{len(unexpected)} unexpected finding{'s' * (len(unexpected) > 1)}"
    reasons = [f"{count}: {listed(unexpected, MANY_SHOWN)}"] * bool(unexpected)
    for status, words in (
        ("stale", "known differences that no longer show: remove their entries"),
        ("expired", "known differences whose entries have expired"),
    ):
        buckets = [one.bucket for one in expectations if one.status == status]
        reasons += [f"{words}: {', '.join(buckets)}"] * bool(buckets)
    reasons += gaps.broken(growth)
    erring = [
        f"{one.vocabulary} ({one.unsafe} sequences)"
        for one in coverage.forced.values()
        if one.method == EXACT_METHOD and one.unsafe
    ]
    wrong = f"exact forces tokens that are not canonical: {', '.join(erring)}"
    reasons += [wrong] * bool(erring)
    exit_status = FAILS if reasons else USAGE
    unread = max(coverage.texts.values(), key=lambda one: one.unreadable, default=None)
    if unread is not None and unread.unreadable:
        records = "1 record" if unread.unreadable == 1 else f"{unread.unreadable:,} records"
        first = "".join(unread.faults[:1])
        reasons.append(f"{records} of your texts could not be read, and took no part: {first}")
    failures = [
        ": ".join((f"{one.implementation} on {one.vocabulary}", one.message.split("\n", 1)[0]))
        for one in coverage.failures.values()
    ]
    if failures:
        exit_status = CANNOT_START
        reasons.append(f"could not be started: {listed(failures, MANY_SHOWN, '; ')}")
    notes = tuple(gaps.notes(coverage, growth))
    missing = (*gaps.gaps(coverage), *gaps.undecided(coverage, growth)) if complete else ()
    if reasons:
        return Verdict(FAIL, tuple(reasons), exit_status, missing + notes)
    if missing:
        return Verdict(UNEXAMINED, missing, NOT_EXAMINED, notes)
    return Verdict(PASS, (), HOLDS, notes)
