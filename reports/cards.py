"""What a page shows of one bucket: its clearest example, with how to see it again."""

from __future__ import annotations

import base64
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from corpora.vocabularies.sources import PACKAGED
from reports.blocks import (
    Cell,
    Code,
    Details,
    Group,
    Heading,
    Items,
    Paragraph,
    Row,
    Span,
    Table,
    Token,
    Tokens,
    numbers,
)
from reports.blocks.html import link
from reports.blocks.units import plural
from reports.proposing import entries
from reports.severity import severity, share
from reports.text import code_points, hexdump, literal, surface, visible
from reports.words import spoken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.events import Found
    from harness.events import Group as Outcome
    from reports.blocks import Block, Inline
    from reports.record import Bucket, RunRecord

MAX_LOG = 4_000
"""Characters of a message or log: the end of a traceback is what counts."""
MAX_STAGE = 400
"""Characters of one stage of an explanation."""
MAX_ENTRY = 4_000
"""Characters of an entry for the expectations file that is shown; others are not."""
MAX_TOKEN = 80
"""Characters of one token."""
MAX_CUTS = 5
MAX_CUT_SIGNS = 24
"""Tokens, and characters of them, that a headline has room for, and of an input."""
MAX_MORE = 20
"""Further examples of one bucket that are listed."""
PREVIEW = 90
"""Characters of an input that are seen of a folded card."""

BADGES = {
    "unexpected": "✗ unexpected",
    "expected": "≈ expected",
    "expired": "✗ expectation expired",
}


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


def badge(state: str) -> Span:
    """The state of a bucket, seen at a glance."""
    return Span(BADGES[state], f"badge {state}")


def card(
    bucket: Bucket,
    budget: Budget,
    record: RunRecord,
    folder: Path | None,
    *,
    unfolded: bool,
    history: str = "",
    again: str | None = None,
) -> Details:
    """A bucket as a card, whose anchor is the id of its clearest finding: the same in every report.

    folder: of the run, which commands name. history: a line that says since when it is known.
    again: the command that asks again, where it is not to replay the run's finding.
    """
    finding = bucket.example
    again = replay(finding, record, folder) if again is None else again
    data = base64.b64decode(finding.input_b64)
    shown = literal(data)
    word = severity(finding)
    vocabularies = dict.fromkeys(one.vocabulary for one in bucket.findings)
    return Details(
        _title(bucket, record),
        [
            Paragraph(
                (
                    Span((Span("Permanent link to finding ", "sr"), finding.id), "permalink",
                         f"#{finding.id}"),
                    Span(f" {history}", "quiet"),
                ),
                "permanent",
            ),
            *_expected(bucket),
            *([Paragraph(finding.difference, "difference")] if finding.difference else []),
            Heading(("Input ", Span(_size(finding, len(data)), "quiet")), 4),
            Group([Paragraph(visible(data))], "block")
            if shown.missing
            else Code(
                shown.code, f"the input of finding {finding.id} as a Python literal", "literal"
            ),
            *_spelled(data, budget),
            Heading("Outcomes", 4),
            Group([_outcome(one, finding, budget) for one in finding.partition], "groups"),
            *_stages(finding),
            Heading("Reproduce", 4),
            *_reproduced(bucket, folder, again),
            *_further(bucket, record),
        ],
        style=f"card {bucket.state}",
        open=unfolded,
        anchor=finding.id,
        meta=[
            badge(bucket.state), Span(word, "severity"), finding.check, finding.contract,
            f"seen {bucket.count:,}×",
        ],
        preview=Span(shown.code[:PREVIEW] + "…" * (len(shown.code) > PREVIEW), "literal"),
        data={
            "state": bucket.state,
            "severity": word,
            "check": finding.check,
            "who": "\n".join(finding.culprits),
            "vocabulary": "\n".join(vocabularies),
        },
    )  # fmt: skip


def _title(bucket: Bucket, record: RunRecord) -> Inline:
    """What happened, on which input where it is short, and on how many inputs."""
    finding = bucket.example
    shown = literal(base64.b64decode(finding.input_b64))
    said: list[Inline] = [spoken(finding)]
    if len(shown.code) <= MAX_CUT_SIGNS and not shown.missing:
        said += [": ", Span(shown.code, "literal")]
        if found := cuts(finding):
            wrong, right = (Span(one, "literal") for one in found)
            said += [" becomes ", wrong, ", not ", right]
    rate = record.rate(bucket)
    if rate is not None:
        said.append(f", {share(rate)} of inputs")
    return tuple(said)


