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

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from harness.events import cause_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.events import ContractOpened, Found, Measured, Started
    from harness.verdict.coverage import Coverage

CHANCE = 0.05
"""Greatest probability of missing a fault that is still there, for its absence to mean anything."""

WORSENED = frozenset({("linear", "superlinear"), ("linear", "failed"), ("inconclusive", "failed")})
"""Verdicts on growth, old and new, of which the new one is news. From inconclusive to superlinear
is none: the old run did not know."""

BAD = frozenset({"superlinear", "failed"})
"""Verdicts on growth that are worth telling when they come or go."""


class Totals(Protocol):
    """What one generator contributed to a run."""

    @property
    def name(self) -> str:
        """The generator's."""

    @property
    def cases(self) -> int:
        """How many it made."""


class Record(Protocol):
    """What is asked of a run's record; :class:`reports.record.RunRecord` has it."""

    @property
    def started(self) -> Started | None:
        """How the run began, where the record says."""

    @property
    def complete(self) -> bool:
        """Whether it came to its own end."""

    @property
    def contracts(self) -> Sequence[ContractOpened]:
        """Who was compared where."""

    @property
    def findings(self) -> Sequence[Found]:
        """Each in its last state."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Bucket to how often it was seen."""

    @property
    def generators(self) -> Sequence[Totals]:
        """Those that made cases."""

    @property
    def coverage(self) -> Coverage:
        """What was examined."""

    @property
    def measured(self) -> Sequence[Measured]:
        """Growth."""


class State(StrEnum):
    """What became of a finding."""

    NEW = "new"
    FIXED = "fixed"
    STILL = "still there"
    NOT_OBSERVED = "not observed"


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Scaling:
    """A changed verdict on growth. old, new: verdict and exponent; new None: not measured again."""

    state: Growth
    implementation: str
    vocabulary: str
    family: str
    measure: str
    old: tuple[str, float | None]
    new: tuple[str, float | None] | None


@dataclass(frozen=True, slots=True)
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


def compare(old: Record, new: Record) -> Diff:
    """The second run against the first, in the order new, still there, fixed, not observed."""
    before, after = _places(old), _places(new)
    changes = [_seen(before.get(key, []), found, old, key[1]) for key, found in after.items()] + [
        _gone(found, old, new, key[1]) for key, found in before.items() if key not in after
    ]
    order = [State.NEW, State.STILL, State.FIXED, State.NOT_OBSERVED]
    changes.sort(key=lambda c: (order.index(c.state), c.expected, c.bucket, c.contract))
    versions = _versions(old), _versions(new)
    return Diff(
        changes=tuple(changes),
        scaling=tuple(_scaling(old.measured, new.measured)),
        versions={
            name: (versions[0].get(name, ""), versions[1].get(name, ""))
            for name in dict.fromkeys([*versions[0], *versions[1]])
            if versions[0].get(name) != versions[1].get(name)
        },
        old_complete=old.complete,
        new_complete=new.complete,
    )


def _versions(record: Record) -> Mapping[str, str]:
    return record.started.versions if record.started else {}


def _places(record: Record) -> dict[tuple[str, str], list[Found]]:
    """(cause, contract) to its findings, the clearest first."""
    places: dict[tuple[str, str], list[Found]] = {}
    for found in record.findings:
        places.setdefault((cause_of(found.bucket), found.contract), []).append(found)
    for findings in places.values():
        findings.sort(key=lambda f: (f.expected is not None, not f.minimal, len(f.input_b64), f.id))
    return places


def _seen(before: list[Found], found: list[Found], old: Record, where: str) -> Change:
    """What became of a cause that the new run shows.

    Another variant of a known cause is no news, unless the old run excused all that it saw of it:
    what is expected must not hide what is not.
    """
    expected = all(f.expected is not None for f in found)
    known = {one.bucket for one in before}
    fresh = [f for f in found if f.expected is None and f.bucket not in known]
    if before and all(one.expected is not None for one in before) and fresh:
        note = "other inputs of this cause are expected"
        return Change(State.NEW, fresh[0].bucket, where, fresh[0], expected=False, note=note)
    example = next((f for f in found if f.bucket in known), found[0])
    if before:
        return Change(State.STILL, example.bucket, where, example, expected)
    lack = _lack(example, old)
    note = f"the old run had not looked: {lack}" if lack else ""
    return Change(State.NEW, example.bucket, where, example, expected, note)


