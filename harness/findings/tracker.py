"""The tracker of findings: from violations to minimised, bucketed, deduplicated findings.

A violation is confirmed (asked again alone), attributed to a known finding if it contains that
one's minimal input, or else minimised and entered under its bucket. A known bucket is counted
and never stops the hunt for others.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.checks.base import Violation
from harness.core.partition import comparable
from harness.events import Counted, Found
from harness.findings import mistakes
from harness.findings.confirming import TIMED_OUT, confirm
from harness.findings.describing import described
from harness.findings.diagnosis import (
    BYTES,
    Signature,
    bucket,
    categories,
    difference,
    kind_of,
    signature,
)
from harness.findings.entries import FINDINGS_TRUSTED, Entry, KnownInputs, Snapshot
from harness.findings.expecting import WHATEVER, ExpectedFindings
from harness.findings.minimising import (
    NO_TIME,
    SHRINK_TIMEOUTS,
    TOOK_LONG,
    TRIES_HANG,
    WITHDRAWN,
    Spent,
)
from harness.findings.shrinking import shrink, subsequence
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.generators.base import Case
    from harness.core.comparisons import Contract
    from harness.events import Event
    from harness.verdict.expectations import Expectation
    from harness.workers.pool import WorkerPool

SHRINK_SECONDS = 4.0
"""The time for minimising one finding."""

SHRINK_DEATHS_SECONDS = 12.0
"""The time for minimising a finding that ends the process: each step that fails costs a new
process, a second or two."""

SHRINK_SHARE = 0.25
"""About this share of a run's time goes into violations once each signature has an example."""

UNHURRIED_SECONDS = 300.0
"""The time for minimising one finding of a run that the clock is not to decide. It is there only
for what would never end."""

FURTHER_QUESTIONS = frozenset(
    ("validity", "round-trip", "offsets", "incremental", "interval", "count-till-limit", "split")
) | {"heal"}
"""Checks that compare an implementation with itself: they say nothing new of one that is known to
answer one question in two ways."""

UNSURE = ""
"""This stands in place of the bucket of a violation that could not be told when it was asked
again."""

UNMINIMISED = "any"
"""The kind of input in a bucket that is not minimised, or cannot be."""