def cuts(finding: Found) -> tuple[str, str] | None:
    """What the input becomes, and what it should: token by token, with a bar between two.

    None where they are many, or do not differ.
    """
    blamed = set(finding.culprits)
    wrong = [g for g in finding.partition[1:] if blamed & set(g.implementations)]
    if finding.undecided or finding.check != "equivalence" or not wrong:
        return None
    shown = []
    for group in (wrong[0], finding.partition[0]):
        spelled = [base64.b64decode(one) for one in group.surfaces if one is not None]
        if group.kind != "encoded" or not 0 < group.total == len(spelled) <= MAX_CUTS:
            return None
        shown.append("|".join(map(surface, spelled)))
    few = max(map(len, shown)) <= MAX_CUT_SIGNS and shown[0] != shown[1]
    return (shown[0], shown[1]) if few else None


def _expected(bucket: Bucket) -> Iterator[Block]:
    if bucket.reason is not None:
        said = "Expected: "
        if bucket.expired:
            said = "An expectation covered this, but is past its date: "
        address = link(bucket.link or "")
        yield Paragraph((said, f"{bucket.reason} ", Span(address, href=address)), "why")


def _size(finding: Found, number: int) -> str:
    size = plural(number, "byte")
    if not finding.minimal:
        return f"{size}, {finding.unminimised or 'not fully minimised'}"
    shrunk = finding.original_bytes > number
    return f"{size}, minimised from {finding.original_bytes:,}" if shrunk else size


def _spelled(data: bytes, budget: Budget) -> Iterator[Block]:
    """The code points of an input, and its bytes."""
    points = list(code_points(data, budget.points))
    if not points:
        return
    tokens = [Token(p.glyph, [p.label, p.name], "" if p.valid else "invalid") for p in points]
    if len(data) > sum(p.bytes for p in points):
        tokens.append(Token("… more follow", state="rest"))
    yield Tokens(tokens, "Code points", "points")
    left = len(data) - budget.bytes
    more = Span(f" and {left:,} more", "quiet") if left > 0 else None
    code = Span(hexdump(data, budget.bytes), "code")
    yield Paragraph((Span("bytes ", "quiet"), code, more), "hex")


def _outcome(group: Outcome, finding: Found, budget: Budget) -> Block:
    """One class of the partition: who, and what they gave around the first difference."""
    first = finding.first_difference
    total = max(group.total, len(group.ids))
    start = max(0, (first or 0) - budget.before)
    stop = min(len(group.ids), (first or 0) + budget.after)
    encoded = group.kind == "encoded"
    reference = (
        group is finding.partition[0] and len(finding.partition) > 1 and not finding.undecided
    )
    trusted = "trusted · " if reference else ""
    kind: Inline = plural(total, "token") if encoded else Span(group.kind, "em kind")
    who: list[Inline] = [(Span(name, "strong"), " ") for name in group.implementations]
    what: list[Block] = []
    tokens = [_token(group, place, first) for place in range(start, stop)]
    if encoded or tokens:
        before, after = min(start, total), max(0, total - max(start, stop))
        if before:
            tokens.insert(0, Token(f"… {plural(before, 'token')} before", state="rest"))
        if encoded and first is not None and first >= total:
            tokens.append(Token("end", state="end first"))
        if after:
            tokens.append(Token(f"… {plural(after, 'token')} after", state="rest"))
        what.append(Tokens(tokens or [Token("no tokens", state="rest")]))
    if first is not None and len(group.ids) <= start < total:
        recorded = f"{len(group.ids):,} recorded"
        note = f"outputs part at token {first:,}, beyond the {recorded}"
        what.append(Paragraph(note, "quiet"))
    if group.decoded is not None:
        text = visible(base64.b64decode(group.decoded), 200)
        what.append(Paragraph((Span("decodes to ", "quiet"), text), "decoded"))
    if group.message:
        cut = "…" if len(group.message) > MAX_LOG else ""
        told = f"Message of {', '.join(group.implementations)}"
        what.append(Code(cut + group.message[-MAX_LOG:], told, "log"))
    who.append(Span((trusted, kind), "quiet"))
    return Group([Paragraph(tuple(who), "who"), Group(what, "what")], "group")


def _token(group: Outcome, place: int, first: int | None) -> Token:
    spelled = group.surfaces[place] if place < len(group.surfaces) else None
    text = "unknown id" if spelled is None else surface(base64.b64decode(spelled)) or "empty"
    notes = [str(group.ids[place])]
    if group.offsets is not None and place < len(group.offsets):
        notes.append("–".join(f"{edge:,}" for edge in group.offsets[place]))
    cut = "…" if len(text) > MAX_TOKEN else ""
    return Token(text[:MAX_TOKEN] + cut, notes, "first" if place == first else "")


