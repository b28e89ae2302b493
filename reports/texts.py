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
from reports.blocks import Cell, Details, Items, Paragraph, Section, Table, numbers
from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.events import Event
    from reports.blocks import Block

FIRST_SHOWN = 20
"""Differing documents of one implementation under one contract that are named."""

MIB = 1 << 20

DIGEST = (1 << 63) - 1
"""Digests are summed modulo a power of two, whatever the order in which batches are answered."""

Place = tuple[str, str]
"""A contract and an implementation."""


@dataclass(frozen=True, slots=True)
class TextsRow:
    """One implementation under one contract, over all documents; :class:`TokenCounts` has more."""

    contract: str
    implementation: str
    counts: TokenCounts
    first: Sequence[FirstDifference] = ()

    @property
    def line(self) -> str:
        """What was found, in a sentence."""
        n = self.counts
        left = f"; {n.unanswered:,} could not be compared" if n.unanswered else ""
        if not n.differing:
            every = "the one document" if n.documents == 1 else f"all {n.documents:,} documents"
            return f"the ids of {n.against} in {every} ({n.tokens:,} tokens){left}"
        return (
            f"other ids than {n.against} in {n.differing:,} of {plural(n.documents, 'document')}: "
            f"{self._change()}, with {n.changed:,} tokens in what differs{left}"
        )

    def _change(self) -> str:
        """How many tokens more or less: ``3 tokens more and 1 fewer (+0.010 % of 20,000)``."""
        n = self.counts
        if not n.more and not n.fewer:
            return "the same number of tokens"
        gap = n.tokens - n.against_tokens
        share = 100 * gap / n.against_tokens if n.against_tokens else 0.0
        both = f"{n.more:,} tokens more and {n.fewer:,} fewer"
        return f"{both} ({share:+.3f} % of {n.against_tokens:,})"


