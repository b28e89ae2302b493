"""Coverage: what a run examined, and what it did not.

It is the one fold of a run's record that says who was asked what, who answered, what was judged,
and what was left open with the reason. The gate, the exit status and every report read this object
and the findings, and nothing else, so that they cannot contradict one another.

A *cell* is one implementation under one comparison (a vocabulary in a mode) for one check. What the
user named and the run did not examine is a *gap*: a run with a gap passes nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from harness.events import (
    BatchDone,
    ContractOpened,
    Forced,
    Found,
    ImplementationFailed,
    Measured,
    NotReached,
    SlowOnce,
    Started,
    Unsettled,
    VocabularyLoaded,
    VocabularyRefused,
    Withdrawn,
)
from harness.verdict.texts import TextsSeen
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.events import Event

LEAST_CASES = 200
"""Answers of a named implementation that are enough under one comparison. Where fewer cases were
asked, half of them are: an implementation may decline a part of all inputs."""

EQUIVALENCE, SURVIVAL = "equivalence", "survival"
"""The check that compares implementations, and the one that says who failed on what."""

SCALING, CANONICALITY = "scaling", "canonicality"
"""Checks that measure instead of judging cases: growth of implementations, and the tokens that our
policies force on a vocabulary."""

GIVEN = "given"
"""The suite of runs on inputs that were given (replay, minimize), which may concern one alone."""

SPECIALS_OFF = ("specials", "off")
"""The check, and its stage, of special tokens that are given where they are ordinary text."""

SHOWN = 3
"""Names that a line lists; the report has all."""

MESSAGE_SHOWN = 200
"""Characters of a failure's first line."""


class State(StrEnum):
    """What a run knows of one check of one implementation under one comparison."""

    JUDGED = "judged"
    UNSETTLED = "not settled"
    UNANSWERED = "no answer"
    DECLINED = "declined"
    FAILED = "failed to start"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Cell:
    """One check of one implementation under one comparison.

    judged: outcomes that the check judged. at_fault: cases that it found wrong, before anybody
    looked into them. unsettled: those that nobody looked into. reason: why nothing was judged, or
    why something was not settled.
    """

    state: State
    judged: int = 0
    at_fault: int = 0
    unsettled: int = 0
    reason: str = ""


@dataclass(slots=True)
class Answers:
    """How the cases asked of an implementation under one comparison ended.

    answered: with ids or a rejection. failed: with a crash, a time-out, an exception. declined:
    with ``Unsupported``. reason: what it said of the first that it declined.
    """

    answered: int = 0
    failed: int = 0
    declined: int = 0
    reason: str = ""

    @property
    def asked(self) -> int:
        """All cases."""
        return self.answered + self.failed + self.declined


def enough(number: int, of: int) -> bool:
    """Whether so many of all cases are enough to say that something was examined."""
    return number >= LEAST_CASES or (number > 0 and 2 * number >= of)


