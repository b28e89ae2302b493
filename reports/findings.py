"""The findings of a run: an index that leads to cards, each with how to see its finding again."""

from __future__ import annotations

import base64
import contextlib
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from corpora.vocabularies.sources import PACKAGED
from harness.events import Found, kind_in
from harness.events import Group as Outcome
from harness.ledger.trends import Seen
from reports import issue
from reports.blocks import (
    Block,
    Cell,
    Cells,
    Code,
    Column,
    Details,
    Filters,
    Group,
    Heading,
    Inline,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Tokens,
)
from reports.blocks.html import link
from reports.blocks.units import plural
from reports.proposals import entries
from reports.record import Bucket, RunRecord
from reports.text import clipped, code_points, literal, tokens_near, visible
from reports.trends import history_of
from reports.words import SEVERITIES, severity, smallest, spoken

MAX_LINES = 1_000
"""Buckets in the index; those beyond are counted."""
OPEN_CARDS = 6
"""Up to so many buckets all cards start open; beyond, the index leads to them."""
POINTS = 48
"""Characters of an input that are spelled out."""
MAX_LOG = 4_000
"""Characters of a message or log: the end of a traceback is what counts."""
MAX_STAGE = 400
"""Characters of one stage of an explanation."""
MAX_ENTRY = 4_000
"""Characters of an entry for the expectations file that is shown; others are not."""
SHORT = 24
"""Characters of an input that a headline has room for."""
MAX_SCRIPT = 20_000
"""Characters of a reproducer in the text of an issue; trackers take three times as many."""
MAX_MORE = 20
"""Further examples of one bucket that are listed."""
PREVIEW = 90
"""Characters of an input that are seen of a folded card."""

CHOICES = {
    "state": "State",
    "severity": "Severity",
    "check": "Check",
    "who": "Implementation",
    "vocabulary": "Vocabulary",
}
"""What cards can be chosen by."""

BADGES = {
    "unexpected": "✗ unexpected",
    "expected": "≈ expected",
    "expired": "✗ expectation expired",
}


def section(record: RunRecord, folder: Path | None, known: Mapping[str, Seen]) -> Section:
    """All findings. folder, known: as :func:`reports.html.render` has them."""
    buckets, carded = record.buckets, len(record.cards)
    if not buckets:
        cut = "" if record.complete else ", until the run was interrupted"
        judged = f"No check was violated in {plural(record.cases, 'case')}{cut}."
        nothing = Paragraph(judged if record.cases else "No case was judged.", "empty")
        return Section("Findings", [nothing], "findings")
    cards = [
        card(
            one, record, folder, len(buckets) <= OPEN_CARDS,
            history_of((f.id for f in one.findings), known),
        )
        for one in buckets[:carded]
    ]  # fmt: skip
    cut = f"The worst {carded} are shown in full; summary.json has all."
    values = [
        (key, label, sorted({one for each in cards for one in each.data[key].split("\n")}))
        for key, label in CHOICES.items()
    ]
    filters = Filters([one for one in values if len(one[2]) > 1])
    blocks = [
        _index(record),
        Paragraph(cut if len(buckets) > carded else None, "quiet"),
        Group(cards, page=True),
    ]
    return Section("Findings", blocks, "findings", beside=[filters] * (len(buckets) > 1))


def _index(record: RunRecord) -> Table:
    rows = []
    for number, one in enumerate(record.buckets, start=1):
        example, word = one.example, severity(one.example)
        reason = (Span(one.reason, "quiet block-line", one.link or ""), " ") if one.reason else None
        what = Span(one.headline, href=record.cards.get(one.name, ""))
        cells: Cells = [
            number,
            (what, f"{one.also} ", reason, Span(one.name, "code quiet")),
            Cell(word, sort=SEVERITIES.index(word)),
            Span(smallest(example), "literal"),
            example.contract, badge(one), one.count,
        ]  # fmt: skip
        rows.append(Row(cells, of=example.id))
    return Table(
        "Index of findings",
        "No.: | What | Severity | Smallest input | Where | State | Seen:", rows,
        "Findings by cause, unexpected first", "index", header=1, most=MAX_LINES,
    )  # fmt: skip


def badge(bucket: Bucket) -> Span:
    """The state of a bucket, seen at a glance."""
    return Span(BADGES[bucket.state], f"badge {bucket.state}")


