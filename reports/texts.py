"""The section "Your texts": how much was read, and whose ids and token counts differ on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from harness.events.texts import (
    FirstDifference,
    TextsCompared,
    TextsGiven,
    TextsRead,
    TokenCounts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FIRST_SHOWN = 20
"""Differing documents of one implementation under one contract that are named."""

MIB = 1 << 20

DIGEST = (1 << 63) - 1
"""Digests are summed modulo a power of two, whatever the order in which batches are answered."""


@dataclass(frozen=True, slots=True)
class TextsRow:
    """One implementation under one contract, over all documents; :class:`TokenCounts` has more."""

    contract: str
    implementation: str
    counts: TokenCounts
    first: tuple[FirstDifference, ...]

    @property
    def change(self) -> str:
        """How many tokens more or less: ``3 tokens more and 1 fewer (+0.010 % of 20,000)``."""
        gap = self.counts.tokens - self.counts.against_tokens
        if not self.counts.more and not self.counts.fewer:
            return "the same number of tokens"
        share = 100 * gap / self.counts.against_tokens if self.counts.against_tokens else 0.0
        both = f"{self.counts.more:,} tokens more and {self.counts.fewer:,} fewer"
        return f"{both} ({share:+.3f} % of {self.counts.against_tokens:,})"

    @property
    def line(self) -> str:
        """What was found, in a sentence."""
        n = self.counts
        of = _documents(n.documents)
        left = f"; {n.unanswered:,} could not be compared" if n.unanswered else ""
        if not n.differing:
            every = "the one document" if n.documents == 1 else f"all {of}"
            return f"the ids of {n.against} in {every} ({n.tokens:,} tokens){left}"
        return (
            f"other ids than {n.against} in {n.differing:,} of {of}: {self.change}, with "
            f"{n.changed:,} tokens in what differs{left}"
        )


@dataclass(frozen=True, slots=True)
class Texts:
    """All that a record says of the user's texts; nothing where none were given."""

    given: TextsGiven | None = None
    read: tuple[TextsRead, ...] = ()
    rows: tuple[TextsRow, ...] = ()
    alone: tuple[tuple[str, str, int], ...] = ()
    """Contract, implementation and tokens of those that had nobody to be compared with."""
    digests: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """A digest of all ids, by contract and implementation."""

    @property
    def differing(self) -> int:
        """The documents that differ, of the implementation with the most."""
        return max((row.counts.differing for row in self.rows), default=0)

    def __bool__(self) -> bool:
        return self.given is not None

    def readings(self) -> Iterator[str]:
        """How much was read on each vocabulary, a line each."""
        for one in self.read:
            yield reading(one, self.given)

    def named(self) -> Iterator[str]:
        """The first documents that differ, a line each."""
        for row in self.rows:
            for one in row.first:
                yield (
                    f"{one.place}: {one.implementation} and {one.against} part at token "
                    f"{one.token:,} on {row.contract} "
                    f"({one.tokens:,} tokens, {one.against_tokens:,} of {one.against})"
                )

    def faults(self) -> Iterator[str]:
        """What could not be read, a line each."""
        yield from dict.fromkeys(line for one in self.read for line in one.faults)

    @property
    def whole(self) -> bool:
        """Whether all were read in order, so that another run of them has the same batches."""
        ordered = self.given is not None and self.given.only and not self.given.sampled
        return ordered and bool(self.read) and all(one.whole for one in self.read)

    def tokens(self) -> dict[tuple[str, str], int]:
        """The tokens that each gave, by contract and implementation."""
        found = {(contract, name): tokens for contract, name, tokens in self.alone}
        for row in self.rows:
            found[row.contract, row.implementation] = row.counts.tokens
            found.setdefault((row.contract, row.counts.against), row.counts.against_tokens)
        return found

    def summary(self) -> dict[str, Any] | None:
        """The section as plain data."""
        if self.given is None:
            return None
        return {
            **asdict(self.given),
            "read": [asdict(one) for one in self.read],
            "compared": [
                {"contract": row.contract, "implementation": row.implementation,
                 **asdict(row.counts), "first": [asdict(one) for one in row.first]}
                for row in self.rows
            ],
            "alone": [
                {"contract": contract, "implementation": name, "tokens": tokens}
                for contract, name, tokens in self.alone
            ],
            "digests": [
                {"contract": contract, "implementation": name, "digest": f"{digest:016x}"}
                for (contract, name), digest in self.digests.items()
            ],
        }  # fmt: skip


NO_TEXTS = Texts()


