"""Gaps: what the user named and a run did not examine, and what else it left out, in words.

Each is one line that says what, why, and the mend. A run with a gap passes nothing. The user's own
candidate that nobody has seen to keep its bound on growth has not kept it, so a cell of it that is
undecided is a gap, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from corpora.families.catalog import TELLING
from harness.events import ContractOpened, GrowthJudged
from harness.verdict.coverage import (
    CANONICALITY,
    EQUIVALENCE,
    LEAST_CASES,
    SCALING,
    Coverage,
    enough,
)
from impls import registry

SHOWN, MANY_SHOWN = 3, 8
"""Names that a line lists, and bounds or names where these are what it is about; the report has
all."""

MEND = "give a larger --budget, or a [[scaling]] entry with the limit that it must keep"


def listed(items: Sequence[str], most: int = SHOWN, between: str = ", ") -> str:
    """The first of some items, and how many more there are."""
    more = len(items) - most
    return between.join([*items[:most], *([f"and {more} more"] if more > 0 else [])])


def counted(what: str, counts: Mapping[str, int]) -> list[str]:
    """A line that counts something by implementation, if there is anything."""
    line = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return [f"{what}: {line}"] if line else []


def gaps(coverage: Coverage) -> list[str]:
    """A line for each thing that the user named and the run did not examine: what and why.

    A run that examined nothing at all has a gap whatever was named.
    """
    reasons = {"vocabularies": _source, "implementations": _implementation, "checks": _check}
    lines = [
        line
        for kind, why in reasons.items()
        for name in coverage.named(kind)
        for line in why(coverage, name)
    ]
    if coverage.given is not None and not coverage.documents:
        lines.append(
            "no document of your texts was compared; give texts that are not empty, and two "
            "implementations that run the vocabulary (tokgate list impls)"
        )
    if not lines and coverage.comparing and not coverage.comparisons:
        lines = [f"nothing was compared: {_uncompared(coverage, [*coverage.contracts.values()])}"]
    if not lines and not coverage.examined:
        lines = ["nothing was tested: no implementation of this run runs a vocabulary"]
    return list(dict.fromkeys(lines))


def _source(coverage: Coverage, source: str) -> Iterator[str]:
    """Why a named vocabulary was not examined, if it was not."""
    loaded = next((v.id for v in coverage.vocabularies.values() if v.source == source), None)
    if source in coverage.not_reached:
        yield f"{source} was not tested: {coverage.not_reached[source].reason}"
    elif loaded is not None and coverage.comparing:
        opened = coverage.opened_on(loaded)
        if not any(coverage.compared_under(c, name) for c in opened for name in c.implementations):
            yield f"{loaded} was not tested: {_uncompared(coverage, opened)}"


def _uncompared(coverage: Coverage, opened: Sequence[ContractOpened]) -> str:
    """Why no two answers were compared under any of these comparisons."""
    present = _members(opened)
    if not opened and coverage.not_reached:
        return next(iter(coverage.not_reached.values())).reason
    if len(present) == 1:
        return f"only {present[0]} takes part; add another implementation with --impl"
    if all(len(one.implementations) < 2 for one in opened):
        return "no two implementations share a vocabulary and mode"
    asked = {name for name in present if any((name, c.id) in coverage.answers for c in opened)}
    if not asked:
        if coverage.given is not None and coverage.given.only:
            return "none of your texts can be written with its alphabet"
        return "no case was answered before the end of the run; give a larger --budget"
    mute = [
        f"{name} {_silent(coverage, name, opened)}"
        for name in present
        if not any(coverage.answered(name, one.id).answered for one in opened)
    ]
    if not mute:
        return "no two implementations that should give the same ids answered the same input"
    return f"no two implementations answered the same input ({listed(mute, between='; ')})"


def _members(opened: Iterable[ContractOpened]) -> list[str]:
    """Who takes part in any of these comparisons."""
    return list(dict.fromkeys(name for one in opened for name in one.implementations))


def _silent(coverage: Coverage, name: str, opened: Iterable[ContractOpened]) -> str:
    """How an implementation gave no answer under these comparisons, in a few words."""
    answers = [coverage.answered(name, one.id) for one in opened]
    reason = next((f": {one.reason}" for one in answers if one.reason), "")
    return f"answered none of {sum(one.asked for one in answers):,} inputs{reason}"


def _implementation(coverage: Coverage, name: str) -> Iterator[str]:
    """Why a named implementation was not examined, or where it was not, if so."""
    if any(who == name for who, _ in coverage.failures):
        return  # a failure to start is a reason of its own
    opened = [one for one in coverage.contracts.values() if name in one.implementations]
    lines = [line for one in opened for line in _under(coverage, name, one)]
    of_vocabularies = set(coverage.named("checks")) == {CANONICALITY}
    if not lines and name not in coverage.examined and not of_vocabularies:
        why = ["none of the chosen checks could judge an answer of it"] * bool(opened)
        why += [c.excluded[name] for c in coverage.contracts.values() if name in c.excluded]
        why += [one.reason for one in coverage.not_reached.values()]
        lines = [f"{name} was not tested: {[*why, 'no vocabulary of this run suits it'][0]}"]
    yield from lines
    yield from _unsettled(coverage, name)


def _under(coverage: Coverage, name: str, contract: ContractOpened) -> Iterator[str]:
    """Why a named implementation that takes part in a comparison was not examined there."""
    modes = coverage.opened_on(contract.vocabulary)
    in_any = any(coverage.answered(name, one.id).enough for one in modes)
    if not contract.checks or (coverage.on_given_inputs and in_any):
        return  # only measured; or given inputs, which one mode may decline
    answers, where = coverage.answered(name, contract.id), f"on {contract.id}"
    spec = coverage.started.specs.get(name, name) if coverage.started else name
    reason = f": {answers.reason}" if answers.reason else ""
    exact = contract.exact or contract.implementations
    compared = coverage.compared_under(contract, name)
    if not answers.asked:
        if all(who != name for who, _ in coverage.answers):
            yield f"{name} got no input {where}"
    elif not answers.enough:
        # A program has no other way to say that it does not do a mode.
        if answers.examined or not (spec.startswith("cmd:") and in_any):
            yield (
                f"{name} answered only {answers.examined:,} of {answers.asked:,} inputs {where}, "
                f"and {LEAST_CASES} are needed{reason}"
            )
    elif (
        EQUIVALENCE in contract.checks
        and (name in exact and len(exact) > 1)
        and (answers.answered and not enough(compared, answers.answered))
        # A library is there to be compared with, in the modes that the others do.
        and not (registry.built_in(spec) and any(coverage.compared_under(c, name) for c in modes))
    ):
        yield (
            f"only {compared:,} of {answers.answered:,} answers of {name} {where} could "
            f"be compared with another implementation, and {LEAST_CASES} are needed"
        )


def _unsettled(coverage: Coverage, name: str) -> Iterator[str]:
    """A line for each check of an implementation whose differences were not looked into."""
    for (where, check, who), left in coverage.unsettled.items():
        if who == name:
            number = sum(one.count for one in left)
            differences = "1 difference" if number == 1 else f"{number:,} differences"
            yield f"{differences} of {name} on {where} not looked into ({check}): {left[0].reason}"


def _check(coverage: Coverage, check: str) -> Iterator[str]:
    """Why a check that was named judged nothing, if so."""
    measures: Mapping[str, object] = {SCALING: coverage.growth, CANONICALITY: coverage.forced}
    if check in measures:
        if not measures[check]:
            yield f"{check} was requested, but nothing was measured"
    elif not any(number for (_, one, _), number in coverage.judged.items() if one == check):
        why = "it applies to no implementation of this run (tokgate list checks)"
        if any(check in contract.checks for contract in coverage.contracts.values()):
            why = "no implementation answered what it asks"
        yield f"the check {check} was requested, but nothing was tested: {why}"


def undecided(coverage: Coverage, growth: Collection[GrowthJudged]) -> list[str]:
    """A line for each gap in the growth of the user's own candidates.

    Of the families that there was no time for, only the telling ones are owed.
    """
    lines, telling = [], {family.name for family in TELLING}
    for who, left, _, missed in _followed(coverage, growth):
        owed = [family for family in missed if family in telling]
        if left:
            families = listed([one.family for one in left], 1)
            lines.append(f"{who} is unclear on {families} ({left[0].line}): {MEND}")
        if owed:
            why = "no time was left for it, or it was withdrawn before; give a larger --budget"
            lines.append(f"{who} was not measured on {listed(owed)}: {why}")
    return lines


def _followed(
    coverage: Coverage, growth: Collection[GrowthJudged]
) -> Iterator[tuple[str, list[GrowthJudged], int, Sequence[str]]]:
    """The user's own candidates on each vocabulary, in time.

    What it is about in words, the cells that were left open, how many were decided, and the
    families that were not measured.
    """
    timed: dict[tuple[str, str], list[GrowthJudged]] = {}
    for one in growth:
        if one.own and one.measure == "time":
            timed.setdefault((one.vocabulary, one.implementation), []).append(one)
    for place in dict.fromkeys([*timed, *coverage.unmeasured]):
        rows = timed.get(place, [])
        left = [one for one in rows if one.outcome == "inconclusive"]
        who = f"growth of {place[1]} on {place[0]}"
        yield who, left, len(rows) - len(left), coverage.unmeasured.get(place, ())


def broken(growth: Iterable[GrowthJudged]) -> list[str]:
    """A line for each implementation and bound that was broken, the first of them in full."""
    alike: dict[tuple[str, str], list[GrowthJudged]] = {}
    for one in growth:
        if one.outcome == "fail":
            alike.setdefault((one.implementation, one.bound), []).append(one)
    lines = [
        f"{name} is beyond its limit on {first.family} of {first.vocabulary}"
        f"{f' and {len(others)} more' if others else ''}: {first.line}; the limit is {bound} "
        f"({first.reason})"
        for (name, bound), (first, *others) in alike.items()
    ]
    hidden = len(lines) - MANY_SHOWN
    return lines[:MANY_SHOWN] + [f"and {hidden} more bounds on growth are broken"] * (hidden > 0)


def omissions(coverage: Coverage) -> list[str]:
    """A line for each thing that nobody named and that was not examined."""
    lines: list[str] = []
    late: dict[str, list[str]] = {}
    for source, missed in coverage.not_reached.items():
        if source not in coverage.named("vocabularies"):
            late.setdefault(missed.reason, []).append(source)
    lines += [f"not tested: {', '.join(sources)} ({why})" for why, sources in late.items()]
    opened = coverage.contracts.values()
    for one in opened:
        # The program whose format a vocabulary has, and that takes no part in comparing it.
        loaded = coverage.vocabularies.get(one.vocabulary)
        kind = "" if loaded is None or one.references else loaded.format
        lines += [
            f"{name}, the reference for {kind} files, took no part on {one.vocabulary}: "
            f"{one.excluded[name]}"
            for name in registry.REFERENCES.get(kind, ())
            if name in one.excluded
        ]
    asked = {contract for _, contract in coverage.answers}
    reached = {one.vocabulary for one in opened if one.id in asked}
    lines += [
        f"no inputs on {one.id}: no generator of this run makes cases for it"
        for one in opened
        if one.checks and one.id not in asked and one.vocabulary in reached
    ]
    named = coverage.named("implementations")
    silent = {name for name, _ in coverage.answers}.difference(coverage.examined, named)
    for name in sorted(silent):
        lines.append(f"not tested: {name} ({_silent(coverage, name, opened)})")
    for *_, name in coverage.unsettled:
        if name not in named:
            lines += _unsettled(coverage, name)
    return list(dict.fromkeys(lines))


def limits(coverage: Coverage) -> list[str]:
    """A line for each thing that limits what could be compared on a vocabulary."""
    lines: list[str] = []
    for name, loaded in coverage.vocabularies.items():
        readers = _members(coverage.opened_on(name))
        if loaded.unexpressed and len(readers) == 1:
            only = f"{name}: only {readers[0]} reads this file"
            lines.append(f"{only}, so there is nothing to compare with")
        else:
            lines += [f"{name}: {line}" for line in loaded.remarks]
    return lines


def notes(coverage: Coverage, growth: Collection[GrowthJudged] = ()) -> list[str]:
    """What a reader of the verdict should know beside it, a line each."""
    lines = [
        f"{who} by family: {decided} clear, {len(left)} unclear, {len(missed)} not measured"
        for who, left, decided, missed in _followed(coverage, growth)
    ]
    # Of all others an undecided cell fails nothing.
    counts = Counter(
        one.implementation for one in growth if one.outcome == "inconclusive" and not one.own
    )
    if counts:
        shown = listed([f"{name} ({count})" for name, count in counts.most_common()], MANY_SHOWN)
        total = f"{counts.total()} of {len(growth)} measurements that have a limit"
        lines.append(f"growth is unclear in {total}: {shown}")
    lines += omissions(coverage) + limits(coverage)
    unread = [one.vocabulary for one in coverage.texts.values() if not one.whole]
    if unread:
        lines.append(
            f"your texts were not read completely on {', '.join(unread)}; give a larger "
            "--budget, or --only-input without one"
        )
    lines += [one.line for one in coverage.withdrawn.values()]
    special = {
        name
        for found in coverage.findings.values()
        if (found.check, found.stage) == ("specials", "off")
        for name in found.culprits
    }
    lines += [
        f"{name} gives special tokens where they are ordinary text; if your plug-in cannot "
        "switch them off, set always_special = True (docs/plugins.md)"
        for name in sorted(special.difference(registry.names()))
    ]
    lines += counted("random vocabularies refused", coverage.refused)
    slow = "slow once under load, and answered when asked again alone"
    return lines + counted(slow, coverage.excused)
