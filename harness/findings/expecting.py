"""Which findings are expected: what an entry of the expectations files covers today."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.findings.diagnosis import bucket, kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.core.comparisons import Contract
    from harness.findings.entries import Entry
    from harness.verdict.expectations import Expectation

WHATEVER = "\0"
"""A kind of input that only a pattern for all kinds fits."""


@dataclass(frozen=True, slots=True)
class ExpectedFindings:
    """The entries of the expectations files, beside the versions of this run.

    versions: of each implementation by its name.
    """

    entries: Sequence[Expectation]
    versions: Mapping[str, str]

    def entry(self, bucket_name: str, vocabulary: str) -> Expectation | None:
        """The entry that covers a bucket on a vocabulary today; one that has expired does not."""
        today = datetime.datetime.now(datetime.UTC).date()
        for expectation in self.entries:
            if (
                expectation.covers(bucket_name, vocabulary)
                and expectation.applies(self.versions)
                and not expectation.expired(today)
            ):
                return expectation
        return None

    def has(self, bucket_name: str, contract: Contract) -> bool:
        """Whether a bucket is expected, so that what is counted in it does not fail the gate."""
        return self.entry(bucket_name, contract.vocabulary.id) is not None

    def covers(self, entry: Entry) -> bool:
        """Whether a violation would be expected if its input were already minimal."""
        label = entry.explained().label
        kind = kind_of(entry.violation, label.stage, entry.contract)
        return self.has(bucket(label, entry.contract, kind), entry.contract)

    def unsure(self, entry: Entry) -> bool:
        """Whether only its minimal input, which is not known, says if a violation is expected."""
        return self.may_cover(entry) and not self.covers(entry)

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
            self.has(bucket(one, entry.contract, kind), entry.contract)
            for one in labels
            for kind in (*sorted(kinds), WHATEVER)
        )