@dataclass(slots=True)
class TextsFold:
    """Sums the events of the texts, one by one."""

    given: TextsGiven | None = None
    read: dict[str, TextsRead] = field(default_factory=dict)
    counts: dict[tuple[str, str], TokenCounts] = field(default_factory=dict)
    first: dict[tuple[str, str], list[FirstDifference]] = field(default_factory=dict)
    alone: dict[tuple[str, str], int] = field(default_factory=dict)
    digests: dict[tuple[str, str], int] = field(default_factory=dict)

    def take(self, event: TextsGiven | TextsRead | TextsCompared) -> None:
        """Take one event in."""
        if isinstance(event, TextsGiven):
            self.given = event
        elif isinstance(event, TextsRead):
            self.read[event.vocabulary] = event
        else:
            for name, counts in event.counts.items():
                place = event.contract, name
                self.counts[place] = _sum(self.counts.get(place), counts)
            for one in event.first:
                shown = self.first.setdefault((event.contract, one.implementation), [])
                if len(shown) < FIRST_SHOWN:
                    shown.append(one)
            for name, tokens in event.alone.items():
                place = event.contract, name
                self.alone[place] = self.alone.get(place, 0) + tokens
            for name, digest in event.digests.items():
                place = event.contract, name
                self.digests[place] = (self.digests.get(place, 0) + digest) & DIGEST

    def made(self) -> Texts:
        """What was read so far."""
        rows = [
            TextsRow(contract, name, counts, tuple(self.first.get((contract, name), ())))
            for (contract, name), counts in self.counts.items()
        ]
        alone = tuple((contract, name, n) for (contract, name), n in self.alone.items())
        digests = dict(self.digests)
        return Texts(self.given, tuple(self.read.values()), tuple(rows), alone, digests)


def _sum(one: TokenCounts | None, other: TokenCounts) -> TokenCounts:
    if one is None:
        return other
    numbers = [f.name for f in fields(TokenCounts) if f.name != "against"]
    return TokenCounts(
        other.against, **{name: getattr(one, name) + getattr(other, name) for name in numbers}
    )


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number:,} documents"


def reading(one: TextsRead, given: TextsGiven | None) -> str:
    """How much of the texts was read for a vocabulary, in a line."""
    size = f"{one.bytes / MIB:,.1f} MiB"
    whole = "all of them" if one.whole else "not to their end"
    if not one.whole and given is not None and given.bytes:
        how = "a sample that the seed decides" if given.sampled else "in their order"
        whole = f"{one.read / given.bytes:.0%} of the files gone through, {how}"
    rate = f", {one.bytes / MIB / one.seconds:,.1f} MiB/s" if one.seconds > 1 else ""
    besides = [
        (one.duplicates, "duplicates passed over"),
        (one.cut, "longer than 1 MiB, cut into pieces that are compared as documents are"),
        (one.not_utf8, "not UTF-8, given as raw bytes"),
        (one.unfit, "outside of the vocabulary's letters"),
        (one.unreadable, "could not be read"),
    ]
    further = "".join(f"; {what}: {count:,}" for count, what in besides if count)
    return f"{one.vocabulary}: {_documents(one.documents)}, {size}, {whole}{rate}{further}"


def lines(texts: Texts, most: int = 5) -> Iterator[str]:
    """The section as lines of plain text, with ``most`` of the documents that differ."""
    yield from texts.readings()
    for row in texts.rows:
        yield f"{row.contract}: {row.implementation} gives {row.line}"
    for contract, name, tokens in texts.alone:
        yield f"{contract}: {name} gives {tokens:,} tokens, and nobody to compare them with"
    named = list(texts.named())
    yield from named[:most]
    if len(named) > most:
        yield "more documents that differ are named in the report"
    yield from texts.faults()


def changes(old: Texts, new: Texts) -> Iterator[str]:
    """What became of ids and token counts from one run to another on the same texts, a line each.

    Nothing where the two did not read the same documents, all of them and in order.
    """
    if not (old and new):
        return
    same = [one.documents for one in old.read] == [one.documents for one in new.read]
    if not (old.whole and new.whole and same):
        yield "your texts: the two runs did not read the same documents in order; not compared"
        return
    before, now = old.tokens(), new.tokens()
    for place in now:
        if place not in before:
            continue
        contract, name = place
        if old.digests.get(place) == new.digests.get(place):
            yield f"your texts: {name} gives the same ids as before on {contract}"
            continue
        gap = now[place] - before[place]
        share = f" ({100 * gap / before[place]:+.3f} %)" if before[place] else ""
        yield (
            f"your texts: {name} gives other ids than before on {contract}, "
            f"{before[place]:,} tokens then and {now[place]:,} now: {gap:+,}{share}"
        )