@dataclass(slots=True)
class Texts:
    """All that events tell of the user's texts; nothing where none were given.

    read: by vocabulary, its last event. alone: the tokens of those that had nobody to be compared
    with. digests: of all ids.
    """

    given: TextsGiven | None = None
    read: dict[str, TextsRead] = field(default_factory=dict)
    counts: dict[Place, TokenCounts] = field(default_factory=dict)
    first: dict[Place, list[FirstDifference]] = field(default_factory=dict)
    alone: dict[Place, int] = field(default_factory=dict)
    digests: dict[Place, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.given is not None

    @classmethod
    def of(cls, events: Iterable[Event]) -> Texts:
        """What these events tell; those of other things are passed over."""
        made = cls()
        for event in events:
            match event:
                case TextsGiven():
                    made.given = event
                case TextsRead():
                    made.read[event.vocabulary] = event
                case TextsCompared():
                    made._add(event)
        return made

    def _add(self, event: TextsCompared) -> None:
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

    @property
    def rows(self) -> list[TextsRow]:
        """Everybody that was compared."""
        return [
            TextsRow(*place, counts, self.first.get(place, ()))
            for place, counts in self.counts.items()
        ]

    def readings(self) -> Iterator[str]:
        """How much was read on each vocabulary, a line each."""
        for one in self.read.values():
            yield reading(one, self.given)

    def named(self) -> list[str]:
        """The first documents that differ, a line each."""
        return [
            f"{one.place}: {one.implementation} and {one.against} part at token {one.token:,} on "
            f"{contract} ({one.tokens:,} tokens, {one.against_tokens:,} of {one.against})"
            for (contract, _), found in self.first.items()
            for one in found
        ]

    def faults(self) -> list[str]:
        """What could not be read, a line each."""
        return list(dict.fromkeys(line for one in self.read.values() for line in one.faults))

    @property
    def whole(self) -> bool:
        """Whether all were read in order, so that another run of them has the same batches."""
        ordered = self.given is not None and self.given.only and not self.given.sampled
        return ordered and bool(self.read) and all(one.whole for one in self.read.values())

    def tokens(self) -> dict[Place, int]:
        """The tokens that each gave, by contract and implementation."""
        found = dict(self.alone)
        for (contract, name), counts in self.counts.items():
            found[contract, name] = counts.tokens
            found.setdefault((contract, counts.against), counts.against_tokens)
        return found

    def summary(self) -> dict[str, Any] | None:
        """The section as plain data."""
        if self.given is None:
            return None

        def placed(place: Place, **more: Any) -> dict[str, Any]:
            contract, name = place
            return {"contract": contract, "implementation": name, **more}

        return {
            **asdict(self.given),
            "read": [asdict(one) for one in self.read.values()],
            "compared": [
                placed(place, **asdict(counts), first=list(map(asdict, self.first.get(place, []))))
                for place, counts in self.counts.items()
            ],
            "alone": [placed(place, tokens=tokens) for place, tokens in self.alone.items()],
            "digests": [placed(place, digest=f"{n:016x}") for place, n in self.digests.items()],
        }


def _sum(one: TokenCounts | None, other: TokenCounts) -> TokenCounts:
    if one is None:
        return other
    counted = [f.name for f in fields(TokenCounts) if f.name != "against"]
    return TokenCounts(
        other.against, **{name: getattr(one, name) + getattr(other, name) for name in counted}
    )


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
    documents = plural(one.documents, "document")
    return f"{one.vocabulary}: {documents}, {size}, {whole}{rate}{further}"


def sections(texts: Texts) -> list[Section]:
    """What a page shows of them; nothing where none were given."""
    if not texts:
        return []
    table = Table(
        "Table of your texts",
        (
            "Implementation", "Where", "Beside",
            *numbers("Documents", "Differing", "Tokens", "More", "Fewer", "Not compared"),
        ),
        [
            (
                row.implementation, row.contract, n.against, n.documents,
                Cell(n.differing, "bad" if n.differing else ""),
                n.tokens, n.more, n.fewer, n.unanswered,
            )
            for row in texts.rows
            for n in (row.counts,)
        ],
        "Ids and token counts on your texts, beside the most trusted implementation",
        empty="No two implementations were compared on them.",
    )  # fmt: skip
    named, faults = texts.named(), texts.faults()
    first = Details("The first documents that differ", [Items(named)], open=len(named) <= 20)
    alone = [
        f"{name} gives {plural(tokens, 'token')} on {contract}, and has nobody to be compared with."
        for (contract, name), tokens in texts.alone.items()
    ]
    blocks: list[Block] = [
        *(Paragraph(line, "quiet") for line in texts.readings()),
        table,
        *(Paragraph(line, "quiet") for line in alone),
        *([first] if named else []),
        *([Details("Could not be read", [Items(faults)], open=True)] if faults else []),
    ]
    return [Section("Your texts", blocks, "texts")]


def lines(texts: Texts, most: int = 5) -> Iterator[str]:
    """The section as lines of plain text, with ``most`` of the documents that differ."""
    yield from texts.readings()
    for row in texts.rows:
        yield f"{row.contract}: {row.implementation} gives {row.line}"
    for (contract, name), tokens in texts.alone.items():
        yield f"{contract}: {name} gives {tokens:,} tokens, and nobody to compare them with"
    named = texts.named()
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
    same = [one.documents for one in old.read.values()] == [
        one.documents for one in new.read.values()
    ]
    if not (old.whole and new.whole and same):
        yield "your texts: the two runs did not read the same documents in order; not compared"
        return
    before = old.tokens()
    for place, now in new.tokens().items():
        if place not in before:
            continue
        contract, name = place
        if old.digests.get(place) == new.digests.get(place):
            yield f"your texts: {name} gives the same ids as before on {contract}"
            continue
        gap = now - before[place]
        share = f" ({100 * gap / before[place]:+.3f} %)" if before[place] else ""
        yield (
            f"your texts: {name} gives other ids than before on {contract}, "
            f"{before[place]:,} tokens then and {now:,} now: {gap:+,}{share}"
        )
