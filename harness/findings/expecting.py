"""Which findings are expected: what an entry of the expectations files covers today."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.checks import inputless
from harness.events import kind_in
from harness.findings.describing import input_of
from harness.findings.diagnosis import BYTES, bucket
from harness.findings.minimising import NO_TIME
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from harness.core.comparisons import Contract
    from harness.events import Found
    from harness.findings.entries import Entry
    from harness.findings.masking import Asking
    from harness.verdict.expectations import Expectation

    Shrink = Callable[[Asking], tuple[Entry, str | None]]
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

    def matching(self, name: str, vocabulary: str) -> Iterator[tuple[int, Expectation]]:
        """The entries that match a bucket, with their places; one that has expired does not."""
        today = datetime.datetime.now(datetime.UTC).date()
        for place, one in enumerate(self.entries):
            covers = one.covers(name, vocabulary) and one.applies(self.versions)
            if covers and not one.expired(today):
                yield place, one

    def entry(self, name: str, vocabulary: str, data: bytes) -> Expectation | None:
        """The entry that covers a finding of a bucket with this minimal input today."""
        for place, one in self.matching(name, vocabulary):
            learned = data in self.minimal.get(place, ())
            if learned or one.explains(name, data, inputless=inputless(name)):
                return one
        return None

    def still(self, found: Found) -> Expectation | None:
        """The entry that covers a finding of an earlier session today.

        What covered it then does so still: its examples are not minimised again to know it.
        """
        matching = self.matching(found.bucket, found.vocabulary)
        same = (one for _, one in matching if one.reason == found.expected)
        return self.entry(found.bucket, found.vocabulary, input_of(found)) or next(same, None)

    def covers(self, entry: Entry, name: str | None = None) -> bool:
        """Whether a violation is expected, under a bucket; its own is for a minimal input."""
        vocabulary = entry.contract.vocabulary.id
        return self.entry(name or entry.bucket(), vocabulary, entry.violation.data) is not None

    def whole(self, name: str, contract: Contract) -> bool:
        """Whether all inputs of a bucket are expected, whatever they are like."""
        return any(one.whole for _, one in self.matching(name, contract.vocabulary.id))

    def narrow(self, name: str, contract: Contract, data: bytes) -> bool:
        """Whether what covers a finding covers nothing more for being ill-formed."""
        vocabulary = contract.vocabulary.id
        matching = (one for _, one in self.matching(name, vocabulary))
        wide = any(one.whole or kind_in(one.bucket) == BYTES for one in matching)
        return not wide and self.entry(name, vocabulary, data) is not None

    def shown(self, name: str, contract: Contract) -> bool:
        """Whether a bucket shows what any entry says."""
        return any(one.shows_in(name, contract.vocabulary.id) for one in self.entries)

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
        stages = {entry.label.stage, *(parts[3] for parts in named if any_stage)}
        names = (
            bucket(replace(entry.label, stage=stage), entry.contract, kind)
            for stage in stages
            for kind in {WHATEVER, *(parts[4] for parts in named)}
        )
        return any(any(self.matching(one, entry.contract.vocabulary.id)) for one in names)

    def learn(self, asking: Asking, name: str, shrink: Shrink) -> None:
        """Ask whether the examples of entries whose buckets match explain a minimal input.

        Where there is no time left to ask, they do not, as far as anybody knows.
        """
        data = asking.entry.violation.data
        for place, one in self.matching(name, asking.entry.contract.vocabulary.id):
            if one.explains(name, data, inputless=inputless(name)):
                continue
            try:
                explained = self._explained(asking, place, shrink)
                if asking.left(explained) is None:
                    explained.add(data)
            except OutOfTime:
                return

    def _explained(self, asking: Asking, place: int, shrink: Shrink) -> set[bytes]:
        """The examples of an entry, and what they come to when they are minimised."""
        if place not in self.minimal:
            found: set[bytes] = set(self.entries[place].examples)
            for shown in asking.ask(self.entries[place].examples).violations:
                smaller, why = shrink(asking.about(shown))
                if why == NO_TIME:
                    raise OutOfTime
                found.add(smaller.violation.data)
            self.minimal[place] = found
        return self.minimal[place]
