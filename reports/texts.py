"""The section "Your texts": how much was read, and whose ids and token counts differ on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from harness.events.texts import (
    FirstDifference,
    TextsCompared,
    TextsGiven,
    TextsRead,
    TokenCounts,
)
from reports.blocks import Details, Items, Paragraph, Section, Table, numbers
from reports.blocks.units import plural
from reports.studies import bad, last, of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.events import Event
    from reports.blocks import Block

FIRST_SHOWN = 20
"""Differing documents of one implementation under one contract that are named."""

PRINTED = 5
"""Of all these, those that a terminal names, too."""

MIB = 1 << 20

DIGEST = (1 << 63) - 1
"""Digests are summed modulo a power of two, whatever the order in which batches are answered."""

Place = tuple[str, str]
"""A contract and an implementation."""


@dataclass(frozen=True, slots=True)
class TextsRow:
    """One implementation under one contract, over all documents. first: those that differ."""

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
        change = "the same number of tokens"
        if n.more or n.fewer:
            share = 100 * (n.tokens - n.against_tokens) / (n.against_tokens or 1)
            of = f"({share:+.3f} % of {n.against_tokens:,})"
            change = f"{n.more:,} tokens more and {n.fewer:,} fewer {of}"
        return (
            f"other ids than {n.against} in {n.differing:,} of {plural(n.documents, 'document')}: "
            f"{change}, with {n.changed:,} tokens in what differs{left}"
        )


@dataclass(frozen=True, slots=True)
class Texts:
    """All that events tell of the user's texts; nothing where none were given.

    read: by vocabulary, its last event. rows: everybody that was compared. alone: the tokens of
    those that had nobody to be compared with. digests: of all ids.
    """

    given: TextsGiven | None
    read: Mapping[str, TextsRead]
    rows: Sequence[TextsRow]
    alone: Mapping[Place, int]
    digests: Mapping[Place, int]

    def __bool__(self) -> bool:
        return self.given is not None

    @classmethod
    def of(cls, events: Iterable[Event]) -> Texts:
        """What these events tell; those of other things are passed over."""
        every = list(events)
        counts: dict[Place, list[TokenCounts]] = {}
        first: dict[Place, list[FirstDifference]] = {}
        alone, digests = Counter[Place](), Counter[Place]()
        for event in of(every, TextsCompared):
            where = event.contract
            for name, one in event.counts.items():
                counts.setdefault((where, name), []).append(one)
            for differing in event.first:
                first.setdefault((where, differing.implementation), []).append(differing)
            alone.update({(where, name): tokens for name, tokens in event.alone.items()})
            digests.update({(where, name): digest for name, digest in event.digests.items()})
        return cls(
            last(every, TextsGiven),
            {one.vocabulary: one for one in of(every, TextsRead)},
            [
                TextsRow(*place, _sum(parts), first.get(place, [])[:FIRST_SHOWN])
                for place, parts in counts.items()
            ],
            alone,
            {place: digest & DIGEST for place, digest in digests.items()},
        )

    def named(self) -> list[str]:
        """The first documents that differ, a line each."""
        return [
            f"{one.place}: {one.implementation} and {one.against} part at token {one.token:,} on "
            f"{row.contract} ({one.tokens:,} tokens, {one.against_tokens:,} of {one.against})"
            for row in self.rows
            for one in row.first
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
        for row in self.rows:
            found[row.contract, row.implementation] = row.counts.tokens
            found.setdefault((row.contract, row.counts.against), row.counts.against_tokens)
        return found

    def summary(self) -> dict[str, Any] | None:
        """The section as plain data."""
        if self.given is None:
            return None

        def placed(place: Place, **more: Any) -> dict[str, Any]:
            return {"contract": place[0], "implementation": place[1], **more}

        return {
            **asdict(self.given),
            "read": [asdict(one) for one in self.read.values()],
            "compared": [
                placed(
                    (row.contract, row.implementation), **asdict(row.counts),
                    first=[asdict(one) for one in row.first],
                )
                for row in self.rows
            ],
            "alone": [placed(place, tokens=tokens) for place, tokens in self.alone.items()],
            "digests": [placed(place, digest=f"{n:016x}") for place, n in self.digests.items()],
        }  # fmt: skip


def _sum(parts: Sequence[TokenCounts]) -> TokenCounts:
    names = [one.name for one in fields(TokenCounts) if one.name != "against"]
    total = {name: sum(getattr(one, name) for one in parts) for name in names}
    return TokenCounts(parts[-1].against, **total)


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
    """What is shown of them; nothing where none were given."""
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
                bad(n.differing),
                n.tokens, n.more, n.fewer, n.unanswered,
            )
            for row in texts.rows
            for n in (row.counts,)
        ],
        "Ids and token counts on your texts, beside the most trusted implementation",
        empty="No two implementations were compared on them.",
    )  # fmt: skip
    named, faults = texts.named(), texts.faults()
    alone = [
        f"{name} gives {plural(tokens, 'token')} on {contract}, and has nobody to be compared with."
        for (contract, name), tokens in texts.alone.items()
    ]
    more = Details("More documents that differ", [Items(named[PRINTED:])], open=len(named) <= 20)
    blocks: list[Block] = [
        *(Paragraph(reading(one, texts.given), "quiet") for one in texts.read.values()),
        table,
        Items([*alone, *named[:PRINTED], *faults]),
        *([more] if named[PRINTED:] else []),
    ]
    return [Section("Your texts", blocks, "texts")]


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
