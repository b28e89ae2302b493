"""What was proved of two vocabularies: ``prove.html``, and what is printed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.blocks import Banner, Cell, Code, Page, Paragraph, Section, Span, Table
from reports.blocks.units import plural
from reports.compare import causes

if TYPE_CHECKING:
    from harness.studies.prove.results import Proof, Stage

TONES = {"equal": "pass", "different": "fail", "undecided": "not-examined"}

WORDS = {"equal": "proved equal", "different": "different", "undecided": "not decided"}


def verdict(report: Proof) -> str:
    """One sentence."""
    if report.verdict == "equal":
        return f"Proved equal: both files give every text the same tokens ({_tried(report)})."
    if report.verdict == "undecided":
        return f"Not decided: {_tried(report)}, but not every stage is proved equal."
    if report.proved and not report.defect:
        return "The files are proved equal, but their libraries do not treat every text alike."
    return "Different: see the texts below."


def _tried(report: Proof) -> str:
    return f"{plural(report.compared, 'text')} compared without a difference"


def page(report: Proof) -> Page:
    """``prove.html``."""
    table = Table("The stages of an encoding", "Stage | Verdict | Why", [*map(_row, report.stages)])
    readers = " and ".join(dict.fromkeys(report.readers))
    lost = [f"{name} did not answer {plural(count, 'text')}." for name, count in
            report.unanswered.items()]  # fmt: skip
    blocks = [
        Banner(
            f"A: {report.a}, B: {report.b}",
            verdict(report),
            TONES[report.verdict],
            blocks=[
                *(Paragraph(f"{note}.") for note in report.notes),
                *(Paragraph(line, "bad") for line in lost),
                Paragraph(f"{report.defect}." * bool(report.defect), "bad"),
                Paragraph(f"Texts were encoded by {readers}; seed {report.seed}.", "quiet"),
            ],
            stamp="" if report.complete else "Interrupted: not all texts were compared.",
        ),
        Section("What is proved", [table], "stages"),
        *causes(report),
        Section("This proof", [Code(report.command, "the command")], "again", page=True),
    ]
    return Page(f"tokgate: {report.a} and {report.b}", "proof", blocks, "stages")


def _row(stage: Stage) -> tuple[str, Cell, Cell]:
    why: list[str | Span] = [stage.words]
    if stage.shown:
        why += ["; the libraries give other tokens for ", Span(stage.shown, "code")]
    elif stage.verdict == "different":
        why += ["; no text was found whose tokens differ because of it"]
    tone = {"equal": "good", "different": "bad"}.get(stage.verdict, "quiet")
    return stage.name, Cell(WORDS[stage.verdict], tone), Cell((*why,))
