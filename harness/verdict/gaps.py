"""Gaps: what the user named and a run did not examine, and what else it left out, in words.

Each is one line that says what, why, and the mend. A run with a gap passes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.verdict.coverage import (
    CANONICALITY,
    EQUIVALENCE,
    GIVEN,
    LEAST_CASES,
    SCALING,
    enough,
)
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.events import ContractOpened
    from harness.verdict.coverage import Coverage

SHOWN = 3
"""Names that a line lists; the report has all."""


def listed(items: Sequence[str], most: int = SHOWN, between: str = ", ") -> str:
    """The first of some items, and how many more there are."""
    more = len(items) - most
    return between.join([*items[:most], *([f"and {more} more"] if more > 0 else [])])


def gaps(coverage: Coverage) -> list[str]:
    """A line for each thing that the user named and the run did not examine: what and why.

    A run that examined nothing at all has a gap whatever was named.
    """
    lines = list(dict.fromkeys(_gaps(coverage)))
    if not lines and coverage.comparing and not coverage.comparisons:
        return [f"nothing was compared: {_incomparable(coverage)}"]
    if not lines and not coverage.examined:
        return ["nothing was tested: no implementation of this run runs a vocabulary"]
    return lines


def _gaps(coverage: Coverage) -> Iterator[str]:
    for source in coverage.named.get("vocabularies", ()):
        yield from _vocabulary(coverage, source)
    for name in coverage.named.get("implementations", ()):
        yield from _implementation(coverage, name)
    for check in coverage.named.get("checks", ()):
        yield from _check(coverage, check)
    yield from coverage.texts.unexamined()


def omissions(coverage: Coverage) -> list[str]:
    """A line for each thing that nobody named and that was not examined."""
    return list(dict.fromkeys(_omissions(coverage)))


def _omissions(coverage: Coverage) -> Iterator[str]:
    late: dict[str, list[str]] = {}
    for source, missed in coverage.not_reached.items():
        if source not in coverage.named.get("vocabularies", ()):
            late.setdefault(missed.reason, []).append(source)
    for reason, sources in late.items():
        yield f"not tested: {', '.join(sources)} ({reason})"
    opened = coverage.contracts.values()
    for one in opened:
        # The program whose format a vocabulary has, and that takes no part in comparing it.
        loaded = coverage.vocabularies.get(one.vocabulary)
        kind = "" if loaded is None or one.references else loaded.format
        for name in registry.REFERENCES.get(kind, ()):
            if name in one.excluded:
                who = f"{name}, the reference for {kind} files, took no part on {one.vocabulary}"
                yield f"{who}: {one.excluded[name]}"
    asked = {contract for _, contract in coverage.answers}
    reached = {one.vocabulary for one in opened if one.id in asked}
    for one in opened:
        if one.checks and one.id not in asked and one.vocabulary in reached:
            yield f"nothing was asked on {one.id}: no generator of this run makes cases for it"
    silent = {name for name, _ in coverage.answers} - coverage.examined
    named = coverage.named.get("implementations", ())
    for name in sorted(silent.difference(named)):
        yield f"not tested: {name} ({_silent(coverage, name, opened)})"
    for *_, name in coverage.unsettled:
        if name not in named:
            yield from _unsettled(coverage, name)


def _vocabulary(coverage: Coverage, source: str) -> Iterator[str]:
    """Why a named vocabulary was not examined, if it was not."""
    loaded = next((v.id for v in coverage.vocabularies.values() if v.source == source), None)
    if source in coverage.not_reached:
        yield f"{source} was not tested: {coverage.not_reached[source].reason}"
    elif loaded is not None and coverage.comparing:
        opened = coverage.opened_on(loaded)
        if not any(
            coverage.compared_under(one, name) for one in opened for name in _members([one])
        ):
            yield f"{loaded} was not tested: {_uncompared(coverage, opened)}"


def _members(opened: Iterable[ContractOpened]) -> list[str]:
    """Who takes part in any of these comparisons."""
    return list(dict.fromkeys(name for one in opened for name in one.implementations))


def _incomparable(coverage: Coverage) -> str:
    """Why no two answers of a run were compared, where none were."""
    opened = list(coverage.contracts.values())
    if not opened and coverage.not_reached:
        return next(iter(coverage.not_reached.values())).reason
    if all(len(one.implementations) < 2 for one in opened):
        return "no two implementations share a vocabulary and mode"
    return _uncompared(coverage, opened)


def _uncompared(coverage: Coverage, opened: Sequence[ContractOpened]) -> str:
    """Why no two answers were compared under any of these comparisons."""
    present = _members(opened)
    if len(present) < 2:
        who = f"only {present[0]} takes part" if present else "no implementation supports it"
        return f"{who}, so there is nothing to compare; add another one with --impl"
    if not any((name, one.id) in coverage.answers for name in present for one in opened):
        if coverage.texts.given is not None and coverage.texts.given.only:
            return "none of your texts can be written with its alphabet"
        return "no case was answered before the end of the run; give a larger --budget"
    mute = [
        f"{name}: {_silent(coverage, name, opened)}"
        for name in present
        if not any(coverage.answered(name, one.id).answered for one in opened)
    ]
    if not mute:
        return "no two implementations that should give the same ids answered the same input"
    return f"no two implementations answered the same input ({listed(mute, between='; ')})"


def _silent(coverage: Coverage, name: str, opened: Iterable[ContractOpened]) -> str:
    """Why an implementation gave no answer under these comparisons, in a few words."""
    asked = sum(coverage.answered(name, one.id).asked for one in opened)
    said = (one.reason for (who, _), one in coverage.answers.items() if who == name and one.reason)
    reason = coverage.how.get(name) or next(said, "")
    calls = "the one input" if asked == 1 else f"any of {asked:,} inputs"
    return f"it did not answer {calls}" + (f": {reason}" if reason else "")


def _implementation(coverage: Coverage, name: str) -> Iterator[str]:
    """Why a named implementation was not examined, or where it was not, if so."""
    if any(who == name for who, _ in coverage.failures):
        return  # a failure to start is a reason of its own
    opened = [one for one in coverage.contracts.values() if name in one.implementations]
    lines = [line for one in opened for line in _under(coverage, name, one)]
    of_vocabularies = set(coverage.named.get("checks", ())) == {CANONICALITY}
    if not lines and name not in coverage.examined and not of_vocabularies:
        why = ["none of the chosen checks could judge an answer of it"] if opened else []
        why += [c.excluded[name] for c in coverage.contracts.values() if name in c.excluded]
        why += [one.reason for one in coverage.not_reached.values()]
        lines = [f"{name} was not tested: {[*why, 'no vocabulary of this run came to it'][0]}"]
    yield from lines
    yield from _unsettled(coverage, name)


def _under(coverage: Coverage, name: str, contract: ContractOpened) -> Iterator[str]:
    """Why a named implementation that takes part in a comparison was not examined there."""
    modes = coverage.opened_on(contract.vocabulary)
    in_any = any(coverage.answered(name, one.id).enough for one in modes)
    if not contract.checks or (coverage.suite == GIVEN and in_any):
        return  # only measured; or given inputs, which one mode may decline
    answers, spec = coverage.answered(name, contract.id), coverage.specs.get(name, name)
    examined, reason = answers.examined, f": {answers.reason}" if answers.reason else ""
    exact = contract.exact or contract.implementations
    compared = coverage.compared_under(contract, name)
    if not answers.asked:
        if not any(one.asked for (who, _), one in coverage.answers.items() if who == name):
            yield f"{name} was asked nothing on {contract.id}"
    elif not examined:
        # A program has no other way to say that it does not do a mode.
        if not (spec.startswith("cmd:") and in_any):
            yield f"{name} answered none of {answers.asked:,} inputs on {contract.id}{reason}"
    elif not answers.enough:
        yield (
            f"{name} answered only {examined:,} of {answers.asked:,} inputs on {contract.id}, "
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
            f"only {compared:,} of {answers.answered:,} answers of {name} on {contract.id} could "
            f"be compared with another implementation, and {LEAST_CASES} are needed"
        )


def _unsettled(coverage: Coverage, name: str) -> Iterator[str]:
    """A line for each check of an implementation whose differences were not looked into."""
    for (where, check, who), number in coverage.unsettled.items():
        if who == name:
            differences = "1 difference" if number == 1 else f"{number:,} differences"
            reason = coverage.open_because[where, check, name]
            yield f"{differences} of {name} on {where} not looked into ({check}): {reason}"


def _check(coverage: Coverage, check: str) -> Iterator[str]:
    """Why a check that was named judged nothing, if so."""
    measures: Mapping[str, object] = {SCALING: coverage.growth, CANONICALITY: coverage.forced}
    if check in measures:
        if not measures[check]:
            yield f"{check} was named and measured nothing"
    elif not any(number for (_, one, _), number in coverage.judged.items() if one == check):
        why = "it applies to no implementation of this run (tokgate list checks)"
        if any(check in contract.checks for contract in coverage.contracts.values()):
            why = "no implementation answered what it asks"
        yield f"the check {check} was named and judged nothing: {why}"


def limits(coverage: Coverage) -> list[str]:
    """A line for each thing that limits what could be compared on a vocabulary."""
    alone: list[str] = []
    remarks: list[str] = []
    for name, loaded in coverage.vocabularies.items():
        readers = _members(coverage.opened_on(name))
        if loaded.unexpressed and len(readers) == 1:
            only = f"{name}: only {readers[0]} reads this file"
            alone.append(f"{only}, so there is nothing to compare with")
        else:
            remarks += [f"{name}: {line}" for line in loaded.remarks]
    return alone + remarks


def notes(coverage: Coverage) -> list[str]:
    """What a reader of the verdict should know beside it, a line each."""
    lines = [*omissions(coverage), *limits(coverage), *coverage.texts.notes()]
    lines += [one.line for one in coverage.withdrawn.values()]
    lines += [
        f"{name} gives special tokens where they are ordinary text: a plug-in that cannot "
        "switch them off says always_special = True (docs/plugins.md)"
        for name in sorted(coverage.special.difference(registry.names()))
    ]
    lines += counted("random vocabularies refused", coverage.refused)
    slow = "slow once under load, and answered when asked again alone"
    return lines + counted(slow, coverage.excused)


def counted(what: str, counts: Mapping[str, int]) -> list[str]:
    """A line that counts something by implementation, if there is anything."""
    line = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return [f"{what}: {line}"] if line else []
