"""What report.html shows of one bucket: its clearest example, ready to print."""

from __future__ import annotations

import base64
import shlex
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from corpora.plain_text import escape, shows
from corpora.vocabularies.sources import PACKAGED
from reports.proposing import entries
from reports.severity import severity, share
from reports.text import (
    CodePoint,
    Literal,
    code_points,
    hexdump,
    literal,
    surface,
)
from reports.words import heading, headline, safe_link, spoken

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.events import Found, Group
    from reports.record import Bucket, RunRecord, Variant

MAX_LOG = 4_000
"""Characters of a message or log: the end of a traceback is what counts."""
MAX_STAGE = 400
"""Characters of one stage of an explanation."""
EACH_TURN = 10
"""Buckets of one kind that get a card before the next kind has its turn."""
MAX_ENTRY = 4_000
"""Characters of an entry for the expectations file that is shown; others are not."""
MAX_CUTS = 5
MAX_CUT_SIGNS = 24
"""Tokens, and characters of them, that a headline has room for."""
MAX_MORE = 20
"""Further examples of one bucket that are listed."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of an example is shown, so that a page with hundreds stays small.

    before, after: tokens around the first difference. points: code points. bytes: hex bytes.
    """

    before: int
    after: int
    points: int
    bytes: int


ROOMY = Budget(before=10, after=24, points=48, bytes=256)
TIGHT = Budget(before=5, after=10, points=16, bytes=64)
TIGHT_FROM = 40
"""Buckets from which on :data:`TIGHT` holds: 200 cards of it are about 2 MB."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One token: its surface escaped, its id, its byte range, and whether outputs part here."""

    surface: str
    id: int
    offsets: str
    first: bool


@dataclass(frozen=True, slots=True)
class GroupView:
    """One class of the partition.

    before, after: tokens not shown on either side. ends: this output ends where others go on.
    """

    names: list[str]
    kind: str
    reference: bool
    total: int
    chips: list[Chip]
    before: int
    after: int
    ends: bool
    note: str
    message: str
    decoded: Literal | None


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage of both pipelines. state: ``same``, ``parted`` (the first that differs), ``after``.

    left, right: of the trusted one and of the other; alike for ``same``.
    """

    name: str
    state: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class ExplanationView:
    """Where two pipelines part. left, right: the implementations. note: whose stages were run."""

    left: str
    right: str
    stages: list[StageView]
    note: str


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How to see a finding again. href: relative to the report, None where nothing was saved."""

    path: str
    href: str
    command: str


@dataclass(frozen=True, slots=True)
class Example:
    """One line about a further finding of a bucket."""

    id: str
    contract: str
    input: Literal
    reproduction: Reproduction | None


@dataclass(frozen=True, slots=True)
class VariantView:
    """One kind of input on which a cause shows, by its smallest input. state: as of a card."""

    kind: str
    state: str
    count: int
    bucket: str
    example: Example