class FindingTracker:
    """The findings of one run.

    save: writes the folder of a finding (input, outcomes, reproducer) and gives the path of its
    ``repro.py`` relative to the output folder, or None. unhurried: the clock decides nothing, so
    that the same cases give the same findings (runs whose budget is a number of cases).
    patience: for how much of the usual time a finding is minimised.
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
    ) -> None:
        self._unhurried = unhurried
        self._patience = patience
        self._emit = emit
        self._save = save
        self._expected = ExpectedFindings(expectations, versions)
        self._findings: dict[str, Found] = {}
        self._known: dict[tuple[str, Signature], KnownInputs] = {}
        self._counts: Counter[str] = Counter()
        self._provisionals: set[str] = set()
        self._unstable: dict[tuple[str, str], str] = {}
        self._spent = 0.0
        self._since = time.monotonic()
        self._lock = threading.Lock()
        self._seconds_left: Callable[[], float] = lambda: float("inf")

    def limit_by(self, left: Callable[[], float]) -> None:
        """Minimise no longer than a run has time; left: the seconds until it is over."""
        self._seconds_left = left

    def snapshot(self) -> Snapshot:
        """What :meth:`restore` makes the same tracker of, but for the time spent."""
        with self._lock:
            return Snapshot(
                findings=list(self._findings.values()),
                known=[
                    (where, sign, list(one.minimal)) for (where, sign), one in self._known.items()
                ],
                counts=dict(self._counts),
                provisionals=sorted(self._provisionals),
                unstable=[(*place, name) for place, name in self._unstable.items()],
            )

    def restore(self, known: Snapshot) -> None:
        """Know what another tracker knew, and nothing else; no event is emitted."""
        with self._lock:
            self._findings = {found.id: found for found in known.findings}
            self._known = {
                (where, sign): KnownInputs(list(minimal)) for where, sign, minimal in known.known
            }
            self._counts = Counter(known.counts)
            self._provisionals = set(known.provisionals)
            self._unstable = {(where, name): kind for where, name, kind in known.unstable}

    @property
    def findings(self) -> list[Found]:
        """All findings so far."""
        with self._lock:
            return list(self._findings.values())

    def _check_invariants(self) -> None:
        """Hold what is so between any two calls. Raises AssertionError; tests call it."""
        buckets = {found.bucket for found in self._findings.values()}
        for identity, found in self._findings.items():
            assert identity == found.id == finding_id(found.bucket, found.vocabulary)
            assert found.replaces != identity
        for one in self._known.values():
            assert buckets.issuperset(one.buckets), "a known input whose finding is gone"
        assert self._provisionals <= self._findings.keys()
        assert buckets.issuperset(self._counts), "what is counted has no finding"
        certain = self._findings.keys() - self._provisionals
        assert all(self._counts[self._findings[identity].bucket] for identity in certain)
        assert buckets.issuperset(self._unstable.values())

    @property
    def unexpected(self) -> bool:
        """Whether a finding that no entry covers is there, the provisional ones left out."""
        with self._lock:
            return any(
                found.expected is None and identity not in self._provisionals
                for identity, found in self._findings.items()
            )

    def consider(
        self, pool: WorkerPool, contract: Contract, violation: Violation, case: Case
    ) -> str:
        """Enter a violation; gives the bucket under which it was counted."""
        started = time.monotonic()
        try:
            return self._considered(pool, contract, violation, case)
        finally:
            with self._lock:
                self._spent += time.monotonic() - started

    def note(self, contract: Contract, violation: Violation, case: Case) -> str:
        """Enter a violation that no input brings back; gives its bucket."""
        entry = Entry(contract, violation, case)
        return self._enter(self._known_of(entry), entry, UNMINIMISED, minimal=False)

    def _considered(
        self, pool: WorkerPool, contract: Contract, violation: Violation, case: Case
    ) -> str:
        entry = Entry(contract, violation, case)
        explained = self._explained(pool, entry)
        if isinstance(explained, str):
            return self._count(explained)
        if explained is not violation:
            violation = explained
            entry = Entry(contract, violation, case)
        known = self._known_of(entry)
        alike = self._alike(known, entry)
        if alike is not None:
            return self._count(alike)
        provisional = None
        if violation.check == "survival" and violation.stage != TIMED_OUT:
            # On record before it is tried again: that may take long, and the last allowed death.
            provisional = self._provisional(entry)
        try:
            confirmed = confirm(pool, contract, violation)
        except OutOfTime:
            return self._entered_late(known, entry, provisional)
        if confirmed == "unsure":
            return UNSURE
        gone = confirmed == "gone"
        entry = Entry(contract, violation if isinstance(confirmed, str) else confirmed, case)
        known = self._known_of(entry)
        if gone or entry.violation.check == "determinism":
            # It does not come back alone, so there is nothing to minimise by.
            return self._enter(known, entry.explained(), UNMINIMISED, minimal=False)
        if provisional is None:
            provisional = self._provisional(entry)
        smaller, why = self._shrink(pool, entry)
        mistake = mistakes.named(pool, contract, [smaller.violation, entry.violation])
        smaller = replace(smaller.explained(), mistake=mistake)
        kind = kind_of(smaller.violation, smaller.label.stage, contract)
        if why == TRIES_HANG:
            kind = UNMINIMISED  # what is left in the input says little of what it hangs on
        if why == NO_TIME and self._expected.unsure(smaller):
            return UNSURE
        name = self._enter(known, smaller, kind, minimal=why is None, replaces=provisional, why=why)
        if self._expected.has(name, contract) and not self._expected.covers(entry):
            # What is expected was a part of this input. Something else may be wrong with the rest.
            left = self._explained(pool, Entry(contract, violation, case))
            if isinstance(left, Violation) and len(left.data) < len(violation.data):
                self._considered(pool, contract, left, case)
        return name

    def _entered_late(self, known: KnownInputs, entry: Entry, provisional: Found | None) -> str:
        """Enter a violation that there is no time to ask about again, if it is sure as it is.

        It is where all that differ gave answers, and where a worker has asked again by itself. What
        might be expected if it were minimised is left out: the gate would fail for it.
        """
        sure = entry.violation.check == "survival" or all(
            comparable(part.outcome) for part in entry.violation.parts
        )
        if not sure:
            return UNSURE
        entry = entry.explained()
        kind = UNMINIMISED
        if self._expected.unsure(entry):
            return UNSURE
        if self._expected.may_cover(entry):
            kind = kind_of(entry.violation, entry.label.stage, entry.contract)
        return self._enter(known, entry, kind, minimal=False, replaces=provisional, why=NO_TIME)

    def _alike(self, known: KnownInputs, entry: Entry) -> str | None:
        """The bucket under which a violation is counted without minimising it, if it may be.

        Never as expected, unless it is, whatever its minimal input comes to.
        """
        excused: list[str] = []
        new: list[str] = []
        for name in known.buckets:
            (excused if self._expected.has(name, entry.contract) else new).append(name)
        if new and (self._late or known.enough):
            return new[0]
        if excused:
            # Told by the explanation, which takes some milliseconds, or else by the diagnosis.
            label = entry.signature if self._late else entry.explained().label
            told = bucket(label, entry.contract, WHATEVER)
            if self._expected.has(told, entry.contract):
                # Of the same stage: an expected finding of another one does not show this one.
                same = (name for name in excused if name.split("/")[:4] == told.split("/")[:4])
                return next(same, None)
        return None

    def _known_of(self, entry: Entry) -> KnownInputs:
        return self._known.setdefault((entry.contract.id, entry.signature), KnownInputs())

    def _provisional(self, entry: Entry) -> Found | None:
        """Write the first finding of a signature as it is, to be replaced by its minimum.

        Not where its minimum may be expected: the gate would fail for it if nothing replaced it.
        """
        if self._known_of(entry).minimal:
            return None
        entry = entry.explained()
        # A smaller input may part at another stage; how a process ends is no such stage.
        if self._expected.may_cover(entry, any_stage=entry.violation.check != "survival"):
            return None
        name = bucket(entry.label, entry.contract, UNMINIMISED)
        if finding_id(name, entry.contract.vocabulary.id) in self._findings:
            return None  # another signature has come to it, and it would go with this one
        found = self._write(entry, UNMINIMISED, minimal=False)
        self._provisionals.add(found.id)
        return found

    def _explained(self, pool: WorkerPool, entry: Entry) -> str | Violation:
        """The bucket of a known finding that explains a violation, else what is left to explain.

        A violation whose input contains a known minimal one is explained by it if nothing is
        wrong any more with that taken out; what is still wrong is another finding.
        """
        contract, violation = entry.contract, entry.violation
        if violation.check in FURTHER_QUESTIONS:
            for culprit in violation.culprits:
                if (contract.id, culprit) in self._unstable:
                    return self._unstable[contract.id, culprit]
        known = self._known.get((contract.id, entry.signature), KnownInputs())
        for minimal, name in known.minimal:
            if minimal == violation.data:
                return name
            if not minimal and known.minimal.count((minimal, name)) >= FINDINGS_TRUSTED:
                return name  # wrong with no input at all, and so with any
            if minimal and minimal in violation.data:
                rest = violation.data.replace(minimal, b"")
                left = self._left(pool, contract, violation, rest, known)
                if left is None:
                    return name
                violation = left
        # Nearly all input of some generators is ill-formed, each in a way of its own.
        ill = next((name for minimal, name in known.minimal if categories(minimal) == BYTES), None)
        well_formed = violation.data.decode(errors="ignore").encode()
        if ill is not None and well_formed != violation.data:
            left = self._left(pool, contract, violation, well_formed, known)
            if left is None:
                return ill
            violation = left
        return violation

    def _left(
        self,
        pool: WorkerPool,
        contract: Contract,
        violation: Violation,
        rest: bytes,
        known: KnownInputs,
    ) -> Violation | None:
        """The violation that is left with what is known taken out, if any is."""
        if self._late or known.trusted or violation.check in {"survival", "determinism"}:
            return None
        sign = signature(violation, contract)
        left: Violation | None = None
        if rest and contract.vocabulary.can_encode(rest):
            try:
                again = pool.examine(contract, CHECKS[violation.check], [rest]).violations
            except OutOfTime:
                return None
            left = next((one for one in again if signature(one, contract) == sign), None)
        return left

    @property
    def _late(self) -> bool:
        """Whether violations have had their share of the time."""
        if self._unhurried:
            return False
        due = self._spent > SHRINK_SHARE * (time.monotonic() - self._since)
        return due or self._seconds_left() <= 0

    def _count(self, name: str) -> str:
        with self._lock:
            self._counts[name] += 1
            self._emit(Counted(name, self._counts[name]))
        return name

    def _shrink(self, pool: WorkerPool, entry: Entry) -> tuple[Entry, str | None]:
        """The entry with the smallest input found, and why the search did not end by itself."""
        contract, check = entry.contract, CHECKS[entry.violation.check]
        latest = {entry.violation.data: entry.violation}
        minimal = self._known_of(entry).minimal
        excused = {data for data, name in minimal if self._expected.has(name, contract)}

        covered = not self._expected.entries or self._expected.covers(entry)

        def hides(one: Violation) -> bool:
            # A part of the input that is expected was in it, and the rest is looked at afterwards.
            # What is put in its place may be another mistake, which is expected when this is not.
            foreign = not subsequence(one.data, entry.violation.data)
            made = Entry(contract, one, entry.case)
            return not covered and foreign and self._expected.covers(made)

        spent = Spent()

        def failing(candidates: Sequence[bytes]) -> list[bool]:
            # Shrinking into an expected finding would hide this one from the gate.
            known = contract.vocabulary.can_encode
            lawful = [data for data in candidates if data not in excused and known(data)]
            try:
                violations = spent.on(pool.examine(contract, check, lawful)).violations
            except OutOfTime:
                spent.cut_off = True
                return [False] * len(candidates)
            seen = {
                one.data: one for one in violations if signature(one, contract) == entry.signature
            }
            # The first one is taken, and only of that it has to be known whether it hides anything.
            first = next((c for c in candidates if c in seen and not hides(seen[c])), None)
            if first is not None:
                latest[first] = seen[first]
            return [candidate == first for candidate in candidates]

        usual = SHRINK_DEATHS_SECONDS if check.name == "survival" else SHRINK_SECONDS
        seconds = self._patience * usual
        if self._unhurried:
            seconds = UNHURRIED_SECONDS
        left = self._seconds_left()
        smallest, ended = shrink(
            entry.violation.data, failing, min(seconds, left), lambda: spent.enough
        )
        why = None
        if spent.timeouts >= SHRINK_TIMEOUTS:
            why = TRIES_HANG
        elif not ended:
            why = NO_TIME if spent.cut_off or self._seconds_left() <= 0 else TOOK_LONG
        elif set(entry.violation.culprits) & set(pool.withdrawn()):
            why = WITHDRAWN
        return Entry(contract, latest[smallest], entry.case), why

    def _enter(
        self,
        known: KnownInputs,
        entry: Entry,
        kind: str,
        *,
        minimal: bool,
        replaces: Found | None = None,
        why: str | None = None,
    ) -> str:
        """Write a finding unless its bucket has a smaller one, and count it.

        why: it was not made smaller, if there is a reason besides its kind.
        """
        data = entry.violation.data
        name = bucket(entry.label, entry.contract, kind)
        if entry.violation.check == "determinism":
            for culprit in entry.violation.culprits:
                self._unstable.setdefault((entry.contract.id, culprit), name)
        if (minimal or not known.minimal) and known.minimal.count((data, name)) < FINDINGS_TRUSTED:
            known.minimal.append((data, name))
        identity = finding_id(name, entry.contract.vocabulary.id)
        self._provisionals -= {identity, replaces.id if replaces else ""}
        former = self._findings.get(identity)
        smaller = former is None or len(data) < len(base64.b64decode(former.input_b64))
        if smaller or replaces is not None:
            self._write(entry, kind, minimal=minimal, replaces=replaces, why=why)
        return self._count(name)

    def _write(
        self,
        entry: Entry,
        kind: str,
        *,
        minimal: bool,
        replaces: Found | None = None,
        why: str | None = None,
    ) -> Found:
        contract, violation, case = entry.contract, entry.violation, entry.case
        vocabulary = contract.vocabulary
        name = bucket(entry.label, contract, kind)
        identity = finding_id(name, vocabulary.id)
        expectation = self._expected.entry(name, vocabulary.id)
        place, sentence = difference(violation, vocabulary)
        found = Found(
            id=identity,
            check=violation.check,
            stage=entry.label.stage,
            bucket=name,
            contract=contract.id,
            vocabulary=vocabulary.id,
            mode=contract.mode.label,
            culprits=list(violation.culprits),
            partition=[described(part, vocabulary) for part in violation.parts],
            input_b64=base64.b64encode(violation.data).decode("ascii"),
            difference=sentence,
            first_difference=place,
            **case.provenance(),
            original_bytes=len(case.data),
            minimal=minimal,
            expected=expectation.reason if expectation else None,
            link=expectation.link if expectation else None,
            reproducer=self._save(identity, violation, contract),
            replaces=replaces.id if replaces and replaces.id != identity else None,
            explanation=asdict(entry.explanation) if entry.explanation else None,
            undecided=violation.undecided,
            unminimised=why,
            mistake=entry.mistake,
        )
        with self._lock:
            if found.replaces is not None:
                self._findings.pop(found.replaces, None)
            self._findings[identity] = found
            self._emit(found)
        return found


def finding_id(*parts: str) -> str:
    """A short stable name."""
    return "f-" + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