@dataclass(slots=True)
class Coverage:
    """The fold. Each field is what the events of that name say, the latest of each counting.

    named, specs: what the user asked for by name, and how each implementation was given
    (:class:`harness.events.Started`). answers: by implementation and comparison. judged, at_fault:
    outcomes by comparison, check and implementation. unsettled: violations that nobody looked into,
    likewise; open_because: the first reason. measured: implementations by the check that measured
    them. how: the first line of an implementation's first failure. special: who gives special
    tokens for ordinary text.
    """

    suite: str = ""
    named: dict[str, list[str]] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    vocabularies: dict[str, VocabularyLoaded] = field(default_factory=dict)
    contracts: dict[str, ContractOpened] = field(default_factory=dict)
    failures: dict[tuple[str, str], ImplementationFailed] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    withdrawn: dict[tuple[str, str], Withdrawn] = field(default_factory=dict)
    not_reached: dict[str, NotReached] = field(default_factory=dict)
    excused: Counter[str] = field(default_factory=Counter)
    answers: dict[tuple[str, str], Answers] = field(default_factory=dict)
    judged: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    at_fault: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unsettled: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    open_because: dict[tuple[str, str, str], str] = field(default_factory=dict)
    measured: dict[str, set[str]] = field(default_factory=dict)
    cases: int = 0
    comparisons: int = 0
    how: dict[str, str] = field(default_factory=dict)
    special: set[str] = field(default_factory=set)
    texts: TextsSeen = field(default_factory=TextsSeen)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Coverage:
        """What these events say."""
        made = cls()
        for event in events:
            made.consume(event)
        return made

    def consume(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case Started():
                self.suite, self.named = event.suite, event.named
                self.specs = event.specs
            case VocabularyLoaded():
                self.vocabularies[event.id] = event
                self.not_reached.pop(event.source, None)  # a run that was resumed has reached it
            case ContractOpened():
                self.contracts[event.id] = event
            case ImplementationFailed():
                self.failures[event.implementation, event.vocabulary] = event
            case VocabularyRefused():
                self.refused[event.implementation] += 1
            case Withdrawn():
                self.withdrawn[event.implementation, event.vocabulary] = event
            case NotReached():
                self.not_reached[event.source] = event
            case SlowOnce():
                self.excused[event.implementation] += 1
            case BatchDone():
                self._batch(event)
            case Unsettled():
                for name in event.implementations:
                    place = event.contract, event.check, name
                    self.unsettled[place] += event.count
                    self.open_because.setdefault(place, event.reason)
            case Measured():
                self.measured.setdefault(SCALING, set()).add(event.implementation)
            case Forced():
                self.measured.setdefault(CANONICALITY, set()).add(event.implementation)
            case Found():
                self._found(event)
            case _:
                self.texts.consume(event)

    def _batch(self, batch: BatchDone) -> None:
        self.cases += batch.cases
        self.comparisons += batch.comparisons
        for sums, counted in ((self.judged, batch.exercised), (self.at_fault, batch.violations)):
            for check, by_name in counted.items():
                for name, number in by_name.items():
                    sums[batch.contract, check, name] += number
        for name, (answered, failed, declined) in answers_of(batch).items():
            answers = self.answers.setdefault((name, batch.contract), Answers())
            answers.answered += answered
            answers.failed += failed
            answers.declined += declined
            answers.reason = answers.reason or batch.declined.get(name, "")

    def _found(self, found: Found) -> None:
        if found.check == SURVIVAL:
            for group in found.groups:
                for name in set(group.implementations) & set(found.culprits):
                    line = group.message.split("\n", 1)[0][:MESSAGE_SHOWN]
                    self.how.setdefault(name, line or group.kind)
        if (found.check, found.stage) == SPECIALS_OFF:
            self.special.update(found.culprits)

    def cell(self, name: str, contract: ContractOpened, check: str) -> Cell:
        """What is known of one check of one implementation under one comparison."""
        place = contract.id, check, name
        judged, at_fault, unsettled = (
            counts[place] for counts in (self.judged, self.at_fault, self.unsettled)
        )

        def cell(state: State, reason: str = "") -> Cell:
            return Cell(state, judged, at_fault, unsettled, reason)

        failure = self.failures.get((name, contract.vocabulary))
        withdrawn = self.withdrawn.get((name, contract.vocabulary))
        line = withdrawn.line if withdrawn is not None else ""
        if unsettled:
            return cell(State.UNSETTLED, self.open_because[place])
        if failure is not None:
            return cell(State.FAILED, failure.message)
        if name in contract.excluded:
            return cell(State.DECLINED, contract.excluded[name])
        if judged:
            return cell(State.JUDGED, line)
        if name not in contract.implementations:
            return cell(State.DECLINED, "it takes no part in this comparison")
        if check not in contract.checks:
            return cell(State.NOT_ASKED, "this check was not asked for here")
        answers = self.answers.get((name, contract.id), Answers())
        if answers.declined and not answers.answered + answers.failed:
            return cell(State.UNANSWERED, line or answers.reason or "every input was declined")
        return cell(State.NOT_ASKED, line or "nothing that this check could judge was answered")

    @property
    def compared(self) -> set[str]:
        """Implementations of which any answer was compared with another's."""
        return {name for (_, check, name), n in self.judged.items() if n and check == EQUIVALENCE}

    @property
    def examined(self) -> set[str]:
        """Implementations of which any check judged anything, or whose cost was measured."""
        judged = {name for (_, _, name), number in self.judged.items() if number}
        return judged.union(*self.measured.values())

    @property
    def comparing(self) -> bool:
        """Whether the run was to compare.

        It was not where other checks were chosen, or where none of those that were named means to
        give the ids that the vocabulary defines.
        """
        opened = list(self.contracts.values())
        if self.suite == GIVEN:
            return any(EQUIVALENCE in one.checks for one in opened)
        checks, named = self.named.get("checks", []), self.named.get("implementations", [])
        if checks and EQUIVALENCE not in checks:
            return False
        # Greedy, minimal and the like mean to give other ids than the vocabulary defines.
        takes_part = {name for one in opened for name in named if name in one.implementations}
        exact = {name for one in opened for name in one.exact or one.implementations}
        return not takes_part or bool(takes_part & exact)

    def gaps(self) -> list[str]:
        """A line for each thing that the user named and the run did not examine: what and why.

        A run that examined nothing at all has a gap whatever was named.
        """
        lines = [line for name in self.named.get("vocabularies", ()) for line in self._unread(name)]
        for name in self.named.get("implementations", ()):
            lines += self._untested(name)
        lines += [line for name in self.named.get("checks", ()) for line in self._idle_check(name)]
        lines += self.texts.unexamined()
        if not lines and self.comparing and not self.comparisons:
            lines.append(self.compared_nothing())
        elif not lines and not self.examined:
            lines.append("nothing was tested: no implementation of this run runs a vocabulary")
        return list(dict.fromkeys(lines))

    def omissions(self) -> list[str]:
        """A line for each thing that nobody named and that was not examined."""
        named = self.named.get("vocabularies", ())
        late: dict[str, list[str]] = {}
        for one in self.not_reached.values():
            if one.source not in named:
                late.setdefault(one.reason, []).append(one.source)
        lines = [f"not tested: {', '.join(names)} ({reason})" for reason, names in late.items()]
        lines += [line for one in self.contracts.values() for line in self._absent_reference(one)]
        asked_on = {contract for _, contract in self.answers}
        lines += [
            f"nothing was asked on {one.id}: no generator of this run makes cases for it"
            for one in self.contracts.values()
            if one.checks and one.id not in asked_on and one.vocabulary in self._asked_vocabularies
        ]
        asked = {name for name, _ in self.answers} - self.examined
        asked -= set(self.named.get("implementations", ()))
        for name in sorted(asked):
            total = sum(one.asked for (who, _), one in self.answers.items() if who == name)
            lines.append(f"not tested: {name} ({self._silent(name, total)})")
        for (where, check, name), number in self.unsettled.items():
            if name not in self.named.get("implementations", ()):
                lines.append(self._unsettled(name, where, check, number))
        return list(dict.fromkeys(lines))

    @property
    def _asked_vocabularies(self) -> set[str]:
        """The vocabularies on which any case was asked."""
        asked = {contract for _, contract in self.answers}
        return {one.vocabulary for one in self.contracts.values() if one.id in asked}

    def _unread(self, source: str) -> list[str]:
        """Why a named vocabulary was not examined, if it was not."""
        late = self.not_reached.get(source)
        if late is not None:
            return [f"{source} was not tested: {late.reason}"]
        loaded = next((v.id for v in self.vocabularies.values() if v.source == source), None)
        if loaded is None or not self.comparing:
            return []
        opened = [one for one in self.contracts.values() if one.vocabulary == loaded]
        if any(self.judged[c.id, EQUIVALENCE, name] for c in opened for name in c.implementations):
            return []
        return [f"{loaded} was not tested: {self._uncompared(opened)}"]

    def _uncompared(self, opened: list[ContractOpened]) -> str:
        """Why no two answers were compared under any of these comparisons."""
        present = list(dict.fromkeys(name for one in opened for name in one.implementations))
        if len(present) < 2:
            who = f"only {present[0]} takes part" if present else "no implementation supports it"
            return f"{who}, so there is nothing to compare; add another one with --impl"
        mute = [
            name
            for name in present
            if not any(self.answers.get((name, c.id), Answers()).answered for c in opened)
        ]
        if not any((name, c.id) in self.answers for name in present for c in opened):
            if self.texts.given is not None and self.texts.given.only:
                return "none of your texts can be written with its alphabet"
            return "no case was answered before the end of the run; give a larger --budget"
        if not mute:
            return "no two implementations that should give the same ids answered the same input"
        said = "; ".join(
            f"{name}: {self._silent(name, self._asked(name, opened))}" for name in mute[:SHOWN]
        )
        more = f"; and {len(mute) - SHOWN} more" if len(mute) > SHOWN else ""
        return f"no two implementations answered the same input ({said}{more})"

    def _asked(self, name: str, opened: Iterable[ContractOpened]) -> int:
        return sum(self.answers.get((name, one.id), Answers()).asked for one in opened)

    def _silent(self, name: str, asked: int) -> str:
        """Why an implementation gave no answer, in a few words."""
        mine = [one for (who, _), one in self.answers.items() if who == name]
        reason = self.how.get(name) or next((one.reason for one in mine if one.reason), "")
        calls = "the one input" if asked == 1 else f"any of {asked:,} inputs"
        return f"it did not answer {calls}" + (f": {reason}" if reason else "")

    def _untested(self, name: str) -> list[str]:
        """Why a named implementation was not examined, or where it was not, if so."""
        if any(who == name for who, _ in self.failures):
            return []  # a failure to start is a reason of its own
        opened = [one for one in self.contracts.values() if name in one.implementations]
        lines = [line for one in opened for line in self._untested_under(name, one)]
        of_vocabularies = set(self.named.get("checks", ())) == {CANONICALITY}
        if not lines and name not in self.examined and not of_vocabularies:
            lines = [f"{name} was not tested: {self._why_absent(name, opened)}"]
        for (where, check, who), number in self.unsettled.items():
            if who == name:
                lines.append(self._unsettled(name, where, check, number))
        return lines

    def _why_absent(self, name: str, opened: list[ContractOpened]) -> str:
        if opened:
            return "none of the chosen checks could judge an answer of it"
        reasons = [c.excluded[name] for c in self.contracts.values() if name in c.excluded]
        late = [one.reason for one in self.not_reached.values()]
        return next(iter([*reasons, *late]), "no vocabulary of this run came to it")

    def _untested_under(self, name: str, contract: ContractOpened) -> list[str]:
        """Why a named implementation that takes part in a comparison was not examined there."""
        modes = [c for c in self.contracts.values() if c.vocabulary == contract.vocabulary]
        if not contract.checks or (self.suite == GIVEN and self._answers_any(name, modes)):
            return []  # only measured; or given inputs, which one mode may decline
        answers = self.answers.get((name, contract.id))
        if answers is None or not answers.asked:
            others = [one for (who, _), one in self.answers.items() if who == name and one.asked]
            return [] if others else [f"{name} was asked nothing on {contract.id}"]
        reason = f": {answers.reason}" if answers.reason else ""
        examined = answers.answered + answers.failed
        spec = self.specs.get(name, name)
        if not examined and spec.startswith("cmd:") and self._answers_any(name, modes):
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
        compared = self.judged[contract.id, EQUIVALENCE, name]
        if enough(compared, answers.answered):
            return []
        if registry.built_in(spec) and any(self.judged[c.id, EQUIVALENCE, name] for c in modes):
            return []  # it is there to be compared with, in the modes that the others do
        return [
            f"only {compared:,} of {answers.answered:,} answers of {name} on {contract.id} could "
            f"be compared with another implementation, and {LEAST_CASES} are needed"
        ]

    def _answers_any(self, name: str, modes: list[ContractOpened]) -> bool:
        """Whether it was examined enough in any of these modes."""
        answers = [self.answers.get((name, one.id), Answers()) for one in modes]
        return any(enough(one.answered + one.failed, one.asked) for one in answers)

    def _unsettled(self, name: str, where: str, check: str, number: int) -> str:
        differences = "1 difference" if number == 1 else f"{number:,} differences"
        reason = self.open_because[where, check, name]
        return f"{differences} of {name} on {where} not looked into ({check}): {reason}"

    def _idle_check(self, check: str) -> list[str]:
        """Why a check that was named judged nothing, if so."""
        if check in (SCALING, CANONICALITY):
            done = bool(self.measured.get(check))
            return [] if done else [f"{check} was named and measured nothing"]
        if any(number for (_, one, _), number in self.judged.items() if one == check):
            return []
        applies = any(check in contract.checks for contract in self.contracts.values())
        why = (
            "no implementation answered what it asks"
            if applies
            else "it applies to no implementation of this run (tokgate list checks)"
        )
        return [f"the check {check} was named and judged nothing: {why}"]

    def _absent_reference(self, contract: ContractOpened) -> list[str]:
        """A line where the program whose format a vocabulary has takes no part in comparing it."""
        loaded = self.vocabularies.get(contract.vocabulary)
        if loaded is None or contract.references:
            return []
        return [
            f"{name}, the reference for {loaded.format} files, took no part on "
            f"{contract.vocabulary}: {contract.excluded[name]}"
            for name in registry.REFERENCES.get(loaded.format, ())
            if name in contract.excluded
        ]

    def compared_nothing(self) -> str:
        """Why no two answers were compared, where none were."""
        opened = list(self.contracts.values())
        if not opened and self.not_reached:
            return f"nothing was compared: {next(iter(self.not_reached.values())).reason}"
        if all(len(one.implementations) < 2 for one in opened):
            return "nothing was compared: no two implementations share a vocabulary and mode"
        return f"nothing was compared: {self._uncompared(opened)}"

    def alone(self) -> dict[str, str]:
        """Vocabularies that one implementation alone reads, and that one.

        All others read no such file, and the plain model cannot express it.
        """
        readers: dict[str, set[str]] = {}
        for one in self.contracts.values():
            readers.setdefault(one.vocabulary, set()).update(one.implementations)
        return {
            name: next(iter(who))
            for name, who in readers.items()
            if len(who) == 1 and name in self.vocabularies and self.vocabularies[name].unexpressed
        }

    def limits(self) -> list[str]:
        """A line for each thing that limits what could be compared on a vocabulary."""
        alone = self.alone()
        unmatched = [
            f"{vocabulary}: only {reader} reads this file, so there is nothing to compare with"
            for vocabulary, reader in alone.items()
        ]
        remarks = [
            f"{name}: {line}"
            for name, loaded in self.vocabularies.items()
            if name not in alone
            for line in loaded.remarks
        ]
        return unmatched + remarks

    def notes(self) -> list[str]:
        """What a reader of the verdict should know beside it, a line each."""
        special = sorted(self.special.difference(registry.names()))
        return [
            *self.omissions(),
            *self.limits(),
            *self.texts.notes(),
            *(one.line for one in self.withdrawn.values()),
            *(
                f"{name} gives special tokens where they are ordinary text: a plug-in that cannot "
                "switch them off says always_special = True (docs/plugins.md)"
                for name in special
            ),
            *counted("random vocabularies refused", self.refused),
            *counted("slow once under load, and answered when asked again alone", self.excused),
        ]


def answers_of(batch: BatchDone) -> dict[str, list[int]]:
    """How each implementation answered a batch; records of old versions say what was judged."""
    if batch.answers:
        return batch.answers
    judged: dict[str, list[int]] = {}
    for by_name in batch.exercised.values():
        for name, number in by_name.items():
            judged[name] = [max(number, judged.get(name, [0])[0]), 0, 0]
    return judged


def counted(what: str, counts: Counter[str]) -> list[str]:
    """A line that counts something by implementation, if there is anything."""
    line = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return [f"{what}: {line}"] if line else []
