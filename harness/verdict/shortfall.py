"""Why a run compared nothing, and who was not asked to the end: what its events say of that."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.events import BatchDone, ContractOpened, Found, VocabularyLoaded, Withdrawn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from harness.events import Event

SURVIVAL = "survival"
"""The check whose counts say how many calls there were, and how many gave no answer."""

EQUIVALENCE = "equivalence"
"""The check whose counts say whose outcomes were compared with another's."""

SPECIALS_OFF = ("specials", "off")
"""The check, and its stage, of special tokens that are given where they are ordinary text."""

SHOWN = 3
"""Implementations of which it is said how they failed; the report has all."""

MESSAGE_SHOWN = 200
"""Characters of a failure's first line."""


@dataclass(slots=True)
class Shortfall:
    """What a run's events say of answers that are missing.

    opened: implementations by contract. cases: asked, over all contracts. calls, failed: by
    implementation, those of which the survival check judged the outcome, and those without an
    answer. how: by implementation, its first failure that was found. withdrawn: by implementation
    and vocabulary. compared: implementations of which any outcome was compared. remarks: what
    limits the comparison, by vocabulary. readers: who takes part in any contract of a vocabulary.
    unexpressed: vocabularies of which only those take part who read the file. excluded: the first
    reason of each implementation that takes no part in a contract. applied: checks that applied
    to any contract. special: implementations that give special tokens for ordinary text.
    """

    opened: dict[str, list[str]] = field(default_factory=dict)
    cases: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    how: dict[str, str] = field(default_factory=dict)
    withdrawn: dict[tuple[str, str], Withdrawn] = field(default_factory=dict)
    compared: set[str] = field(default_factory=set)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    excluded: dict[str, str] = field(default_factory=dict)
    readers: dict[str, set[str]] = field(default_factory=dict)
    unexpressed: set[str] = field(default_factory=set)
    applied: set[str] = field(default_factory=set)
    special: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Shortfall:
        """What these events say."""
        made = cls()
        for event in events:
            made.consume(event)
        return made

    def consume(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case VocabularyLoaded():
                self.remarks[event.id] = event.remarks
                if event.unexpressed:
                    self.unexpressed.add(event.id)
            case ContractOpened():
                self.opened[event.id] = event.implementations
                self.applied.update(event.checks)
                self.readers.setdefault(event.vocabulary, set()).update(event.implementations)
                self.excluded = {**event.excluded, **self.excluded}
            case BatchDone():
                self.cases += event.cases
                self.calls.update(event.exercised.get(SURVIVAL, {}))
                self.failed.update(event.violations.get(SURVIVAL, {}))
                self.compared.update(
                    n for n, k in event.exercised.get(EQUIVALENCE, {}).items() if k
                )
            case Found(check=check) if check == SURVIVAL:
                for group in event.groups:
                    for name in set(group.implementations) & set(event.culprits):
                        line = group.message.split("\n", 1)[0][:MESSAGE_SHOWN]
                        self.how.setdefault(name, line or group.kind)
            case Found(check=check, stage=stage) if (check, stage) == SPECIALS_OFF:
                self.special.update(event.culprits)
            case Withdrawn():
                self.withdrawn[event.implementation, event.vocabulary] = event

    def compared_nothing(self) -> str:
        """Why no two outcomes were compared, where none were."""
        if all(len(names) < 2 for names in self.opened.values()):
            return "nothing was compared: no two implementations share a vocabulary and mode"
        if not self.cases:
            return "nothing was compared: no case was answered by all before the end"
        mute = [name for name, count in self.calls.items() if self.failed[name] >= count > 0]
        if not mute:
            return (
                f"no outcome could be compared: in {self.cases:,} cases no two implementations "
                "that are held to the same answer gave one"
            )
        said = "; ".join(self._failing(name) for name in mute[:SHOWN])
        more = f"; and {len(mute) - SHOWN} more failed likewise" if len(mute) > SHOWN else ""
        return f"no outcome could be compared: {said}{more}"

    def _failing(self, name: str) -> str:
        count = self.calls[name]
        calls = "the one call" if count == 1 else f"all {count:,} calls"
        return f"{calls} of {name} gave no answer ({self.how.get(name, 'see the report')})"

    def inapplicable(self, needs: Mapping[str, Sequence[str]]) -> str:
        """Why none of the checks that were chosen applied to anybody; empty where one did.

        needs: the checks that were chosen, each with the capabilities of which it asks for one.
        """
        names = sorted(set().union(*self.readers.values()))
        if not names or not needs or self.applied:
            return ""
        shown = ", ".join(names[:SHOWN])
        rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        lacks = "; ".join(
            f"{check} asks for the capability {' or '.join(asked)}"
            if asked
            else f"{check} does not apply"
            for check, asked in needs.items()
        )
        do = "does" if len(names) == 1 else "do"
        claims = f", which {shown}{rest} {do} not claim" if all(needs.values()) else ""
        return f"nothing was checked: {lacks}{claims}"

    def alone(self) -> dict[str, str]:
        """Vocabularies that one implementation alone reads, and that one.

        Whoever else there is reads no such file, and the plain model cannot express it.
        """
        return {
            name: next(iter(readers))
            for name, readers in self.readers.items()
            if name in self.unexpressed and len(readers) == 1
        }

    def nothing_to_compare(self) -> list[str]:
        """A line for each vocabulary, where on all of them there was nobody to compare with."""
        alone = self.alone()
        if not alone or set(self.remarks) - set(alone):
            return []
        return [unmatched(name, reader) for name, reader in alone.items()]

    def limits(self) -> list[str]:
        """A line for each thing that limits what could be compared on a vocabulary."""
        matched = [
            f"{name}: {line}"
            for name, lines in self.remarks.items()
            if name not in self.alone()
            for line in lines
        ]
        return [*(unmatched(*one) for one in self.alone().items()), *matched]

    def withdrawals(self) -> list[str]:
        """A line for each implementation that was withdrawn from a vocabulary."""
        return [event.line for event in self.withdrawn.values()]

    def always_special(self, registered: Collection[str]) -> list[str]:
        """A line for each plug-in of the user's that may be one that cannot do otherwise."""
        return [
            f"{name} gives special tokens where they are ordinary text: a plug-in that cannot "
            "switch them off says always_special = True (docs/plugins.md)"
            for name in sorted(self.special.difference(registered))
        ]


def unmatched(vocabulary: str, reader: str) -> str:
    """The line on a vocabulary that one implementation alone reads."""
    return f"{vocabulary}: {reader} alone reads it of those that take part: nothing to compare with"


def unable(
    claims: Mapping[str, Collection[str]], needs: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Whom none of the chosen checks asks anything, each with the reason.

    claims: the capabilities of each. needs: as of :meth:`Shortfall.inapplicable`.
    """
    if not needs or not all(needs.values()):
        return {}
    wanted = sorted(set().union(*needs.values()))
    checks = " and ".join(needs)
    asks = "asks" if len(needs) == 1 else "ask"
    line = f"{checks} {asks} for the capability {' or '.join(wanted)}, which it does not claim"
    return {name: line for name, claimed in claims.items() if not set(wanted) & set(claimed)}


def slow_once(excused: Mapping[str, int]) -> list[str]:
    """A line that counts failures under load that did not come back, where there were any."""
    counts = ", ".join(f"{name} {count}" for name, count in sorted(excused.items()))
    if not counts:
        return []
    return [f"slow once under load, and answered when asked again alone: {counts}"]


def went_on(awaited: Collection[str], compiled: Collection[str], seconds: float) -> list[str]:
    """A line on why a command took so much longer than its budget, if it did.

    awaited: who might have hung. compiled: the vocabularies whose models were still being compiled.
    """
    reasons = []
    if awaited:
        reasons.append(f"it was sure who hangs: {', '.join(sorted(awaited))}")
    if compiled:
        names = ", ".join(sorted(compiled))
        reasons.append(
            f"the models that explain differences on {names} were compiled, as a first run has to "
            "(tokgate prepare does so beforehand)"
        )
    if not reasons or seconds <= 0:
        return []
    return [f"went on for {seconds:.0f} s after its time, until {', and until '.join(reasons)}"]
