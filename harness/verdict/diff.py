"""What changed from one run to another: new, fixed, still there, not observed.

Pure judgement on two records. A finding that is gone was not necessarily mended: the second run
may not have had the implementation, the check, the vocabulary or the generator, or may have
drawn fewer cases. It is ``fixed`` only where that run looked as hard as it takes to see it:

- under the same contract the same check judged the same implementations, and
- the inputs were the same (a replay of the findings; or the same seed and version of tokgate, and
  at least as many outcomes judged), or so many that missing it by chance is improbable.

The latter by the zero-failure bound of binomial sampling (Hanley & Lippman-Hand, "If nothing goes
wrong, is everything all right?", JAMA 249, 1983; the rule of three): a fault that shows in a share
p of outcomes is missed by n of them with probability (1 - p)^n. Everything else that is gone is
``not observed``, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.events import Found, by_cause
from harness.verdict.coverage import GIVEN, Coverage

CHANCE = 0.05
"""Greatest probability of missing a fault that is still there, for its absence to mean anything."""

WORSENED = frozenset({("linear", "superlinear"), ("linear", "failed"), ("inconclusive", "failed")})
"""Verdicts on growth, old and new, of which the new one is news. From inconclusive to superlinear
is none: the old run did not know."""

BAD = frozenset({"superlinear", "failed"})
"""Verdicts on growth that are worth telling when they come or go."""


class State(StrEnum):
    """What became of a finding."""

    NEW = "new"
    STILL = "still there"
    FIXED = "fixed"
    NOT_OBSERVED = "not observed"


@dataclass(frozen=True)
class Change:
    """One cause under one contract, in both runs.

    bucket: of the example. example: the finding to look at, of the second run where it has one.
    expected: an expectation of the run that shows it covers it. note: why it counts as this, where
    that is not plain.
    """

    state: State
    bucket: str
    contract: str
    example: Found
    expected: bool
    note: str = ""


class Growth(StrEnum):
    """What became of the growth of an implementation on a family."""

    WORSE = "worse"
    BETTER = "better"
    CHANGED = "changed"
    NOT_OBSERVED = "not observed"


@dataclass(frozen=True)
class Scaling:
    """A changed verdict on growth. old, new: verdict and exponent; new None: not measured again."""

    state: Growth
    implementation: str
    vocabulary: str
    family: str
    measure: str
    old: tuple[str, float | None]
    new: tuple[str, float | None] | None


@dataclass(frozen=True)
class Diff:
    """Two runs compared. versions: those that differ, as (old, new); empty where one lacks it."""

    changes: tuple[Change, ...]
    scaling: tuple[Scaling, ...]
    versions: Mapping[str, tuple[str, str]]
    old_complete: bool
    new_complete: bool

    def of(self, state: State) -> tuple[Change, ...]:
        """The changes of one kind."""
        return tuple(change for change in self.changes if change.state is state)

    @property
    def new(self) -> bool:
        """Whether there is something new and bad: an unexpected finding, or growth got worse."""
        return any(not change.expected for change in self.of(State.NEW)) or any(
            row.state is Growth.WORSE for row in self.scaling
        )


def compare(old: Coverage, new: Coverage) -> Diff:
    """The second run against the first, in the order new, still there, fixed, not observed."""
    before, after = _places(old), _places(new)
    changes = [
        _change(before.get(place, []), after.get(place, []), old, new) for place in after | before
    ]
    order = list(State)
    changes.sort(key=lambda c: (order.index(c.state), c.expected, c.bucket, c.contract))
    one, other = (run.started.versions if run.started else {} for run in (old, new))
    return Diff(
        changes=tuple(changes),
        scaling=tuple(_scaling(old, new)),
        versions={
            name: (one.get(name, ""), other.get(name, ""))
            for name in one | other
            if one.get(name) != other.get(name)
        },
        old_complete=old.complete,
        new_complete=new.complete,
    )


def _places(run: Coverage) -> dict[tuple[str, str], list[Found]]:
    """(cause, contract) to its findings, the clearest first."""
    places: dict[tuple[str, str], list[Found]] = {}
    for cause, alike in by_cause(run.findings.values()).items():
        for found in alike:
            places.setdefault((cause, found.contract), []).append(found)
    return places


def _change(before: list[Found], found: list[Found], old: Coverage, new: Coverage) -> Change:
    """What became of a cause, by what either run shows of it.

    Another variant of a known cause is no news, unless the old run excused all that it saw of it:
    what is expected must not hide what is not.
    """
    alike, known, note = found or before, {one.bucket for one in before}, ""
    example = next((one for one in alike if one.bucket in known), alike[0])
    fresh = [one for one in found if one.expected is None and one.bucket not in known]
    if not found:
        # Each input was a way to see it: the best look at any of them decides.
        doubts = [_doubt(one, old, new) for one in before]
        note = doubts[0] if all(doubts) else ""
        state = State.NOT_OBSERVED if note else State.FIXED
    elif before and not (fresh and all(one.expected is not None for one in before)):
        state = State.STILL
    else:
        state, lack = State.NEW, ""
        if before:
            alike, example, note = fresh, fresh[0], "other inputs of this cause are expected"
        else:
            lack = _lack(example, old)
        note = f"the old run had not looked: {lack}" if lack else note
    expected = all(one.expected is not None for one in alike)
    return Change(state, example.bucket, example.contract, example, expected, note)


def _lack(found: Found, run: Coverage) -> str:
    """Why a run cannot have seen a finding at all; empty where it could."""
    where, check = found.contract, found.check
    contract = run.contracts.get(where)
    if contract is None:
        return f"{where} was not part of it"
    for name in found.culprits:
        cell = run.cell(name, contract, check)
        if not cell.judged:
            return f"{name} was not tested by {check} on {where}: {cell.reason}"
    trusted = found.partition[0].implementations if found.partition else []
    others = [name for name in trusted if name not in found.culprits]
    if others and not any(run.judged[where, check, name] for name in others):
        return f"{' and '.join(others)}, to compare with, took no part in {where}"
    return ""


def _doubt(found: Found, old: Coverage, new: Coverage) -> str:
    """Why a finding that is gone may still be there; empty where it is fixed."""
    lack = _lack(found, new)
    if lack:
        return lack
    was, now = (
        min((run.judged[found.contract, found.check, name] for name in found.culprits), default=0)
        for run in (old, new)
    )
    one, other = old.started, new.started
    if other is not None and other.suite == GIVEN and " replay " in other.command:
        inputs = sum(known.vocabulary == found.vocabulary for known in old.findings.values())
        return "" if now >= inputs else "not all findings of the old run were replayed"
    if found.generator not in new.generators:
        return f"the generator {found.generator}, which had found it, made no case"
    # The same seed, suite and version draw the same cases in the same order, as far as they go.
    drawn = [run and (run.seed, run.suite, run.versions.get("tokgate")) for run in (one, other)]
    if one is not None and drawn[0] == drawn[1] and now >= was:
        return ""
    # How often the bucket was seen, shared out over the comparisons where it was found.
    places = {known.contract for known in old.findings.values() if known.bucket == found.bucket}
    seen = max(1, old.counts.get(found.bucket, 1) // len(places))
    of = max(was, seen)
    if gone(seen, of, now):
        return ""
    return (
        f"seen in {seen:,} of {was:,} outcomes, and only {now:,} judged now: "
        f"missed by chance with probability {missed(seen, of, now):.0%}"
    )


def missed(seen: int, of: int, looks: int) -> float:
    """The chance that so many looks all miss what ``seen`` of ``of`` earlier looks have shown.

    (1 - seen / of)^looks.
    """
    return float((1 - seen / of) ** looks)


def gone(seen: int, of: int, looks: int) -> bool:
    """Whether what ``seen`` of ``of`` earlier looks have shown, and no later one, is fixed.

    So it is where chance explains that in fewer than one of twenty cases.
    """
    return missed(seen, of, looks) <= CHANCE


def _scaling(old: Coverage, new: Coverage) -> Iterable[Scaling]:
    for key, was in old.growth.items():
        now = new.growth.get(key)
        state, later = Growth.NOT_OBSERVED, None
        if now is not None:
            state, later = Growth.CHANGED, (now.verdict, now.exponent)
            if (was.verdict, now.verdict) in WORSENED:
                state = Growth.WORSE
            elif was.verdict in BAD and now.verdict == "linear":
                state = Growth.BETTER
        if was.verdict in BAD if now is None else now.verdict != was.verdict:
            yield Scaling(state, *key, (was.verdict, was.exponent), later)