@dataclass(frozen=True, slots=True)
class Card:
    """A cause, ready to print. state: ``unexpected``, ``expected`` or ``expired``.

    cuts: the tokens of the one at fault and the right ones, where they are few and differ. anchor:
    the id of its clearest finding, and so the same in every report of the same finding.
    severity: a word. rate: the share of inputs on which it shows, as text, if it is known. expect:
    the entries of an expectations file that would cover it, nothing where it is covered. history:
    since when it is known, if a ledger says it. replay:
    the command that asks again. variants: what it shows on, where that is of several kinds.
    """

    number: int
    anchor: str
    title: str
    cuts: tuple[str, str] | None
    state: str
    severity: str
    rate: str
    expect: str
    history: str
    replay: str
    bucket: Bucket
    finding: Found
    link: str | None
    input: Literal
    input_bytes: int
    points: list[CodePoint]
    points_missing: bool
    hex: str
    hex_missing: int
    groups: list[GroupView]
    explanation: ExplanationView | None
    reproduction: Reproduction | None
    variants: list[VariantView]
    more: list[Example]
    more_hidden: int
    open: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A bucket that has no card."""

    title: str
    contract: str
    input: Literal
    count: int


@dataclass(frozen=True, slots=True)
class Kind:
    """Buckets that say the same of the same implementations, and differ in stage or input.

    buckets: how many. seen: how often, all together. rows: those without a card, at most so many
    as are listed; hidden: the rest. example: the input of the first.
    """

    heading: str
    state: str
    buckets: int
    seen: int
    example: Literal
    cards: list[Card]
    rows: list[Row]
    hidden: int


def state_of(bucket: Bucket) -> str:
    """``unexpected``, ``expected`` or ``expired``."""
    return "expired" if bucket.expired else "expected" if bucket.expected else "unexpected"


def chosen(buckets: Sequence[Bucket], most: int) -> list[Bucket]:
    """At most so many buckets, in their order: :data:`EACH_TURN` of each kind by turns."""
    if len(buckets) <= most:
        return list(buckets)
    turns: Counter[tuple[str, str]] = Counter()
    ranked = []
    for place, bucket in enumerate(buckets):
        turns[_kind(bucket)] += 1
        ranked.append((turns[_kind(bucket)] // EACH_TURN, place))
    return [buckets[place] for place in sorted(place for _, place in sorted(ranked)[:most])]


def kinds(buckets: Sequence[Bucket], cards: Sequence[Card], most_rows: int) -> list[Kind]:
    """All buckets by kind, in their order, with the cards that there are."""
    carded = {c.bucket.name: c for c in cards}
    alike: dict[tuple[str, str], list[Bucket]] = {}
    for bucket in buckets:
        alike.setdefault(_kind(bucket), []).append(bucket)
    made = []
    for (state, name), members in alike.items():
        rest = [b for b in members if b.name not in carded]
        rows = [_row(b) for b in rest[:most_rows]]
        most_rows -= len(rows)
        made.append(
            Kind(
                heading=name,
                state=state,
                buckets=len(members),
                seen=sum(b.count for b in members),
                example=literal(base64.b64decode(members[0].example.input_b64), 60),
                cards=[carded[b.name] for b in members if b.name in carded],
                rows=rows,
                hidden=len(rest) - len(rows),
            )
        )
    return made


def _kind(bucket: Bucket) -> tuple[str, str]:
    return state_of(bucket), heading(bucket.example)


def _row(bucket: Bucket) -> Row:
    shown = literal(base64.b64decode(bucket.example.input_b64), 60)
    return Row(headline(bucket), bucket.example.contract, shown, bucket.count)


def card(
    number: int,
    bucket: Bucket,
    budget: Budget,
    record: RunRecord,
    folder: Path | None,
    *,
    unfolded: bool,
    history: str = "",
) -> Card:
    """The ``number``-th bucket (from 1) as a card; folder: of the run, which commands name.

    history: a line that says since when it is known.
    """
    finding = bucket.example
    variants = bucket.variants if len(bucket.variants) > 1 else ()
    shown = {one.example.id for one in variants} | {finding.id}
    rest = [f for f in bucket.findings if f.id not in shown]
    data = base64.b64decode(finding.input_b64)
    points = list(code_points(data, budget.points))
    spelled = sum(1 if not p.valid else len(chr(int(p.label[2:], 16)).encode()) for p in points)
    seen = record.rate(bucket)
    return Card(
        number=number,
        anchor=finding.id,
        title=spoken(finding),
        cuts=_cuts(finding),
        state=state_of(bucket),
        severity=severity(bucket.example),
        rate=f"{share(seen)} of inputs" if seen is not None else "",
        expect=_expectation(bucket, record),
        history=history,
        replay=_replay(finding, record, folder),
        bucket=bucket,
        finding=finding,
        link=safe_link(bucket.link),
        input=literal(data),
        input_bytes=len(data),
        points=points,
        points_missing=spelled < len(data),
        hex=hexdump(data, budget.bytes),
        hex_missing=max(0, len(data) - budget.bytes),
        groups=[
            _group(group, finding, budget, reference=i == 0 and _has_reference(finding))
            for i, group in enumerate(finding.groups)
        ],
        explanation=_explanation(finding),
        reproduction=_reproduction(finding, folder),
        variants=[_variant(one, bucket, folder) for one in variants],
        more=[_example(f, folder) for f in rest[:MAX_MORE]],
        more_hidden=max(0, len(rest) - MAX_MORE),
        open=unfolded,
    )


def _has_reference(finding: Found) -> bool:
    """Whether the first outcome is the one that the others are held to."""
    return len(finding.partition) > 1 and not finding.undecided


def _variant(variant: Variant, bucket: Bucket, folder: Path | None) -> VariantView:
    state = "expired" if bucket.expired else "unexpected"
    return VariantView(
        kind=variant.kind,
        state="expected" if variant.reason is not None else state,
        count=variant.count,
        bucket=variant.bucket,
        example=_example(variant.example, folder),
    )


def _group(group: Group, finding: Found, budget: Budget, *, reference: bool) -> GroupView:
    first = finding.first_difference
    total = max(group.total, len(group.ids))
    start = max(0, (first or 0) - budget.before)
    stop = min(len(group.ids), (first or 0) + budget.after)
    note = ""
    if first is not None and len(group.ids) <= start < total:
        note = f"outputs part at token {first:,}, beyond the {len(group.ids):,} recorded"
    return GroupView(
        names=group.implementations,
        kind=group.kind,
        reference=reference,
        total=total,
        chips=[_chip(group, i, first) for i in range(start, stop)],
        before=min(start, total),
        after=max(0, total - max(start, stop)),
        ends=group.kind == "encoded" and first is not None and first >= total,
        note=note,
        message=group.message if len(group.message) <= MAX_LOG else f"…{group.message[-MAX_LOG:]}",
        decoded=None if group.decoded is None else literal(base64.b64decode(group.decoded), 200),
    )


def _chip(group: Group, index: int, first: int | None) -> Chip:
    spelled = group.surfaces[index] if index < len(group.surfaces) else None
    offsets = ""
    if group.offsets is not None and index < len(group.offsets):
        offsets = "–".join(f"{edge:,}" for edge in group.offsets[index])
    text = "unknown id" if spelled is None else surface(base64.b64decode(spelled)) or "empty"
    if len(text) > 80:
        text = f"{text[:80]}…"
    return Chip(text, group.ids[index], offsets, index == first)


def _explanation(finding: Found) -> ExplanationView | None:
    explained: Any = finding.explanation
    if explained is None:
        return None
    stages: list[StageView] = []
    state = "same"
    for stage in explained["stages"]:
        if stage["name"] == explained["parted"]:
            state = "parted"
        elif state == "parted":
            state = "after"
        alike = stage["left"] == stage["right"]
        shown = "same" if alike and state != "same" else state
        left, right = (_clipped(stage[side]) for side in ("left", "right"))
        stages.append(StageView(stage["name"].replace("-", " "), shown, left, right))
    models = [
        f"{explained[side]} as {explained[side + '_model']}"
        for side in ("left", "right")
        if explained[side] != explained[side + "_model"]
    ]
    return ExplanationView(explained["left"], explained["right"], stages, "; ".join(models))


def _clipped(text: str) -> str:
    more = "…" if len(text) > MAX_STAGE else ""
    return "".join(c if shows(c) else escape(c) for c in text[:MAX_STAGE]) + more


def _reproduction(finding: Found, folder: Path | None) -> Reproduction | None:
    path = finding.reproducer
    if path is None:
        return None
    where = path if folder is None else str(folder / path)
    return Reproduction(path, quote(path), f"python {shlex.quote(where)}")


def _example(finding: Found, folder: Path | None) -> Example:
    data = base64.b64decode(finding.input_b64)
    shown = _reproduction(finding, folder)
    return Example(finding.id, finding.contract, literal(data, 120), shown)


def _replay(finding: Found, record: RunRecord, folder: Path | None) -> str:
    """The command that asks again; what is not registered here needs the reader's trust.

    All who took part in the run take part again, whether or not they are in this finding.
    """
    specs = record.started.specs.values() if record.started else ()
    sources = [one.source for one in record.vocabularies if one.id == finding.vocabulary]
    foreign = any(":" in spec for spec in specs) or any(map(fetched, sources))
    where = ["--run", str(folder)] if folder is not None else []
    return shlex.join(["tokgate", "replay", finding.id, *where, *(["--trust"] if foreign else [])])


def fetched(source: str) -> bool:
    """Whether a vocabulary is fetched from where its user chose (:mod:`harness.engine.trust`)."""
    return source.startswith(("hf:", *PACKAGED))


def _cuts(finding: Found) -> tuple[str, str] | None:
    """What the input becomes, and what it should: token by token, with a bar between two."""
    blamed = set(finding.culprits)
    wrong = [g for g in finding.groups[1:] if blamed & set(g.implementations)]
    if finding.undecided or finding.check != "equivalence" or not wrong:
        return None
    shown = []
    for group in (wrong[0], finding.groups[0]):
        spelled = [base64.b64decode(one) for one in group.surfaces if one is not None]
        if group.kind != "encoded" or not 0 < group.total <= MAX_CUTS:
            return None
        if len(spelled) != group.total:
            return None
        shown.append("|".join(surface(one) for one in spelled))
    few = max(map(len, shown)) <= MAX_CUT_SIGNS and shown[0] != shown[1]
    return (shown[0], shown[1]) if few else None


def _expectation(bucket: Bucket, record: RunRecord) -> str:
    """An entry for each bucket of a cause that no expectation covers, by vocabulary."""
    versions = record.started.versions if record.started else {}
    uncovered = [f for f in bucket.findings if f.culprits]
    text = "\n".join(one.text for one in entries(uncovered, [], versions))
    return text if len(text) <= MAX_ENTRY else ""
