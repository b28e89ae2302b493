"""What is found and proved of two vocabularies: ``compare.html``, ``prove.html``, and what is
printed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.compare.results import Proof
from reports.blocks import Banner, Cell, Code, Page, Paragraph, Section, Span, Table
from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.studies.compare.results import Cause, Comparison, Row, Stage

TOKENS = 12
"""Tokens of a row that are shown from one before the first difference on."""

TONES = {"same": "pass", "equal": "pass", "different": "fail"}

WORDS = {"equal": "proved equal", "different": "different", "undecided": "not decided"}


def verdict(report: Comparison) -> str:
    """One sentence."""
    many, proof = plural(report.compared, "text"), isinstance(report, Proof)
    if proof and report.verdict == "equal":
        return f"Proved equal: every text has the same tokens ({many} compared)."
    if proof and report.verdict == "undecided":
        return f"Not decided: {many} compared without a difference, but not every stage is proved."
    if not report.compared:
        return "No text was compared."
    if report.differing:
        share = report.differing / report.compared
        libraries = "; the files are proved equal, but their libraries differ"
        more = libraries * (report.proved and not report.defect)
        return f"Different tokens on {report.differing:,} of {many} ({share:.2%}){more}."
    if report.unanswered:
        many += ", but not all were answered"
    if report.proved:
        return f"Same tokens on {many}; proved equal for every text."
    left = [f"{one.name} ({one.words})" for one in report.stages if one.verdict != "equal"]
    return f"Same tokens on {many}; not proved for every text: {'; '.join(left)}."


def page(report: Comparison) -> Page:
    """The page of a comparison or a proof."""
    given = ", ".join(f"{count:,} {origin}" for origin, count in report.texts.items())
    readers = " and ".join(dict.fromkeys(report.readers))
    how = f"Texts: {given or 'none'}; encoded by {readers}; seed {report.seed}."
    lost = [
        f"{name} did not answer {plural(count, 'text')}."
        for name, count in report.unanswered.items()
    ]
    missed = [f"Not compared: {what}." for what in report.not_compared]
    ways = "change no text" if report.proved else "no text showed"
    unshown = [f"The files also differ in ways that {ways}: {one}." for one in report.not_shown]
    proof = isinstance(report, Proof)
    brand = "proof" if proof else "comparison"
    stages = Table("The stages of an encoding", "Stage | Verdict | Why",
                   [*map(_stage, report.stages)])  # fmt: skip
    blocks = [
        Banner(
            f"A: {report.a}, B: {report.b}",
            verdict(report),
            TONES.get(report.verdict, "not-examined"),
            blocks=[
                *(Paragraph(f"{note}.") for note in report.notes),
                *(Paragraph(line) for line in unshown),
                *(Paragraph(line, "bad") for line in (*lost, *missed)),
                Paragraph(f"{report.defect}." * bool(report.defect), "bad"),
                Paragraph(how, "quiet"),
            ],
            stamp="" if report.complete else "Interrupted: not all texts were compared.",
        ),
        Section("What is proved", [stages], "stages", page=not proof),
        *causes(report),
        Section(f"This {brand}", [Code(report.command, "the command")], "again", page=True),
    ]
    return Page(f"tokgate: {report.a} and {report.b}", brand, blocks, "stages")


def _stage(stage: Stage) -> tuple[str, Cell, Cell]:
    why: list[str | Span] = [stage.words]
    if stage.shown:
        why += ["; the libraries give other tokens for ", Span(stage.shown, "code")]
    elif stage.verdict == "different":
        why += ["; no text was found whose tokens differ because of it"]
    tone = {"equal": "good", "different": "bad"}.get(stage.verdict, "quiet")
    return stage.name, Cell(WORDS[stage.verdict], tone), Cell((*why,))


def causes(report: Comparison) -> Iterator[Section | Paragraph]:
    """A section for each cause, and how many more there are."""
    yield from (_cause(number, cause, report) for number, cause in enumerate(report.causes, 1))
    more = f"{plural(report.further_causes, 'further cause')} not shown."
    yield Paragraph(more * bool(report.further_causes), "quiet")


def _cause(number: int, cause: Cause, report: Comparison) -> Section:
    share = cause.texts / report.looked_into
    first = next(
        (at for at, (one, other) in enumerate(zip(cause.a.tokens, cause.b.tokens, strict=False))
         if one != other), min(len(cause.a.tokens), len(cause.b.tokens)),
    )  # fmt: skip
    rows = [(name, _row(row, first)) for name, row in (("A", cause.a), ("B", cause.b))]
    shown = "special tokens are found" if "special" in cause.mode else "plain text"
    blocks = [
        Code(cause.text, "the text", "literal"),
        Table("The tokens of both", "File | Tokens", rows),
        Paragraph(f"{share:.1%} of the differing texts that were examined; {shown}.", "quiet"),
    ]
    title = f"{number}: {cause.words}"
    return Section(title, blocks, f"cause-{number}", nav=cause.kind, level=3)


def _row(row: Row, first: int) -> Cell:
    """The tokens around the first one that differs."""
    if row.message or not row.tokens:
        return Cell(row.message or "no tokens", "bad" if row.message else "quiet")
    start = max(0, first - 1)
    some = zip(row.tokens[start : start + TOKENS], row.ids[start : start + TOKENS], strict=True)
    parts = [Span(f"{token} {number}", "code") for token, number in some]
    spaced = tuple(piece for part in parts for piece in (part, "  "))
    more = len(row.tokens) > start + TOKENS
    return Cell(("… " * (start > 0), *spaced, "…" * more))
