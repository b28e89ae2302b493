"""Which findings are expected: what an entry of the expectations files covers today."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.checks import CHECKS, inputless
from harness.events import kind_in
from harness.findings.describing import input_of
from harness.findings.diagnosis import BYTES, bucket
from harness.findings.masking import left, like
from harness.findings.minimising import NO_TIME
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.core.comparisons import Contract
    from harness.events import Found
    from harness.findings.entries import Entry
    from harness.verdict.expectations import Expectation
    from harness.workers.pool import WorkerPool

    Shrink = Callable[[WorkerPool, Entry], tuple[Entry, str | None]]
    """Makes an input minimal; what kept it from that comes beside it."""

WHATEVER = "\0"
"""A kind of input that only a pattern for all kinds fits."""


@dataclass(frozen=True, slots=True)
class ExpectedFindings:
    """The entries of the expectations files, beside the versions of this run.

    versions: of each implementation by its name. minimal: by the place of an entry what its
    examples came to when they were minimised.
    """

    entries: Sequence[Expectation]
    versions: Mapping[str, str]
    minimal: dict[int, set[bytes]] = field(default_factory=dict)

    def matching(self, bucket_name: str, vocabulary: str) -> list[tuple[int, Expectation]]:
        """The entries whose bucket matches, with their places; one that has expired does not."""
        today = datetime.datetime.now(datetime.UTC).date()
        return [
            (place, one)
            for place, one in enumerate(self.entries)
            if one.covers(bucket_name, vocabulary)
            and one.applies(self.versions)
            and not one.expired(today)
        ]

    def entry(self, bucket_name: str, vocabulary: str, data: bytes) -> Expectation | None:
        """The entry that covers a finding with this minimal input today."""
        for place, one in self.matching(bucket_name, vocabulary):
            known = one.explains(bucket_name, data, inputless=inputless(bucket_name))
            if known or data in self.minimal.get(place, ()):
                return one
        return None

    def still(self, found: Found) -> Expectation | None:
        """The entry that covers a finding of an earlier session today.

        What covered it then does so still: its examples are not minimised again to know it.
        """
        same = (
            one
            for _, one in self.matching(found.bucket, found.vocabulary)
            if one.reason == found.expected
        )
        return self.entry(found.bucket, found.vocabulary, input_of(found)) or next(same, None)

    def has(self, bucket_name: str, contract: Contract, data: bytes) -> bool:
        """Whether a finding is expected, so that it does not fail the gate."""
        return self.entry(bucket_name, contract.vocabulary.id, data) is not None

    def covers(self, entry: Entry) -> bool:
        """Whether a violation would be expected if its input were already minimal."""
        return self.has(entry.bucket(entry.kind), entry.contract, entry.violation.data)

    def whole(self, bucket_name: str, contract: Contract) -> bool:
        """Whether all inputs of a bucket are expected, whatever they are like."""
        matching = self.matching(bucket_name, contract.vocabulary.id)
        return any(one.whole for _, one in matching)

    def narrow(self, bucket_name: str, contract: Contract, data: bytes) -> bool:
        """Whether what covers a finding covers nothing more for being ill-formed."""
        matching = [one for _, one in self.matching(bucket_name, contract.vocabulary.id)]
        if any(one.whole or kind_in(one.bucket) == BYTES for one in matching):
            return False
        return self.has(bucket_name, contract, data)

    def shown(self, bucket_name: str, contract: Contract) -> bool:
        """Whether a bucket shows what any entry says."""
        return any(one.shows_in(bucket_name, contract.vocabulary.id) for one in self.entries)

    def unsure(self, entry: Entry) -> bool:
        """Whether only its minimal input, which is not known, says if a violation is expected."""
        return self.may_cover(entry) and not self.covers(entry)

    def learn(self, pool: WorkerPool, entry: Entry, bucket_name: str, shrink: Shrink) -> None:
        """Ask whether the examples of entries whose buckets match explain a minimal input.

        Where there is no time left to ask, they do not, as far as anybody knows.
        """
        data = entry.violation.data
        for place, one in self.matching(bucket_name, entry.contract.vocabulary.id):
            if one.explains(bucket_name, data, inputless=inputless(bucket_name)):
                continue
            try:
                explained = self._explained(pool, entry, place, shrink)
                inside = [part for part in explained if part and part in data]
                gone = bool(inside) and left(pool, entry, inside) is None
                if gone or like(pool, entry, explained)(entry.violation):
                    explained.add(data)
            except OutOfTime:
                return

    def _explained(self, pool: WorkerPool, entry: Entry, place: int, shrink: Shrink) -> set[bytes]:
        """The examples of an entry, and what they come to when they are minimised."""
        if place not in self.minimal:
            examples = self.entries[place].examples
            found = set(examples)
            check = CHECKS[entry.violation.check]
            for shown in pool.examine(entry.contract, check, examples).violations:
                smaller, why = shrink(pool, replace(entry, violation=shown))
                if why == NO_TIME:
                    raise OutOfTime
                found.add(smaller.violation.data)
            self.minimal[place] = found
        return self.minimal[place]

    def may_cover(self, entry: Entry, *, any_stage: bool = False) -> bool:
        """Whether such a finding is expected where its minimal input is of some kind.

        any_stage: or one whose explanation names another stage. So it is with what nobody explains
        behind a normalizer: a part of the input alone may part at another one.
        """
        any_stage |= entry.explanation is None and entry.contract.vocabulary.normalizes
        named = [parts for e in self.entries if len(parts := e.bucket.split("/")) > 4]
        kinds, stages = {parts[4] for parts in named}, {parts[3] for parts in named if any_stage}
        labels = [entry.label, *(replace(entry.label, stage=one) for one in sorted(stages))]
        return any(
            self.matching(bucket(one, entry.contract, kind), entry.contract.vocabulary.id)
            for one in labels
            for kind in (*sorted(kinds), WHATEVER)
        )
