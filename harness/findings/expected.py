"""Which findings are expected: what an entry of the expectations files covers today."""

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.checks import inputless
from harness.core.comparisons import Contract
from harness.events import Found
from harness.events.causes import KIND, SLOTS, STAGE, slots_of
from harness.findings.entries import Entry
from harness.verdict.expectations import Expectation

NO_EXAMPLE = b"\xff no entry has this example"

WHATEVER = "\0"
"""A kind of input that only a pattern for all kinds fits."""


@dataclass(frozen=True)
class ExpectedFindings:
    """The entries of the expectations files, beside the versions of this run.

    versions: of each implementation by its name. minimal: by the place of an entry further inputs
    that its examples explain, such as what they came to when they were minimised.
    """

    entries: Sequence[Expectation]
    versions: Mapping[str, str]
    minimal: defaultdict[int, set[bytes]] = field(default_factory=lambda: defaultdict(set))

    @cached_property
    def current(self) -> list[tuple[int, Expectation]]:
        """The entries that say something today, with their places."""
        today = datetime.datetime.now(datetime.UTC).date()
        return [
            (place, one)
            for place, one in enumerate(self.entries)
            if one.applies(self.versions) and not one.expired(today)
        ]

    def matching(self, name: str, vocabulary: str) -> list[tuple[int, Expectation]]:
        """The entries that match a bucket, with their places; one that has expired does not."""
        return [(place, one) for place, one in self.current if one.covers(name, vocabulary)]

    def entry(self, name: str, vocabulary: str, data: bytes) -> Expectation | None:
        """The entry that covers a finding of a bucket with this minimal input today."""
        for place, one in self.matching(name, vocabulary):
            if data in self.minimal[place] or one.explains(name, data, inputless=inputless(name)):
                return one
        return None

    def still(self, found: Found) -> Expectation | None:
        """The entry that covers a finding of an earlier session today.

        What covered it then does so still: its examples are not asked again to know it.
        """
        matching = self.matching(found.bucket, found.vocabulary)
        same = (one for _, one in matching if one.reason == found.expected)
        return self.entry(found.bucket, found.vocabulary, found.input) or next(same, None)

    def covers(self, entry: Entry, kind: str | None = None) -> Expectation | None:
        """The entry that covers a violation whose input is of a kind; its own if it is minimal."""
        vocabulary = entry.contract.vocabulary.id
        return self.entry(entry.bucket(kind), vocabulary, entry.violation.data)

    def whole(self, name: str, contract: Contract) -> bool:
        """Whether all inputs of a bucket are expected, whatever they are like."""
        return any(one.whole for _, one in self.matching(name, contract.vocabulary.id))

    def unsure(self, entry: Entry) -> bool:
        """Whether only its minimal input, which is not known, says if a violation is expected."""
        return self.may_cover(entry) and not self.covers(entry)

    def may_cover(self, entry: Entry, *, any_stage: bool = False) -> bool:
        """Whether such a finding is expected where its minimal input is of some kind.

        any_stage: or one whose explanation names another stage. So it is with what nobody explains
        behind a normalizer: a part of the input alone may part at another one.
        """
        vocabulary = entry.contract.vocabulary
        any_stage |= entry.explanation is None and vocabulary.normalizes
        own = entry.bucket(WHATEVER).split("/", SLOTS - 1)
        for _, one in self.current:
            slots = slots_of(one.bucket) or own
            stage = slots[STAGE] if any_stage else own[STAGE]
            name = "/".join([*own[:STAGE], stage, slots[KIND], *own[KIND + 1 :]])
            if one.covers(name, vocabulary.id):
                return True
        return False