def _stages(finding: Found) -> Iterator[Block]:
    """Where two pipelines part: both, stage by stage."""
    explained: Any = finding.explanation
    if explained is None:
        return
    left, right = explained["left"], explained["right"]
    models = [
        f"{explained[side]} as {explained[side + '_model']}"
        for side in ("left", "right")
        if explained[side] != explained[side + "_model"]
    ]
    rows = []
    state = "same"
    for stage in explained["stages"]:
        if stage["name"] == explained["parted"]:
            state = "parted"
        elif state == "parted":
            state = "after"
        name: Inline = stage["name"].replace("-", " ")
        if state == "parted":
            name = (name, Span(" they part here", "em"))
        alike = state == "same" and stage["left"] == stage["right"]
        sides = [_clipped(stage[side]) for side in (["left"] if alike else ["left", "right"])]
        rows.append(Row([name, *(Cell(one, span=2 if alike else 1) for one in sides)], state))
    yield Heading(("Stage by stage ", Span("; ".join(models), "quiet")), 4)
    yield Table(
        f"Stages of {left} and {right} in finding {finding.id}",
        ("stage", left, right), rows, style="stages",
    )  # fmt: skip


def _clipped(text: str | None) -> Span:
    text = text or "—"
    return Span(text[:MAX_STAGE] + "…" * (len(text) > MAX_STAGE), "literal")


def _reproduced(bucket: Bucket, folder: Path | None, again: str) -> Iterator[Block]:
    """The commands that show it again, and where it is from."""
    finding = bucket.example
    if finding.reproducer is not None:
        yield Code(_script(finding, folder), f"the command that reproduces {finding.id}")
        said = " calls each library as its users do."
        yield Paragraph((_repro(finding), said), "quiet")
    if again:
        yield Code(again, f"the command that replays {finding.id}")
    place = f"{finding.place}, " if finding.place else ""
    told = f"{finding.generator}, seed {finding.seed}, case {finding.index:,}"
    name = Span(bucket.name, "code")
    yield Paragraph((f"From {place}{told} · finding {finding.id} · bucket ", name), "quiet")


def _script(finding: Found, folder: Path | None) -> str:
    path = finding.reproducer or ""
    return f"python {shlex.quote(path if folder is None else str(folder / path))}"


def _repro(finding: Found) -> Inline:
    """A link to the script, relative to the report; nothing where none was saved."""
    path = finding.reproducer
    return None if path is None else Span(path, href=quote(path))


def replay(finding: Found, record: RunRecord, folder: Path | None) -> str:
    """The command that asks again; what is not registered here needs the reader's trust.

    All who took part in the run take part again, whether or not they are in this finding.
    """
    sources = [one.source for one in record.vocabularies if one.id == finding.vocabulary]
    # Fetched from where its user chose (:mod:`harness.engine.trust`).
    foreign = any(source.startswith(("hf:", *PACKAGED)) for source in sources)
    foreign = foreign or any(":" in spec for spec in record.specs.values())
    where = ["--run", str(folder)] if folder is not None else []
    return shlex.join(["tokgate", "replay", finding.id, *where, *(["--trust"] if foreign else [])])


def _further(bucket: Bucket, record: RunRecord) -> Iterator[Block]:
    """What is asked for more rarely: how to expect it, its variants, further examples."""
    finding = bucket.example
    if expected := expectation(bucket, record):
        code = Code(expected, f"the expectation of {finding.id}", "expect")
        yield Details("Is it meant to be so? An entry for the expectations file", [code])
    variants = bucket.variants if len(bucket.variants) > 1 else ()
    if variants:
        state = "expired" if bucket.expired else "unexpected"
        rows: list[list[Inline]] = [
            [
                one.kind,
                visible(base64.b64decode(one.example.input_b64), 120),
                _where(one.example),
                badge("expected" if one.reason is not None else state),
                one.count,
            ]
            for one in variants
        ]
        table = Table(
            f"Variants of finding {finding.id}",
            ("Kind", "Smallest input", "Where", "State", *numbers("Seen")),
            rows,
        )
        yield Details(f"{plural(len(variants), 'variant')} of this finding", [table])
    shown = {one.example.id for one in variants} | {finding.id}
    rest = [one for one in bucket.findings if one.id not in shown]
    if rest:
        listed: list[Inline] = [
            (visible(base64.b64decode(one.input_b64), 120), " ", _where(one))
            for one in rest[:MAX_MORE]
        ]
        if len(rest) > MAX_MORE:
            listed.append(Span(f"and {len(rest) - MAX_MORE:,} in summary.json", "quiet"))
        yield Details(plural(len(rest), "more example"), [Items(listed)])


def _where(one: Found) -> Span:
    dot = " · " if one.reproducer else None
    return Span((f"{one.contract} · {one.id}", dot, _repro(one)), "quiet")


def expectation(bucket: Bucket, record: RunRecord) -> str:
    """An entry for each bucket of a cause that no expectation covers, by vocabulary."""
    uncovered = [f for f in bucket.findings if f.culprits]
    text = "\n".join(one.text for one in entries(uncovered, [], record.versions))
    return text if len(text) <= MAX_ENTRY else ""
