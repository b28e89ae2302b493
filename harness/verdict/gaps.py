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
    from collections import Counter
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

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
    lines = [
        line
        for kind, why in NAMED.items()
        for name in coverage.named.get(kind, ())
        for line in why(coverage, name)
    ]
    lines += coverage.texts.unexamined()
    if not lines and coverage.comparing and not coverage.comparisons:
        lines.append(f"nothing was compared: {_incomparable(coverage)}")
    elif not lines and not coverage.examined:
        lines.append("nothing was tested: no implementation of this run runs a vocabulary")
    return list(dict.fromkeys(lines))


def omissions(coverage: Coverage) -> list[str]:
    """A line for each thing that nobody named and that was not examined."""
    named = coverage.named
    late: dict[str, list[str]] = {}
    for one in coverage.not_reached.values():
        if one.source not in named.get("vocabularies", ()):
            late.setdefault(one.reason, []).append(one.source)
    lines = [f"not tested: {', '.join(names)} ({reason})" for reason, names in late.items()]
    opened = coverage.contracts.values()
    lines += [line for one in opened for line in _absent_reference(coverage, one)]
    asked_on = {contract for _, contract in coverage.answers}
    reached = {one.vocabulary for one in opened if one.id in asked_on}
    lines += [
        f"nothing was asked on {one.id}: no generator of this run makes cases for it"
        for one in opened
        if one.checks and one.id not in asked_on and one.vocabulary in reached
    ]
    told = set(named.get("implementations", ()))
    silent = {name for name, _ in coverage.answers} - coverage.examined - told
    lines += [f"not tested: {name} ({_silent(coverage, name, opened)})" for name in sorted(silent)]
    lines += _unsettled(coverage, {name for *_, name in coverage.unsettled} - told)
    return list(dict.fromkeys(lines))


def _unread(coverage: Coverage, source: str) -> list[str]:
    """Why a named vocabulary was not examined, if it was not."""
    late = coverage.not_reached.get(source)
    if late is not None:
        return [f"{source} was not tested: {late.reason}"]
    loaded = next((v.id for v in coverage.vocabularies.values() if v.source == source), None)
    if loaded is None or not coverage.comparing:
        return []
    opened = coverage.opened_on(loaded)
    if any(coverage.judged[c.id, EQUIVALENCE, name] for c in opened for name in c.implementations):
        return []
    return [f"{loaded} was not tested: {_uncompared(coverage, opened)}"]


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
    present = list(dict.fromkeys(name for one in opened for name in one.implementations))
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
    mine = [one.reason for (who, _), one in coverage.answers.items() if who == name and one.reason]
    reason = coverage.how.get(name) or next(iter(mine), "")
    calls = "the one input" if asked == 1 else f"any of {asked:,} inputs"
    return f"it did not answer {calls}" + (f": {reason}" if reason else "")


def _untested(coverage: Coverage, name: str) -> list[str]:
    """Why a named implementation was not examined, or where it was not, if so."""
    if any(who == name for who, _ in coverage.failures):
        return []  # a failure to start is a reason of its own
    opened = [one for one in coverage.contracts.values() if name in one.implementations]
    lines = [line for one in opened for line in _untested_under(coverage, name, one)]
    of_vocabularies = set(coverage.named.get("checks", ())) == {CANONICALITY}
    if not lines and name not in coverage.examined and not of_vocabularies:
        why = ["none of the chosen checks could judge an answer of it"] if opened else []
        why += [c.excluded[name] for c in coverage.contracts.values() if name in c.excluded]
        why += [one.reason for one in coverage.not_reached.values()]
        why.append("no vocabulary of this run came to it")
        lines = [f"{name} was not tested: {why[0]}"]
    return [*lines, *_unsettled(coverage, {name})]