def card(
    bucket: Bucket,
    record: RunRecord,
    folder: Path | None,
    unfolded: bool = True,
    history: str = "",
    again: str | None = None,
    script: str | None = None,
) -> Details:
    """A bucket as a card, whose anchor is the id of its clearest finding: the same in every report.

    folder: of the run, which commands name. history: a line that says since when it is known.
    again: the command that asks again, where it is not to replay the run's finding. script: the
    text of its reproducer, where that is not in the folder.
    """
    finding = bucket.example
    name, data, word = finding.id, finding.input, severity(finding)
    shown, size = literal(data), plural(len(data), "byte")
    permanent = Span((Span("Permanent link to finding ", "sr"), name), "permalink", f"#{name}")
    if not finding.minimal:
        size = f"{size}, {finding.unminimised or 'not fully minimised'}"
    elif finding.original_bytes > len(data):
        size = f"{size}, minimised from {finding.original_bytes:,}"
    why = "An expectation covered this, but is past its date" if bucket.expired else "Expected"
    address = link(bucket.link)
    reason = (f"{why}: {bucket.reason} ", Span(address, href=address))
    blocks = [
        Paragraph((permanent, Span(f" {history}", "quiet")), "permanent"),
        Paragraph(None if bucket.reason is None else reason, "why"),
        Paragraph(finding.difference, "difference"),
        Heading(("Input ", Span(size, "quiet")), 4),
        Code(str(shown), "" if shown.missing else f"the input of finding {name}", "literal"),
        *([Tokens(list(code_points(data, POINTS)), "Code points", "points")] if data else []),
        Heading("Outcomes", 4),
        Group([_outcome(one, finding, record.versions) for one in finding.partition], "groups"),
        *_stages(finding),
        Heading("Reproduce", 4),
        *_reproduced(bucket, folder, record, again),
        *_report(finding, record, script_of(finding, folder) if script is None else script),
        *_further(bucket, record),
    ]
    brief = len(shown.code) <= SHORT and not shown.missing
    return Details(
        (spoken(finding), (": ", Span(shown.code, "literal")) if brief else None),
        blocks,
        f"card {bucket.state}",
        unfolded,
        name,
        [
            badge(bucket), Span(word, "severity"), finding.check, finding.contract,
            f"seen {bucket.count:,}×",
        ],
        Span(clipped(shown.code, PREVIEW), "literal"),
        {
            "state": bucket.state,
            "severity": word,
            "check": finding.check,
            "who": "\n".join(finding.culprits),
            "vocabulary": "\n".join(dict.fromkeys(one.vocabulary for one in bucket.findings)),
        },
    )  # fmt: skip


def _outcome(group: Outcome, finding: Found, versions: Mapping[str, str]) -> Group:
    """One class of the partition: who, and what they gave around the first difference."""
    encoded, total = group.kind == "encoded", max(group.total, len(group.ids))
    what: list[Block] = [Tokens(tokens_near(group, finding.first_difference, total))] * encoded
    if group.decoded is not None:
        text = visible(base64.b64decode(group.decoded), 200)
        verb = "renders " if finding.check == "chat" else "decodes to "
        what.append(Paragraph((Span(verb, "quiet"), text), "decoded"))
    if group.message:
        cut = "…" if len(group.message) > MAX_LOG else ""
        told = f"Message of {', '.join(group.implementations)}"
        what.append(Code(cut + group.message[-MAX_LOG:], told, "log"))
    others = len(finding.partition) > 1 and not finding.undecided
    trusted = "trusted · " if others and group is finding.partition[0] else ""
    kind: Inline = plural(total, "token") if encoded else Span(group.kind, "em kind")
    who = [
        (Span(name, "strong"), Span(f" {versions.get(name, '')}", "quiet"), " ")
        for name in group.implementations
    ]
    who_gave = Paragraph((*who, Span((trusted, kind), "quiet")), "who")
    return Group([who_gave, Group(what, "what")], "group")


def _stages(finding: Found) -> Iterator[Block]:
    """Where two pipelines part: both, stage by stage."""
    told = finding.explanation
    if told is None:
        return
    who = told["left"], told["right"]
    models = [
        f"{name} as {model}"
        for name, model in zip(who, (told["left_model"], told["right_model"]), strict=True)
        if name != model
    ]
    rows, state = [], "same"
    for stage in told["stages"]:
        name: Inline = stage["name"].replace("-", " ")
        state = "same" if state == "same" else "after"
        if stage["name"] == told["parted"]:
            state, name = "parted", (name, Span(" they part here", "em"))
        left, right = (
            Span(clipped(one or "—", MAX_STAGE), "literal")
            for one in (stage["left"], stage["right"])
        )
        alike = state == "same" and left == right
        rows.append(Row([name, Cell(left, span=2)] if alike else [name, left, right], state))
    yield Heading(("Stage by stage ", Span("; ".join(models), "quiet")), 4)
    title = f"Stages of {who[0]} and {who[1]} in finding {finding.id}"
    yield Table(title, [Column("stage"), *map(Column, who)], rows, style="stages")


