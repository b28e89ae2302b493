"""Which violations are worth looking into, where many of them look alike from outside.

To look into a violation takes from some milliseconds to seconds. What looks like others that were
looked into is counted with them: its outcomes differ in the same tokens. What differs in other
tokens, or comes from another generator, is looked into however many are known, until so many
looks in a row have shown no new finding that few can be left (the rule of three: after n of them
the rate is below 3/n, with 95 % confidence).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from harness.core.outcomes import Encoded
from harness.findings.diagnosis import categories, known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract

ALIKE = 8
"""Violations that differ in the same tokens and are looked into before one is counted with them."""

ALIKE_LATE = 2
"""The same where looking has had its share of the time."""

QUIET = 200
"""Looks at other tokens in a row that show no new finding, after which other tokens are no longer
looked into: fewer than 1.5 % of what is left is new."""

QUIET_LATE = 60
"""The same, of tokens that spell kinds of text seen before, where looking has had its share of the
time: fewer than 5 %."""

REGIONS = 8
"""Places at which two encodings differ that are told apart, of one input."""

TOKENS = 3
"""Tokens of such a place that are told apart, on either side."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What a violation looks like from outside.

    exact: the tokens that differ, place by place. coarse: the kinds of text that the first of them
    spell. generator: where it comes from.
    """

    exact: frozenset[str]
    coarse: frozenset[str]
    generator: str

    @property
    def all(self) -> list[str]:
        """All of them, those that say the most first."""
        return list(dict.fromkeys([*sorted(self.exact), *sorted(self.coarse), self.generator]))


@dataclass(slots=True)
class Looks:
    """What looking into the violations of one signature has shown so far.

    quiet: looks in a row at tokens not seen before that have shown no new finding.
    """

    seen: Counter[str] = field(default_factory=Counter)
    buckets: dict[str, str] = field(default_factory=dict)
    latest: str = ""
    quiet: int = 0

    def worth(self, traits: Traits, *, late: bool) -> bool:
        """Whether to look into another violation."""
        enough, quiet = (ALIKE_LATE, QUIET_LATE) if late else (ALIKE, QUIET)
        if self.seen[traits.generator] < ALIKE_LATE:
            return True
        if any(self.seen[trait] < ALIKE_LATE for trait in traits.coarse):
            return self.quiet < QUIET
        if any(not self.seen[trait] for trait in traits.exact):
            return self.quiet < quiet
        return any(self.seen[trait] < enough for trait in traits.exact)

    def like(self, traits: Traits) -> str:
        """The bucket in which those were counted that look most alike."""
        return next((self.buckets[one] for one in traits.all if one in self.buckets), self.latest)

    def note(self, traits: Traits, bucket: str, *, new: bool) -> None:
        """Take note of what one look has shown. new: it was a finding that nobody knew."""
        if new:
            self.quiet = 0
        elif any(not self.seen[trait] for trait in traits.exact):
            self.quiet += 1
        self.seen.update(traits.all)
        self.buckets |= dict.fromkeys(traits.all, bucket)
        self.latest = bucket

    def rename(self, old: str, new: str) -> None:
        """Count in another bucket from now on, as one was replaced."""
        renamed = {trait: new for trait, name in self.buckets.items() if name == old}
        self.buckets |= renamed
        self.latest = new if self.latest == old else self.latest

    def plain(self) -> dict[str, Any]:
        """Itself as plain JSON values."""
        counted = {"seen": dict(self.seen), "buckets": dict(self.buckets)}
        return counted | {"latest": self.latest, "quiet": self.quiet}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Looks:
        """What :meth:`plain` gave of another one."""
        return cls(**{**plain, "seen": Counter(plain["seen"]), "buckets": dict(plain["buckets"])})


def traits_of(violation: Violation, contract: Contract, generator: str) -> Traits:
    """What a violation looks like: of two encodings the tokens that differ, else its outcomes."""
    vocabulary, origin = contract.vocabulary, f"generator {generator}"
    exact, coarse = set(), set()
    for place in islice(places(violation, contract), REGIONS):
        sides = place.one, place.other
        exact.add(f"tokens {[vocabulary.spell(list(ids[:TOKENS])) for ids in sides]}")
        coarse.add(f"kinds {'/'.join(categories(vocabulary.spell(list(s[:1]))) for s in sides)}")
    if not exact:
        outcomes = ", ".join(part.outcome.status.label for part in violation.parts)
        exact = coarse = {f"input {categories(violation.data)}, {outcomes}"}
    return Traits(frozenset(exact), frozenset(coarse), origin)


@dataclass(frozen=True, slots=True)
class Region:
    """A place at which two encodings differ: its first byte, and the tokens of both."""

    start: int
    one: tuple[int, ...]
    other: tuple[int, ...]


def places(violation: Violation, contract: Contract, other: int = 1) -> Iterator[Region]:
    """Where a violation's first encoding and another one differ; nowhere if there are no two."""
    outcomes = [
        part.outcome for part in (*violation.parts[:1], *violation.parts[other : other + 1])
    ]
    encodings = [one.ids for one in outcomes if isinstance(one, Encoded)]
    if len(encodings) == 2 and known(contract.vocabulary, *encodings[0], *encodings[1]):
        yield from regions(contract.vocabulary, *encodings)


def regions(vocabulary: Vocabulary, one: Sequence[int], other: Sequence[int]) -> Iterator[Region]:
    """The places at which two encodings differ, each between boundaries that both have."""
    first = second = place = 0
    while first < len(one) or second < len(other):
        if first < len(one) and second < len(other) and one[first] == other[second]:
            place += len(vocabulary.spelling(one[first]))
            first, second = first + 1, second + 1
            continue
        begin, start = first, second
        ahead = 0  # bytes that the first spells further than the second
        while first < len(one) or second < len(other):
            if second < len(other) and (ahead > 0 or first == len(one)):
                ahead -= len(vocabulary.spelling(other[second]))
                second += 1
            else:
                ahead += len(vocabulary.spelling(one[first]))
                first += 1
            if not ahead:
                break
        mine = tuple(one[begin:first])
        yield Region(place, mine, tuple(other[start:second]))
        place += len(vocabulary.spell(list(mine)))
