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
    Answers,
    enough,
)
from impls import registry

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from harness.events import ContractOpened
    from harness.verdict.coverage import Coverage

SHOWN = 3
"""Names that a line lists; the report has all."""


def gaps(coverage: Coverage) -> list[str]:
    """A line for each thing that the user named and the run did not examine: what and why.

    A run that examined nothing at all has a gap whatever was named.
    """
    lines = [
        line for name in coverage.named.get("vocabularies", ()) for line in _unread(coverage, name)
    ]
    for name in coverage.named.get("implementations", ()):
        lines += _untested(coverage, name)
    lines += [
        line for name in coverage.named.get("checks", ()) for line in _idle_check(coverage, name)
    ]
    lines += coverage.texts.unexamined()
    if not lines and coverage.comparing and not coverage.comparisons:
        lines.append(compared_nothing(coverage))
    elif not lines and not coverage.examined:
        lines.append("nothing was tested: no implementation of this run runs a vocabulary")
    return list(dict.fromkeys(lines))


def omissions(coverage: Coverage) -> list[str]:
    """A line for each thing that nobody named and that was not examined."""
    named = coverage.named.get("vocabularies", ())
    late: dict[str, list[str]] = {}
    for one in coverage.not_reached.values():
        if one.source not in named:
            late.setdefault(one.reason, []).append(one.source)
    lines = [f"not tested: {', '.join(names)} ({reason})" for reason, names in late.items()]
    lines += [
        line for one in coverage.contracts.values() for line in _absent_reference(coverage, one)
    ]
    asked_on = {contract for _, contract in coverage.answers}
    reached = {one.vocabulary for one in coverage.contracts.values() if one.id in asked_on}
    lines += [
        f"nothing was asked on {one.id}: no generator of this run makes cases for it"
        for one in coverage.contracts.values()
        if one.checks and one.id not in asked_on and one.vocabulary in reached
    ]
    asked = {name for name, _ in coverage.answers} - coverage.examined
    asked -= set(coverage.named.get("implementations", ()))
    for name in sorted(asked):
        total = sum(one.asked for (who, _), one in coverage.answers.items() if who == name)
        lines.append(f"not tested: {name} ({_silent(coverage, name, total)})")
    for (where, check, name), number in coverage.unsettled.items():
        if name not in coverage.named.get("implementations", ()):
            lines.append(_unsettled(coverage, name, where, check, number))
    return list(dict.fromkeys(lines))


def _unread(coverage: Coverage, source: str) -> list[str]:
    """Why a named vocabulary was not examined, if it was not."""
    late = coverage.not_reached.get(source)
    if late is not None:
        return [f"{source} was not tested: {late.reason}"]
    loaded = next((v.id for v in coverage.vocabularies.values() if v.source == source), None)
    if loaded is None or not coverage.comparing:
        return []
    opened = [one for one in coverage.contracts.values() if one.vocabulary == loaded]
    if any(coverage.judged[c.id, EQUIVALENCE, name] for c in opened for name in c.implementations):
        return []
    return [f"{loaded} was not tested: {_uncompared(coverage, opened)}"]


def _uncompared(coverage: Coverage, opened: list[ContractOpened]) -> str:
    """Why no two answers were compared under any of these comparisons."""
    present = list(dict.fromkeys(name for one in opened for name in one.implementations))
    if len(present) < 2:
        who = f"only {present[0]} takes part" if present else "no implementation supports it"
        return f"{who}, so there is nothing to compare; add another one with --impl"
    mute = [
        name
        for name in present
        if not any(coverage.answers.get((name, c.id), Answers()).answered for c in opened)
    ]
    if not any((name, c.id) in coverage.answers for name in present for c in opened):
        if coverage.texts.given is not None and coverage.texts.given.only:
            return "none of your texts can be written with its alphabet"
        return "no case was answered before the end of the run; give a larger --budget"
    if not mute:
        return "no two implementations that should give the same ids answered the same input"
    said = "; ".join(
        f"{name}: {_silent(coverage, name, _asked(coverage, name, opened))}"
        for name in mute[:SHOWN]
    )
    more = f"; and {len(mute) - SHOWN} more" if len(mute) > SHOWN else ""
    return f"no two implementations answered the same input ({said}{more})"


def _asked(coverage: Coverage, name: str, opened: Iterable[ContractOpened]) -> int:
    return sum(coverage.answers.get((name, one.id), Answers()).asked for one in opened)


def _silent(coverage: Coverage, name: str, asked: int) -> str:
    """Why an implementation gave no answer, in a few words."""
    mine = [one for (who, _), one in coverage.answers.items() if who == name]
    reason = coverage.how.get(name) or next((one.reason for one in mine if one.reason), "")
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
        lines = [f"{name} was not tested: {_why_absent(coverage, name, opened)}"]
    for (where, check, who), number in coverage.unsettled.items():
        if who == name:
            lines.append(_unsettled(coverage, name, where, check, number))
    return lines


def _why_absent(coverage: Coverage, name: str, opened: list[ContractOpened]) -> str:
    if opened:
        return "none of the chosen checks could judge an answer of it"
    reasons = [c.excluded[name] for c in coverage.contracts.values() if name in c.excluded]
    late = [one.reason for one in coverage.not_reached.values()]
    return next(iter([*reasons, *late]), "no vocabulary of this run came to it")


def _untested_under(coverage: Coverage, name: str, contract: ContractOpened) -> list[str]:
    """Why a named implementation that takes part in a comparison was not examined there."""
    modes = [c for c in coverage.contracts.values() if c.vocabulary == contract.vocabulary]
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


def _answers_any(coverage: Coverage, name: str, modes: list[ContractOpened]) -> bool:
    """Whether it was examined enough in any of these modes."""
    answers = [coverage.answers.get((name, one.id), Answers()) for one in modes]
    return any(enough(one.answered + one.failed, one.asked) for one in answers)


def _unsettled(coverage: Coverage, name: str, where: str, check: str, number: int) -> str:
    differences = "1 difference" if number == 1 else f"{number:,} differences"
    reason = coverage.open_because[where, check, name]
    return f"{differences} of {name} on {where} not looked into ({check}): {reason}"


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


def compared_nothing(coverage: Coverage) -> str:
    """Why no two answers were compared, where none were."""
    opened = list(coverage.contracts.values())
    if not opened and coverage.not_reached:
        return f"nothing was compared: {next(iter(coverage.not_reached.values())).reason}"
    if all(len(one.implementations) < 2 for one in opened):
        return "nothing was compared: no two implementations share a vocabulary and mode"
    return f"nothing was compared: {_uncompared(coverage, opened)}"


def alone(coverage: Coverage) -> dict[str, str]:
    """Vocabularies that one implementation alone reads, and that one.

    All others read no such file, and the plain model cannot express it.
    """
    readers: dict[str, set[str]] = {}
    for one in coverage.contracts.values():
        readers.setdefault(one.vocabulary, set()).update(one.implementations)
    return {
        name: next(iter(who))
        for name, who in readers.items()
        if len(who) == 1
        and name in coverage.vocabularies
        and coverage.vocabularies[name].unexpressed
    }


def limits(coverage: Coverage) -> list[str]:
    """A line for each thing that limits what could be compared on a vocabulary."""
    lone = alone(coverage)
    unmatched = [
        f"{vocabulary}: only {reader} reads this file, so there is nothing to compare with"
        for vocabulary, reader in lone.items()
    ]
    remarks = [
        f"{name}: {line}"
        for name, loaded in coverage.vocabularies.items()
        if name not in lone
        for line in loaded.remarks
    ]
    return unmatched + remarks


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
