"""The tracker of findings: from violations to minimised, bucketed, deduplicated findings.

A violation is confirmed (asked again alone), attributed to a known finding if it contains that
one's minimal input, or else minimised and entered under its bucket. A known bucket is counted
and never stops the hunt for others.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.partition import comparable, standing_of
from harness.events import Counted, Event, Found, Unsettled, stands_out
from harness.findings import mistakes
from harness.findings.causes import Causes, Snapshot
from harness.findings.description import finding, in_base64, is_minimal
from harness.findings.entries import EXAMPLES, PER_BUCKET, UNSURE, Entry, Group, finding_id
from harness.findings.expected import WHATEVER, ExpectedFindings
from harness.findings.patience import NO_TIME, TOOK_LONG, TRIES_HANG, Patience
from harness.findings.questions import AGAIN, TIMED_OUT, UNSTABLE_AGAIN, Asking
from harness.verdict.expectations import UNMINIMISED, Expectation
from harness.workers.pool import OutOfTime, WorkerPool

NOT_ASKED_AGAIN = "there was no time left to ask again"

ON_ITS_WAY = "not made smaller: it was still being looked into"

NOT_LOOKED_INTO = "no time was left to look into them"

NO_SECOND_ANSWER = "it gave no answer when it was asked again"

UNFINISHED = {NO_TIME, TOOK_LONG}
"""Why an input is not minimal that more time would make so."""


class FindingTracker:
    """The findings of one run.

    save: writes the folder of a finding (input, outcomes, reproducer) and gives the path of its
    ``repro.py`` relative to the output folder, or None. drop: removes the folder of a finding that
    another one has replaced; whoever reads the events later may meet one that was written again.
    unhurried: the clock decides nothing, so that the same cases give the same findings (runs whose
    budget is a number of cases). patience: for how much of the usual time a finding is minimised.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        save: Callable[[str, Violation, Contract], str | None],
        expectations: Sequence[Expectation],
        versions: Mapping[str, str],
        *,
        unhurried: bool = False,
        patience: float = 1.0,
        drop: Callable[[str], None] = lambda identity: None,
    ) -> None:
        self._emit, self._save, self._drop = emit, save, drop
        self._expected = ExpectedFindings(expectations, versions)
        self._time = Patience(unhurried=unhurried, share=patience)
        self._lock = threading.RLock()
        self.restore(Snapshot())

    def limit_by(self, left: Callable[[], float]) -> None:
        """Look into violations no longer than there is time; left: the seconds until then."""
        self._time.left = left

    def snapshot(self) -> Snapshot:
        """What :meth:`restore` makes the same tracker of, but for the time spent."""
        with self._lock:
            causes = deepcopy([*self._causes.items()])
            return Snapshot([*self._findings.values()], causes, dict(self._counts))

    def restore(self, known: Snapshot) -> None:
        """Know what another tracker knew, and nothing else; no event is emitted."""
        with self._lock:
            self._findings = {found.id: found for found in known.findings}
            self._causes = defaultdict[Group, Causes](Causes, deepcopy([*known.causes]))
            self._counts, self._untold = Counter(known.counts), Counter[str]()
            self._open: list[tuple[Entry, str, Found | None]] = []

    @property
    def findings(self) -> list[Found]:
        """All findings so far."""
        with self._lock:
            return list(self._findings.values())

    @property
    def unexpected(self) -> bool:
        """Whether a finding that no entry covers is there, the provisional ones left out."""
        return any(one.expected is None and one.unminimised != ON_ITS_WAY for one in self.findings)

    def consider(self, pool: WorkerPool, entry: Entry) -> str:
        """Enter a violation; gives the bucket under which it was counted."""
        with self._time.looking(pool):
            return self._considered(self._asking(pool, entry))

    def note(self, entry: Entry) -> str:
        """Enter a violation that no input brings back; gives its bucket."""
        return self._enter(entry, UNMINIMISED)

    def leave(self, entry: Entry) -> None:
        """Keep a violation that there is no time to look into until findings are settled."""
        self._unsettled(entry, NOT_LOOKED_INTO)

    def alike(self, entry: Entry) -> bool:
        """Count a violation that is like others, if enough of these were looked into."""
        causes, example = self._causes[entry.group], entry.case.generator == EXAMPLES
        # The entry of an example is stale if it shows nothing.
        if example or causes.worth(entry, late=self._time.late):
            return False
        with self._lock:  # or the bucket may be another one meanwhile
            self._count(causes.like(entry))
        return True

    def tell(self) -> None:
        """Tell how often each bucket was counted since this was told last.

        Not with each violation: thousands come at once, and whoever waits for the record of a run
        then waits for each of them.
        """
        with self._lock:
            for name, more in self._untold.items():
                self._emit(Counted(name, self._counts[name], more))
            self._untold.clear()

    def settle(self, pool: WorkerPool) -> None:
        """Go on with what was found on a pool's vocabulary and is not minimal yet.

        Then tell of violations of which nobody knows what they are.
        """
        waiting, self._open = self._open, []
        left = []
        with self._time.looking(pool):
            for one in sorted(waiting, key=lambda one: len(one[0].violation.data)):
                entry, reason, found = one
                if pool.out_of_time or (found is None and reason not in UNFINISHED):
                    left.append(one)
                elif found is None or self._findings.get(found.id) is found:
                    self._considered(self._asking(pool, entry), found)
        left, self._open = left + self._open, []  # once more is enough, or it would never end
        unknown = Counter(
            (entry.contract.id, entry.violation.check, entry.violation.culprits, reason)
            for entry, reason, found in left
            if found is None and self._at_sight(entry) is None
        )
        self.tell()
        with self._lock:
            for (contract, check, culprits, reason), count in unknown.items():
                self._emit(Unsettled(contract, check, list(culprits), reason, count))

    def _at_sight(self, entry: Entry) -> str | None:
        """Count a violation that is known well enough without a question; gives its bucket.

        What is expected whatever its input is like is known once it was seen, at the same stage: an
        expected finding of another one does not show this one.
        """
        causes = self._causes[entry.group]
        if self.alike(entry):
            return causes.like(entry)
        if not self._expected.whole(told := entry.bucket(WHATEVER), entry.contract):
            return None
        for name in causes.minimal.values():
            if name.split("/")[:4] == told.split("/")[:4]:
                causes.note(entry, name, new=False)
                return self._count(name)
        return None

    def _asking(self, pool: WorkerPool, entry: Entry) -> Asking:
        return Asking(pool, entry, self._causes, self._expected)

    def _considered(self, asking: Asking, former: Found | None = None) -> str:
        """Count a violation where it is known, or else look into it.

        former: the finding that is known of it already, and not minimal: another one may explain it
        by now.
        """
        entry, before = asking.entry, len(self._findings)
        if former is None and (counted := self._at_sight(entry)) is not None:
            return counted
        try:
            rest = asking.unexplained()
        except OutOfTime:
            if former is not None:
                return former.bucket
            if self._expected.covers(entry):
                return self._entered_late(entry)
            return self._unsettled(entry, NOT_ASKED_AGAIN)
        if former is not None:
            minimal = [one for one in self.findings if one.minimal and one.bucket == rest]
            if not minimal:
                return self._look_into(asking, former)
            self._replace(former, minimal[0])
            return minimal[0].bucket
        name = self._count(rest) if isinstance(rest, str) else self._look_into(asking.about(rest))
        if name != UNSURE:
            self._causes[entry.group].note(entry, name, new=len(self._findings) > before)
        return name

    def _look_into(self, asking: Asking, former: Found | None = None) -> str:
        """Ask again, make the input minimal, and enter what is found.

        former: the finding that is known of it already, and not minimal.
        """
        entry, seen = asking.entry, asking.entry.violation
        if former is None and seen.check == "survival" and seen.stage != TIMED_OUT:
            # On record before it is tried again: that may take long, and the last allowed death.
            former = self._provisional(entry)
        unstable = any(  # known to answer one question in two ways
            one.check == "determinism" and {*seen.culprits} & {*one.culprits}
            for one in self.findings
            if one.contract == entry.contract.id
        )
        try:
            confirmed = asking.confirm(UNSTABLE_AGAIN if unstable else AGAIN)
        except OutOfTime:
            if former and former.unminimised != ON_ITS_WAY:
                return former.bucket
            return self._entered_late(entry, former)
        if confirmed == "machine":
            return UNSURE
        if confirmed == "unsure":
            return self._unsettled(entry, NO_SECOND_ANSWER)
        if isinstance(confirmed, Violation):
            asking = asking.about(confirmed)
            if seen.undecided and not confirmed.undecided and former is None:
                # Somebody has answered who is trusted more: it may be what is known of the others.
                return self._considered(asking)
        if confirmed == "gone" or asking.entry.violation.check == "determinism":
            # It does not come back alone, so there is nothing to minimise by.
            return self._enter(asking.entry, UNMINIMISED, replaces=former)
        return self._minimised(asking, seen, former or self._provisional(asking.entry))

    def _minimised(self, asking: Asking, first: Violation, former: Found | None) -> str:
        """Make the input of a violation that came back minimal, and enter what is found.

        first: it was confirmed as another one.
        """
        entry = asking.entry
        smaller, why = asking.minimise(self._time.minimising(entry.violation))
        both = [smaller.violation, entry.violation]
        smaller = replace(smaller, mistake=mistakes.named(asking.pool, entry.contract, both))
        # Of a hang, what is left in the input says little of what it hangs on.
        kind = UNMINIMISED if why == TRIES_HANG else smaller.kind
        asking.about(smaller.violation).learn(smaller.bucket(kind))
        if why in UNFINISHED and self._expected.unsure(smaller):
            return self._unsettled(entry, why)
        name = self._enter(smaller, kind, replaces=former, why=why)
        if self._expected.covers(smaller, name) and not self._expected.covers(entry):
            # What is expected was a part of this input. Something else may be wrong with the rest.
            asking = asking.about(first)
            try:
                rest = asking.unexplained()
            except OutOfTime:
                self._unsettled(asking.entry, NOT_ASKED_AGAIN)
                return name
            if isinstance(rest, Violation) and len(rest.data) < len(first.data):
                self._considered(asking.about(rest))
        return name

    def _unsettled(self, entry: Entry, reason: str) -> str:
        """Keep a violation of which nobody knows what it is, to be told if that stays so."""
        self._open.append((entry, reason, None))
        return UNSURE

    def _entered_late(self, entry: Entry, provisional: Found | None = None) -> str:
        """Enter a violation that there is no time to ask about again, if it is sure as it is.

        It is where all that differ gave answers, and where a worker has asked again by itself; but
        not where somebody who would decide between equals gave none. What might be expected if it
        were minimised is left out: the gate would fail for it.
        """
        violation, standing = entry.violation, entry.contract.standing
        answered = all(comparable(part.outcome) for part in violation.parts)
        if violation.undecided:
            trusted = max(standing_of(part, standing) for part in violation.parts)
            answered &= trusted >= max(standing.values())
        if not (answered or violation.check == "survival") or self._expected.unsure(entry):
            return self._unsettled(entry, NOT_ASKED_AGAIN)
        kind = entry.kind if self._expected.may_cover(entry) else UNMINIMISED
        return self._enter(entry, kind, replaces=provisional, why=NO_TIME)

    def _provisional(self, entry: Entry) -> Found | None:
        """Write the first finding of a signature as it is, to be replaced by its minimum.

        Not where its minimum may be expected: the gate would fail for it if nothing replaced it.
        Nor where another signature has come to it, which would go with this one.
        """
        identity = finding_id(entry.bucket(UNMINIMISED), entry.contract.vocabulary.id)
        known = self._causes[entry.group].minimal or identity in self._findings
        # A smaller input may part at another stage; how a process ends is no such stage.
        any_stage = entry.violation.check != "survival"
        if known or self._expected.may_cover(entry, any_stage=any_stage):
            return None
        return self._write(entry, UNMINIMISED, identity, None, ON_ITS_WAY)

    def _count(self, name: str) -> str:
        with self._lock:
            self._counts[name] += 1
            self._untold[name] += 1
        return name

    def _enter(
        self, entry: Entry, kind: str, *, replaces: Found | None = None, why: str | None = None
    ) -> str:
        """Write a finding unless its bucket has one that stands for it, and count it.

        why: it was not made smaller, if there is a reason besides its kind.
        """
        data, contract = entry.violation.data, entry.contract
        name, known = entry.bucket(kind), self._causes[entry.group].minimal
        minimal, unfinished = is_minimal(kind, why), why in UNFINISHED
        if minimal or not (known or unfinished):
            known[data] = name
        expected = self._expected.covers(entry, name)  # never counted with what is not
        alike = [
            found
            for found in self.findings
            if (found.bucket, found.vocabulary) == (name, contract.vocabulary.id)
            and (found.expected is not None) == expected
            and found.unminimised != ON_ITS_WAY
        ]
        several = minimal and not stands_out(kind) and not self._expected.whole(name, contract)
        full = several and len(alike) >= PER_BUCKET
        same = [found for found in alike if found.input == data]
        if replaces is not None and replaces.bucket == name:
            same.append(replaces)
        former = next(iter(same if several and not full else same + alike), None)
        if former is None or former is replaces:
            identity = former.id if former else finding_id(name, contract.vocabulary.id)
            if former is None and identity in self._findings:
                identity = finding_id(name, contract.vocabulary.id, in_base64(data))
            former = self._write(entry, kind, identity, replaces, why)
            if unfinished:
                self._open.append((entry, "", former))
        elif replaces is not None:
            self._replace(replaces, former)
        self._count(name)
        self.tell()
        # Made minimal, an example may show what its entry says.
        open_ = unfinished and entry.case.generator == EXAMPLES
        shows = any(x.shows_in(name, contract.vocabulary.id) for x in self._expected.entries)
        return UNSURE if open_ and not shows else name

    def _replace(self, old: Found, found: Found) -> None:
        """Have one finding stand for another one, and take over what was counted there."""
        if old.id == found.id:
            return
        with self._lock:
            self.tell()
            self._findings.pop(old.id, None)
            self._findings[found.id] = found
            self._emit(replace(found, replaces=old.id))
            self._drop(old.id)
            if old.bucket in {one.bucket for one in self._findings.values()}:
                return
            if old.bucket in self._counts:
                self._counts[found.bucket] += self._counts.pop(old.bucket)
            for causes in [*self._causes.values()]:
                causes.rename(old.bucket, found.bucket)

    def _write(
        self, entry: Entry, kind: str, identity: str, replaces: Found | None, why: str | None
    ) -> Found:
        contract, violation = entry.contract, entry.violation
        expected = self._expected.entry(entry.bucket(kind), contract.vocabulary.id, violation.data)
        script = self._save(identity, violation, contract)
        found = finding(entry, kind, identity, why, expected, script)
        if replaces is not None and replaces.id != identity:
            self._replace(replaces, found)
            return found
        with self._lock:
            self._findings[identity] = found
            self._emit(found)
        return found
