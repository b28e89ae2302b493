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
from harness.events.causes import STAGE, slots_of
from harness.findings import mistakes, unicode_skew
from harness.findings.causes import Causes, Snapshot
from harness.findings.description import finding, in_base64, is_minimal
from harness.findings.entries import EXAMPLES, PER_BUCKET, UNSURE, Entry, Group, finding_id
from harness.findings.expected import WHATEVER, ExpectedFindings
from harness.findings.patience import NO_TIME, TOOK_LONG, TRIES_HANG, Patience
from harness.findings.questions import AGAIN, TIMED_OUT, UNSTABLE_AGAIN, Asking
from harness.verdict.expectations import UNMINIMISED, Expectation
from harness.workers.pool import OutOfTime, WorkerPool

NOT_ASKED_AGAIN = "there was no time left to ask again"

ON_ITS_WAY = "not minimised: it was still being examined"

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
        self._time = Patience(unhurried, patience)
        self._lock = threading.RLock()
        self.restore(Snapshot())

    def limit_by(self, left: Callable[[], float]) -> None:
        """Look into violations no longer than there is time; left: the seconds until then."""
        self._time.left = left

    def snapshot(self) -> Snapshot:
        """What :meth:`restore` makes the same tracker of, but for the time spent."""
        with self._lock:
            causes = deepcopy([*self._causes.items()])
            return Snapshot(self.findings, causes, dict(self._counts))

    def restore(self, known: Snapshot) -> None:
        """Know what another tracker knew, and nothing else; no event is emitted."""
        with self._lock:
            self._findings = {found.id: found for found in known.findings}
            self._causes = defaultdict[Group, Causes](Causes, deepcopy([*known.causes]))
            self._counts, self._untold = Counter(known.counts), Counter[str]()
            self._open: list[tuple[Entry, str]] = []

    @property
    def findings(self) -> list[Found]:
        """All findings so far."""
        with self._lock:
            return [*self._findings.values()]

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
        return self._enter(entry)

    def leave(self, entry: Entry, reason: str = NOT_LOOKED_INTO) -> str:
        """Keep a violation of which nobody knows what it is, to be told if that stays so."""
        # What an entry has worked out goes with a copy.
        self._open.append((replace(entry, found=None) if entry.found else entry, reason))
        return UNSURE

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
        unknown = list[tuple[Entry, str]]()
        with self._time.looking(pool):
            for entry, reason in sorted(waiting, key=lambda one: len(one[0].violation.data)):
                found = entry.found
                if pool.out_of_time or reason not in UNFINISHED:
                    unknown.append((entry, reason))
                elif found is None or self._findings.get(found.id) is found:
                    self._considered(self._asking(pool, entry))
        unknown += self._open
        self._open = []  # once more is enough, or it would never end
        told = Counter(
            (entry.contract.id, entry.violation.check, entry.violation.culprits, reason)
            for entry, reason in unknown
            if entry.found is None and self._at_sight(entry) is None
        )
        self.tell()
        with self._lock:
            for (contract, check, culprits, reason), count in told.items():
                self._emit(Unsettled(contract, check, list(culprits), reason, count))

    def _at_sight(self, entry: Entry) -> str | None:
        """Count a violation that is known well enough without a question; gives its bucket.

        What is expected whatever its input is like is known once it was seen, at the same stage: an
        expected finding of another one does not show this one.
        """
        causes = self._causes[entry.group]
        if self.alike(entry):
            return causes.like(entry)
        if self._expected.whole(entry.bucket(WHATEVER), entry.contract):
            for name in causes.minimal.values():
                if slots_of(name)[STAGE] == entry.label.stage:
                    causes.note(entry, name, new=False)
                    return self._count(name)
        return None

    def _asking(self, pool: WorkerPool, entry: Entry) -> Asking:
        return Asking(pool, entry, self._causes, self._expected)

    def _considered(self, asking: Asking) -> str:
        """Count a violation where it is known, or else look into it.

        Another finding may explain by now what is on record already, and not minimal.
        """
        entry, found, before = asking.entry, asking.entry.found, len(self._findings)
        if found is None and (counted := self._at_sight(entry)) is not None:
            return counted
        try:
            rest = asking.unexplained()
        except OutOfTime:
            if found or self._expected.covers(entry):
                return self._entered_late(entry)
            return self.leave(entry, NOT_ASKED_AGAIN)
        if found is not None:
            minimal = [one for one in self.findings if one.minimal and one.bucket == rest]
            if not minimal:
                return self._look_into(asking)
            self._put(minimal[0], found)
            return minimal[0].bucket
        name = self._count(rest) if isinstance(rest, str) else self._look_into(asking.about(rest))
        if name != UNSURE:
            self._causes[entry.group].note(entry, name, new=len(self._findings) > before)
        return name

    def _look_into(self, asking: Asking) -> str:
        """Ask again, make the input minimal, and enter what is found."""
        seen, known = asking.entry.violation, asking.entry.found
        if seen.check == "survival" and seen.stage != TIMED_OUT:
            # On record before it is tried again: that may take long, and the last allowed death.
            asking = self._on_record(asking)
        unstable = any(  # known to answer one question in two ways
            one.check == "determinism" and {*seen.culprits} & {*one.culprits}
            for one in self.findings
            if one.contract == asking.entry.contract.id
        )
        try:
            confirmed = asking.confirm(UNSTABLE_AGAIN if unstable else AGAIN)
        except OutOfTime:
            return self._entered_late(asking.entry)
        if confirmed == "machine":
            return UNSURE
        if confirmed == "unsure":
            return self.leave(asking.entry, NO_SECOND_ANSWER)
        if isinstance(confirmed, Violation):
            asking = asking.about(confirmed)
            if seen.undecided and not confirmed.undecided and known is None:
                # Somebody has answered who is trusted more: it may be what is known of the others.
                return self._considered(asking)
        if confirmed == "gone" or asking.entry.violation.check == "determinism":
            # It does not come back alone, so there is nothing to minimise by.
            return self._enter(asking.entry)
        return self._minimised(self._on_record(asking), seen)

    def _minimised(self, asking: Asking, first: Violation) -> str:
        """Make the input of a violation that came back minimal, and enter what is found.

        first: it was confirmed as another one.
        """
        entry = asking.entry
        smaller, why = asking.minimise(self._time.minimising(entry.violation))
        both = [smaller.violation, entry.violation]
        asked = asking.pool, entry.contract
        mistake = unicode_skew.named(*asked, both[0]) or mistakes.named(*asked, both)
        smaller = replace(smaller, mistake=mistake)
        # Of a hang, what is left in the input says little of what it hangs on.
        kind = UNMINIMISED if why == TRIES_HANG else smaller.kind
        replace(asking, entry=smaller).learn(kind)
        if why in UNFINISHED and self._expected.unsure(smaller):
            return self.leave(entry, why)
        name = self._enter(smaller, kind, why)
        if self._expected.covers(smaller, kind) and not self._expected.covers(entry):
            # What is expected was a part of this input. Something else may be wrong with the rest.
            asking = replace(asking, entry=replace(entry, violation=first, found=None))
            try:
                rest = asking.unexplained()
            except OutOfTime:
                self.leave(asking.entry, NOT_ASKED_AGAIN)
                return name
            if isinstance(rest, Violation) and len(rest.data) < len(first.data):
                self._considered(asking.about(rest))
        return name

    def _entered_late(self, entry: Entry) -> str:
        """Enter a violation that there is no time to ask about again, if it is sure as it is.

        It is where all that differ gave answers, and where a worker has asked again by itself; but
        not where somebody who would decide between equals gave none. What might be expected if it
        were minimised is left out: the gate would fail for it.
        """
        if entry.found and entry.found.unminimised != ON_ITS_WAY:
            return entry.found.bucket
        violation, standing = entry.violation, entry.contract.standing
        sure = all(comparable(part.outcome) for part in violation.parts)
        if violation.undecided:
            trusted = max(standing_of(part, standing) for part in violation.parts)
            sure &= trusted >= max(standing.values())
        if not (sure or violation.check == "survival") or self._expected.unsure(entry):
            return self.leave(entry, NOT_ASKED_AGAIN)
        kind = entry.kind if self._expected.may_cover(entry) else UNMINIMISED
        return self._enter(entry, kind, NO_TIME)

    def _on_record(self, asking: Asking) -> Asking:
        """Write the first finding of a signature as it is, to be replaced by its minimum.

        Not where its minimum may be expected: the gate would fail for it if nothing replaced it.
        Nor where another signature has come to it, which would go with this one.
        """
        entry = asking.entry
        identity = finding_id(entry.bucket(UNMINIMISED), entry.contract.vocabulary.id)
        known = entry.found or self._causes[entry.group].minimal or identity in self._findings
        # A smaller input may part at another stage; how a process ends is no such stage.
        any_stage = entry.violation.check != "survival"
        if known or self._expected.may_cover(entry, any_stage=any_stage):
            return asking
        found = self._write(entry, UNMINIMISED, identity, ON_ITS_WAY)
        return replace(asking, entry=replace(entry, found=found))

    def _count(self, name: str) -> str:
        with self._lock:
            self._counts[name] += 1
            self._untold[name] += 1
        return name

    def _enter(self, entry: Entry, kind: str = UNMINIMISED, why: str | None = None) -> str:
        """Write a finding unless its bucket has one that stands for it, and count it.

        why: it was not made smaller, if there is a reason besides its kind.
        """
        data, vocabulary, former = entry.violation.data, entry.contract.vocabulary.id, entry.found
        name, known = entry.bucket(kind), self._causes[entry.group].minimal
        minimal, unfinished = is_minimal(kind, why), why in UNFINISHED
        if minimal or not (known or unfinished):
            known[data] = name
        unexpected = not self._expected.covers(entry, kind)  # never counted with what is
        alike = [
            found
            for found in self.findings
            if (found.bucket, found.vocabulary) == (name, vocabulary)
            and (found.expected is None) == unexpected
            and found.unminimised != ON_ITS_WAY
        ]
        same = [found for found in alike if found.input == data]
        if former is not None and former.bucket == name:
            same.append(former)
        several = minimal and not stands_out(kind) and len(alike) < PER_BUCKET
        if not several or self._expected.whole(name, entry.contract):
            same += alike
        if same and same[0] is not former:
            if former is not None:
                self._put(same[0], former)
        else:
            identity = same[0].id if same else finding_id(name, vocabulary)
            if not same and identity in self._findings:
                identity = finding_id(name, vocabulary, in_base64(data))
            found = self._write(entry, kind, identity, why)
            if why in UNFINISHED:
                self._open.append((replace(entry, found=found), why))
        self._count(name)
        self.tell()
        # Made minimal, an example may show what its entry says.
        open_ = unfinished and entry.case.generator == EXAMPLES
        shows = any(x.shows_in(name, vocabulary) for x in self._expected.entries)
        return UNSURE if open_ and not shows else name

    def _write(self, entry: Entry, kind: str, identity: str, why: str | None) -> Found:
        script = self._save(identity, entry.violation, entry.contract)
        expected = self._expected.covers(entry, kind)
        found = finding(entry, kind, identity, why, expected, script)
        self._put(found, entry.found)
        return found

    def _put(self, found: Found, old: Found | None) -> None:
        """Have a finding on record, in place of another one whose counts it takes over, if any."""
        with self._lock:
            if old is None or old.id == found.id:
                self._findings[found.id] = found
                self._emit(found)
                return
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