def _untested_under(coverage: Coverage, name: str, contract: ContractOpened) -> list[str]:
    """Why a named implementation that takes part in a comparison was not examined there."""
    modes = coverage.opened_on(contract.vocabulary)
    if not contract.checks or (coverage.suite == GIVEN and _answers_any(coverage, name, modes)):
        return []  # only measured; or given inputs, which one mode may decline
    answers = coverage.answers.get((name, contract.id))
    if answers is None or not answers.asked:
        others = [one for (who, _), one in coverage.answers.items() if who == name and one.asked]
        return [] if others else [f"{name} was asked nothing on {contract.id}"]
    reason = f": {answers.reason}" if answers.reason else ""
    examined = answers.answered + answers.failed
    spec = coverage.specs.get(name, name)
    if not examined and spec.startswith("cmd:") and _answers_any(coverage, name, modes):
        return []  # a program has no other way to say that it does not do a mode
    if not examined:
        return [f"{name} answered none of {answers.asked:,} inputs on {contract.id}{reason}"]
    if not enough(examined, answers.asked):
        return [
            f"{name} answered only {examined:,} of {answers.asked:,} inputs on {contract.id}, "
            f"and {LEAST_CASES} are needed{reason}"
        ]
    exact = contract.exact or contract.implementations
    alone = len(exact) < 2 or name not in exact
    if alone or not answers.answered or EQUIVALENCE not in contract.checks:
        return []
    compared = coverage.judged[contract.id, EQUIVALENCE, name]
    if enough(compared, answers.answered):
        return []
    if registry.built_in(spec) and any(coverage.judged[c.id, EQUIVALENCE, name] for c in modes):
        return []  # it is there to be compared with, in the modes that the others do
    return [
        f"only {compared:,} of {answers.answered:,} answers of {name} on {contract.id} could "
        f"be compared with another implementation, and {LEAST_CASES} are needed"
    ]


def _answers_any(coverage: Coverage, name: str, modes: Iterable[ContractOpened]) -> bool:
    """Whether it was examined enough in any of these modes."""
    answers = [coverage.answered(name, one.id) for one in modes]
    return any(enough(one.answered + one.failed, one.asked) for one in answers)


def _unsettled(coverage: Coverage, names: Collection[str]) -> list[str]:
    """A line for each check of these whose differences were not looked into."""
    lines = []
    for (where, check, name), number in coverage.unsettled.items():
        if name in names:
            differences = "1 difference" if number == 1 else f"{number:,} differences"
            reason = coverage.open_because[where, check, name]
            lines.append(f"{differences} of {name} on {where} not looked into ({check}): {reason}")
    return lines


def _idle_check(coverage: Coverage, check: str) -> list[str]:
    """Why a check that was named judged nothing, if so."""
    if check in (SCALING, CANONICALITY):
        done = coverage.growth if check == SCALING else coverage.forced
        return [] if done else [f"{check} was named and measured nothing"]
    if any(number for (_, one, _), number in coverage.judged.items() if one == check):
        return []
    applies = any(check in contract.checks for contract in coverage.contracts.values())
    why = (
        "no implementation answered what it asks"
        if applies
        else "it applies to no implementation of this run (tokgate list checks)"
    )
    return [f"the check {check} was named and judged nothing: {why}"]


def _absent_reference(coverage: Coverage, contract: ContractOpened) -> list[str]:
    """A line where the program whose format a vocabulary has takes no part in comparing it."""
    loaded = coverage.vocabularies.get(contract.vocabulary)
    if loaded is None or contract.references:
        return []
    return [
        f"{name}, the reference for {loaded.format} files, took no part on "
        f"{contract.vocabulary}: {contract.excluded[name]}"
        for name in registry.REFERENCES.get(loaded.format, ())
        if name in contract.excluded
    ]


NAMED: Mapping[str, Callable[[Coverage, str], list[str]]] = {
    "vocabularies": _unread,
    "implementations": _untested,
    "checks": _idle_check,
}
"""What a user names, and who says why it was not examined."""


def limits(coverage: Coverage) -> list[str]:
    """A line for each thing that limits what could be compared on a vocabulary."""
    alone: list[str] = []
    remarks: list[str] = []
    for name, loaded in coverage.vocabularies.items():
        readers = {who for one in coverage.opened_on(name) for who in one.implementations}
        if loaded.unexpressed and len(readers) == 1:
            only = f"{name}: only {readers.pop()} reads this file"
            alone.append(f"{only}, so there is nothing to compare with")
        else:
            remarks += [f"{name}: {line}" for line in loaded.remarks]
    return alone + remarks


def notes(coverage: Coverage) -> list[str]:
    """What a reader of the verdict should know beside it, a line each."""
    special = sorted(coverage.special.difference(registry.names()))
    return [
        *omissions(coverage),
        *limits(coverage),
        *coverage.texts.notes(),
        *(one.line for one in coverage.withdrawn.values()),
        *(
            f"{name} gives special tokens where they are ordinary text: a plug-in that cannot "
            "switch them off says always_special = True (docs/plugins.md)"
            for name in special
        ),
        *counted("random vocabularies refused", coverage.refused),
        *counted("slow once under load, and answered when asked again alone", coverage.excused),
    ]


def counted(what: str, counts: Counter[str]) -> list[str]:
    """A line that counts something by implementation, if there is anything."""
    line = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return [f"{what}: {line}"] if line else []
