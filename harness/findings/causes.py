"""What is known of violations of one signature, and which others are worth looking into.

To look into a violation takes from some milliseconds to seconds. What looks like others that were
looked into is counted with them: its outcomes differ in the same tokens. What differs in other
tokens, or comes from another generator, is looked into however many are known, until so many
looks in a row have shown no new finding that few can be left (the rule of three: after n of them
the rate is below 3/n, with 95 % confidence).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.events import Found
from harness.findings.entries import Entry, Group

ALIKE = 8
"""Violations that differ in the same tokens and are looked into before one is counted with them."""

ALIKE_LATE = 2
"""The same where looking has had its share of the time; and of a generator at any time."""

QUIET = 200
"""Looks at other tokens in a row that show no new finding, after which other tokens are no longer
looked into: fewer than 1.5 % of what is left is new."""

QUIET_LATE = 60
"""The same where looking has had its share of the time: fewer than 5 %."""


@dataclass(slots=True)
class Causes:
    """What is known of the violations of one signature.

    minimal: the smallest inputs that were found, each with its bucket. seen: how often each trait
    was looked into. buckets: where those with a trait were counted last; latest: and all others.
    quiet: looks in a row at tokens not seen before that have shown no new finding.
    """

    minimal: dict[bytes, str] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    buckets: dict[str, str] = field(default_factory=dict)
    latest: str = ""
    quiet: int = 0

    def worth(self, entry: Entry, *, late: bool) -> bool:
        """Whether to look into another violation."""
        enough, quiet = (ALIKE_LATE, QUIET_LATE) if late else (ALIKE, QUIET)
        generated, *looked = (self.seen.get(x, 0) for x in (entry.case.generator, *entry.traits))
        known = min(looked) >= enough if min(looked) else self.quiet >= quiet
        return generated < ALIKE_LATE or not known

    def like(self, entry: Entry) -> str:
        """The bucket in which those were counted that look most alike."""
        return next((self.buckets[one] for one in entry.traits if one in self.buckets), self.latest)

    def note(self, entry: Entry, bucket: str, *, new: bool) -> None:
        """Take note of what one look has shown. new: it was a finding that nobody knew."""
        shown = entry.traits
        if new:
            self.quiet = 0
        elif not all(trait in self.seen for trait in shown):
            self.quiet += 1
        for trait in {*shown, entry.case.generator}:
            self.seen[trait] = self.seen.get(trait, 0) + 1
        self.buckets |= dict.fromkeys(shown, bucket)
        self.latest = bucket

    def rename(self, old: str, new: str) -> None:
        """Count in another bucket from now on, as one was replaced."""
        names: dict[Any, str]
        for names in (self.minimal, self.buckets):
            names |= {one: new for one, name in names.items() if name == old}
        self.latest = new if self.latest == old else self.latest


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a tracker knows, for one that goes on elsewhere. causes: by group."""

    findings: Sequence[Found] = ()
    causes: Sequence[tuple[Group, Causes]] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