def _reproduced(
    bucket: Bucket, folder: Path | None, record: RunRecord, again: str | None
) -> Iterator[Block]:
    """The commands that show it again, and where it is from.

    Where another command is given, the script lacks the vocabulary that it has in a run's folder.
    """
    finding = bucket.example
    if path := finding.reproducer:
        if again is None:
            script = f"python {shlex.quote(path if folder is None else str(folder / path))}"
            yield Code(script, f"the command that reproduces {finding.id}")
        yield Paragraph((_script(finding), " calls each library as its users do."), "quiet")
    if again is None:
        again = replay(finding, record, folder)
    if again:
        yield Code(again, f"the command that replays {finding.id}")
    place = f"{finding.place}, " if finding.place else ""
    told = f"{finding.generator}, seed {finding.seed}, case {finding.index:,}"
    name = Span(bucket.name, "code")
    yield Paragraph((f"From {place}{told} · finding {finding.id} · bucket ", name), "quiet")


def _report(finding: Found, record: RunRecord, script: str) -> Iterator[Block]:
    """Whom to tell, and the text for it."""
    yield Heading("Report it", 4)
    trackers = [(name, issue.tracker(name)) for name in finding.culprits]
    places = [(Span(name, href=address), " ") for name, address in trackers if address]
    yield Paragraph(("To the maintainers of ", *places) if places else None, "quiet")
    text = issue.render(finding, record, script)
    yield Code(text, f"the text of an issue about finding {finding.id}", "issue")


def script_of(finding: Found, folder: Path | None) -> str:
    """The text of its reproducer, where the folder of the run has one that can be read."""
    with contextlib.suppress(OSError, ValueError):
        if folder is not None and finding.reproducer:
            return (folder / finding.reproducer).read_text(encoding="utf-8")[:MAX_SCRIPT]
    return ""


def _script(finding: Found) -> Inline:
    """A link to the script, relative to the report; nothing where none was saved."""
    path = finding.reproducer
    return path and Span(path, href=quote(path))


def replay(finding: Found, record: RunRecord, folder: Path | None) -> str:
    """The command that asks again; what is not registered here needs the reader's trust.

    All who took part in the run take part again, whether or not they are in this finding.
    """
    sources = [one.source for one in record.vocabularies if one.id == finding.vocabulary]
    # Fetched from where its user chose (:mod:`harness.engine.trust`).
    foreign = any(source.startswith(("hf:", *PACKAGED)) for source in sources)
    foreign = foreign or any(":" in spec for spec in record.specs.values())
    where = ["--run", str(folder)] if folder is not None else []
    return shlex.join(["tokgate", "replay", finding.id, *where, *["--trust"] * foreign])


def _further(bucket: Bucket, record: RunRecord) -> Iterator[Block]:
    """What is asked for more rarely: how to expect it, and the clearest input of each variant."""
    if expected := expectation(bucket, record):
        code = Code(expected, f"the expectation of {bucket.example.id}", "expect")
        yield Details("Is this intended? The entry for the expectations file", [code])
    more = [(one, found) for one in bucket.variants for found in one.findings]
    more.sort(key=lambda pair: pair[1] is not pair[0].example)  # an example of each variant first
    if len(more) < 2:
        return
    rows = [
        (
            kind_in(one.name), visible(found.input, 120),
            (f"{found.contract} · {found.id} ", _script(found)),
            badge(one), one.count if found is one.example else None,
        )
        for one, found in more
    ]  # fmt: skip
    title = plural(len(more), "input")
    if len(bucket.variants) > 1:
        title = f"{plural(len(bucket.variants), 'variant')} of this finding, {title}"
    label, columns = f"Inputs of {bucket.example.id}", "Kind | Input | Where | State | Seen:"
    yield Details(title, [Table(label, columns, rows, most=MAX_MORE)])


def expectation(bucket: Bucket, record: RunRecord) -> str:
    """An entry for each bucket of a cause that no expectation covers, by vocabulary."""
    uncovered = [f for f in bucket.findings if f.culprits]
    text = "\n".join(one.text for one in entries(uncovered, [], record.versions))
    return text if len(text) <= MAX_ENTRY else ""
