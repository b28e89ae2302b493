"""The tracker of findings: from violations to minimised, bucketed, deduplicated findings.

A violation is confirmed (asked again alone), attributed to a known finding if it contains that
one's minimal input, or else minimised and entered under its bucket. A known bucket is counted
and never stops the hunt for others.
"""

from __future__ import annotations

import base64
import datetime
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
from harness.findings.entries import Entry, Page, Snapshot
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

CLAIMS_TRUSTED = 12
"""A signature with so many findings is taken to be explained by them."""

CLAIMS_ENOUGH = 100
"""A signature with so many findings, one of them unexpected, gets no more of them: what is wrong
everywhere would else be minimised for ever."""

FURTHER_QUESTIONS = frozenset(
    ("validity", "round-trip", "offsets", "incremental", "interval", "count-till-limit", "split")
) | {"heal"}
"""Checks that compare an implementation with itself: they say nothing new of one that is known to
answer one question in two ways."""

WHATEVER = "\0"
"""A kind that only a pattern for all of them fits."""

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
        self._expectations = expectations
        self._versions = versions
        self._findings: dict[str, Found] = {}
        self._pages: dict[tuple[str, Signature], Page] = {}
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
                pages=[
                    (where, sign, list(page.claims)) for (where, sign), page in self._pages.items()
                ],
                counts=dict(self._counts),
                provisionals=sorted(self._provisionals),
                unstable=[(*place, name) for place, name in self._unstable.items()],
            )

    def restore(self, known: Snapshot) -> None:
        """Know what another tracker knew, and nothing else; no event is emitted."""
        with self._lock:
            self._findings = {found.id: found for found in known.findings}
            self._pages = {(where, sign): Page(list(claims)) for where, sign, claims in known.pages}
            self._counts = Counter(known.counts)
            self._provisionals = set(known.provisionals)
            self._unstable = {(where, name): kind for where, name, kind in known.unstable}

    @property
    def findings(self) -> list[Found]:
        """All findings so far."""
        with self._lock:
            return list(self._findings.values())

    def expected(self, bucket_name: str, vocabulary: str) -> Expectation | None:
        """The entry that covers a bucket on a vocabulary today; one that has expired does not."""
        today = datetime.datetime.now(datetime.UTC).date()
        for expectation in self._expectations:
            if (
                expectation.covers(bucket_name, vocabulary)
                and expectation.applies(self._versions)
                and not expectation.expired(today)
            ):
                return expectation
        return None

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
        return self._enter(self._page(entry), entry, UNMINIMISED, minimal=False)

    def _considered(
        self, pool: WorkerPool, contract: Contract, violation: Violation, case: Case
    ) -> str:
        known = self._explained(pool, contract, violation)
        if isinstance(known, str):
            return self._count(known)
        violation = known
        entry = Entry(contract, violation, case)
        page = self._page(entry)
        alike = self._alike(page, entry)
        if alike is not None:
            return self._count(alike)
        provisional = None
        if violation.check == "survival" and violation.stage != TIMED_OUT:
            # On record before it is tried again: that may take long, and the last allowed death.
            provisional = self._provisional(entry)
        try:
            confirmed = confirm(pool, contract, violation)
        except OutOfTime:
            return self._entered_late(page, entry, provisional)
        if confirmed == "unsure":
            return UNSURE
        gone = confirmed == "gone"
        entry = Entry(contract, violation if isinstance(confirmed, str) else confirmed, case)
        page = self._page(entry)
        if gone or entry.violation.check == "determinism":
            # It does not come back alone, so there is nothing to minimise by.
            return self._enter(page, entry.explained(), UNMINIMISED, minimal=False)
        if provisional is None:
            provisional = self._provisional(entry)
        smaller, why = self._shrink(pool, entry)
        smaller = smaller.explained()
        kind = kind_of(smaller.violation, smaller.label.stage, contract)
        if why == TRIES_HANG:
            kind = UNMINIMISED  # what is left in the input says little of what it hangs on
        if why == NO_TIME and self._may_be_excused(smaller) and not self._covered(smaller):
            return UNSURE
        name = self._enter(page, smaller, kind, minimal=why is None, replaces=provisional, why=why)
        if self._excused(name, contract) and not self._covered(entry):
            # What is expected was a part of this input. Something else may be wrong with the rest.
            left = self._explained(pool, contract, violation)
            if isinstance(left, Violation) and len(left.data) < len(violation.data):
                self._considered(pool, contract, left, case)
        return name

    def _entered_late(self, page: Page, entry: Entry, provisional: Found | None) -> str:
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
        if self._may_be_excused(entry):
            if not self._covered(entry):
                return UNSURE
            kind = kind_of(entry.violation, entry.label.stage, entry.contract)
        return self._enter(page, entry, kind, minimal=False, replaces=provisional, why=NO_TIME)

    def _may_be_excused(self, entry: Entry, *, any_stage: bool = False) -> bool:
        """Whether an entry of the expectations covers such a finding with inputs of some kind.

        any_stage: or one whose explanation names another stage. So it is with what nobody explains
        behind a normalizer: a part of the input alone may part at another one.
        """
        any_stage |= entry.explanation is None and entry.contract.vocabulary.normalizes
        named = [parts for e in self._expectations if len(parts := e.bucket.split("/")) > 4]
        kinds, stages = {parts[4] for parts in named}, {parts[3] for parts in named if any_stage}
        labels = [entry.label, *(replace(entry.label, stage=one) for one in sorted(stages))]
        return any(
            self._excused(bucket(one, entry.contract, kind), entry.contract)
            for one in labels
            for kind in (*sorted(kinds), WHATEVER)
        )

    def _alike(self, page: Page, entry: Entry) -> str | None:
        """The bucket under which a violation is counted without minimising it, if it may be.

        Never as expected, unless it is, whatever its minimal input comes to.
        """
        excused: list[str] = []
        new: list[str] = []
        for name in dict.fromkeys(name for _, name in page.claims):
            (excused if self._excused(name, entry.contract) else new).append(name)
        if new and (self._late or len(page.claims) >= CLAIMS_ENOUGH):
            return new[0]
        if excused:
            # Told by the explanation, which takes some milliseconds, or else by the diagnosis.
            label = entry.signature if self._late else entry.explained().label
            if self._excused(bucket(label, entry.contract, WHATEVER), entry.contract):
                return excused[0]
        return None

    def _page(self, entry: Entry) -> Page:
        return self._pages.setdefault((entry.contract.id, entry.signature), Page())

    def _provisional(self, entry: Entry) -> Found | None:
        """Write the first finding of a signature as it is, to be replaced by its minimum.

        Not where its minimum may be expected: the gate would fail for it if nothing replaced it.
        """
        if self._page(entry).claims:
            return None
        entry = entry.explained()
        # A smaller input may part at another stage; how a process ends is no such stage.
        if self._may_be_excused(entry, any_stage=entry.violation.check != "survival"):
            return None
        found = self._write(entry, UNMINIMISED, minimal=False)
        self._provisionals.add(found.id)
        return found

    def _explained(
        self, pool: WorkerPool, contract: Contract, violation: Violation
    ) -> str | Violation:
        """The bucket of a known finding that explains a violation, else what is left to explain.

        A violation whose input contains a known minimal one is explained by it if nothing is
        wrong any more with that taken out; what is still wrong is another finding.
        """
        if violation.check in FURTHER_QUESTIONS:
            for culprit in violation.culprits:
                if (contract.id, culprit) in self._unstable:
                    return self._unstable[contract.id, culprit]
        page = self._pages.get((contract.id, signature(violation, contract)), Page())
        for minimal, name in page.claims:
            if minimal == violation.data:
                return name
            if not minimal and page.claims.count((minimal, name)) >= CLAIMS_TRUSTED:
                return name  # wrong with no input at all, and so with any
            if minimal and minimal in violation.data:
                rest = violation.data.replace(minimal, b"")
                left = self._left(pool, contract, violation, rest, page)
                if left is None:
                    return name
                violation = left
        # Nearly all input of some generators is ill-formed, each in a way of its own.
        ill = next((name for minimal, name in page.claims if categories(minimal) == BYTES), None)
        well_formed = violation.data.decode(errors="ignore").encode()
        if ill is not None and well_formed != violation.data:
            left = self._left(pool, contract, violation, well_formed, page)
            if left is None:
                return ill
            violation = left
        return violation

    def _left(
        self, pool: WorkerPool, contract: Contract, violation: Violation, rest: bytes, page: Page
    ) -> Violation | None:
        """The violation that is left with what is known taken out, if any is."""
        trusted = len(page.claims) >= CLAIMS_TRUSTED
        if self._late or trusted or violation.check in {"survival", "determinism"}:
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

    def _excused(self, name: str, contract: Contract) -> bool:
        """Whether a bucket is expected, so that what is counted under it does not fail the gate."""
        return self.expected(name, contract.vocabulary.id) is not None

    def _covered(self, entry: Entry) -> bool:
        """Whether a violation would be expected if its input were already minimal."""
        label = entry.explained().label
        kind = kind_of(entry.violation, label.stage, entry.contract)
        return self._excused(bucket(label, entry.contract, kind), entry.contract)

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
        claims = self._page(entry).claims
        excused = {name for _, name in claims}
        excused = {name for name in excused if self._excused(name, contract)}
        known = {minimal for minimal, name in claims if name in excused}

        covered = not self._expectations or self._covered(entry)

        def hides(one: Violation) -> bool:
            # A part of the input that is expected was in it, and the rest is looked at afterwards.
            # What is put in its place may be another mistake, which is expected when this is not.
            foreign = not subsequence(one.data, entry.violation.data)
            return not covered and foreign and self._covered(Entry(contract, one, entry.case))

        spent = Spent()

        def failing(candidates: Sequence[bytes]) -> list[bool]:
            # Shrinking into an expected finding would hide this one from the gate.
            lawful = [c for c in candidates if c not in known and contract.vocabulary.can_encode(c)]
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
        page: Page,
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
        if (minimal or not page.claims) and page.claims.count((data, name)) < CLAIMS_TRUSTED:
            page.claims.append((data, name))
        identity = finding_id(name, entry.contract.vocabulary.id)
        self._provisionals -= {identity, replaces.id if replaces else ""}
        known = self._findings.get(identity)
        smaller = known is None or len(data) < len(base64.b64decode(known.input_b64))
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
        expectation = self.expected(name, vocabulary.id)
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