def _gone(found: list[Found], old: Record, new: Record, where: str) -> Change:
    bucket = found[0].bucket
    expected = all(f.expected is not None for f in found)
    reasons = [_doubt(one, old, new) for one in found]
    # Each input was a way to see it: the best look at any of them decides.
    if any(reason is None for reason in reasons):
        return Change(State.FIXED, bucket, where, found[0], expected)
    return Change(State.NOT_OBSERVED, bucket, where, found[0], expected, reasons[0] or "")


def _judged(record: Record, contract: str, check: str, names: Iterable[str]) -> int:
    return min((record.coverage.judged[contract, check, name] for name in names), default=0)


def _lack(found: Found, record: Record) -> str | None:
    """Why a run cannot have seen a finding at all; None where it could."""
    opened = {contract.id: contract for contract in record.contracts}
    contract = opened.get(found.contract)
    if contract is None:
        return f"{found.contract} was not part of it"
    for name in found.culprits:
        if name not in contract.implementations:
            return f"{name} took no part in {found.contract}"
        if not _judged(record, found.contract, found.check, [name]):
            return f"no {found.check} of {name} was judged on {found.contract}"
    trusted = found.groups[0].implementations if found.groups else []
    others = [name for name in trusted if name not in found.culprits]
    if others and not any(_judged(record, found.contract, found.check, [n]) for n in others):
        return f"{' and '.join(others)}, to compare with, took no part in {found.contract}"
    return None


def _doubt(found: Found, old: Record, new: Record) -> str | None:
    """Why a finding that is gone may still be there; None where it is fixed."""
    lack = _lack(found, new)
    if lack:
        return lack
    was = _judged(old, found.contract, found.check, found.culprits)
    now = _judged(new, found.contract, found.check, found.culprits)
    if _replayed(new):
        inputs = sum(1 for one in old.findings if one.vocabulary == found.vocabulary)
        return None if now >= inputs else "not all findings of the old run were replayed"
    generators = Counter({totals.name: totals.cases for totals in new.generators})
    if not generators[found.generator]:
        return f"the generator {found.generator}, which had found it, made no case"
    if _same_cases(old, new) and now >= was:
        return None
    seen = _count(found, old)
    share = min(1.0, seen / max(was, seen, 1))
    missed = 0.0 if share >= 1.0 else math.exp(now * math.log1p(-share))
    if missed <= CHANCE:
        return None
    return (
        f"seen in {seen:,} of {was:,} outcomes, and only {now:,} judged now: "
        f"missed by chance with probability {missed:.0%}"
    )


def _replayed(record: Record) -> bool:
    started = record.started
    return started is not None and started.suite == "given" and " replay " in started.command


def _same_cases(old: Record, new: Record) -> bool:
    """Whether both runs draw the same cases in the same order, as far as each goes."""
    one, other = old.started, new.started
    if one is None or other is None:
        return False
    tokgate = one.versions.get("tokgate"), other.versions.get("tokgate")
    return one.seed == other.seed and one.suite == other.suite and tokgate[0] == tokgate[1]


def _count(found: Found, record: Record) -> int:
    """How often the bucket was seen, shared out over the contracts where it was found."""
    places = {one.contract for one in record.findings if one.bucket == found.bucket}
    return max(1, record.counts.get(found.bucket, 1) // max(1, len(places)))


def _scaling(old: Sequence[Measured], new: Sequence[Measured]) -> Iterable[Scaling]:
    after = {(m.implementation, m.vocabulary, m.family, m.measure): m for m in new}
    for was in old:
        key = was.implementation, was.vocabulary, was.family, was.measure
        now = after.get(key)
        earlier = was.verdict, was.exponent
        if now is None:
            if was.verdict in BAD:
                yield Scaling(Growth.NOT_OBSERVED, *key, earlier, None)
        elif now.verdict != was.verdict:
            state = Growth.CHANGED
            if (was.verdict, now.verdict) in WORSENED:
                state = Growth.WORSE
            elif was.verdict in BAD and now.verdict == "linear":
                state = Growth.BETTER
            yield Scaling(state, *key, earlier, (now.verdict, now.exponent))
