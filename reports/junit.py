"""``junit.xml``: a testsuite a contract, a testcase a check and implementation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from corpora.plain_text import one_line, printable, printable_line
from harness.verdict.coverage import State
from reports import texts
from reports.faults import told
from reports.matrix import VIOLATED, Cell, matrix
from reports.record import RunRecord
from reports.studies import grouped
from reports.text import clipped

MAX_TEXT = 20_000
"""Characters of one message: CI servers load the file whole."""

TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""What is counted of each suite."""

ENDS = {
    "pass": "", "shown": "",
    "fail": "failure", "stale": "failure", "expired": "failure",
    "not-examined": "error", "incomplete": "error",
}  # fmt: skip
"""How the verdict, growth and expectations end, as tags; what else is said was not settled."""


@dataclass(frozen=True)
class Case:
    """A testcase. tag: ``failure``, ``error``, ``skipped``, or nothing for one that passed."""

    suite: str
    name: str
    tag: str = ""
    message: str = ""
    kind: str = ""
    text: str = ""


def render(record: RunRecord) -> str:
    """The record as JUnit XML.

    Unexpected buckets are failures, expected ones skipped with their reason, implementations
    that failed to start errors. The suite ``gate`` holds the verdict, so that a broken bound, an
    incomplete run, or one that did not examine what was named, shows, too.
    """
    cases = list(_cases(record))
    root = ET.Element("testsuites", name="tokgate", time=f"{record.seconds or 0.0:.3f}")
    root.attrib |= _counts(cases)
    for name, of in grouped(cases, lambda case: case.suite).items():
        suite = ET.SubElement(root, "testsuite", _attributes(name=name) | _counts(of))
        for one in of:
            about = _attributes(classname=name, name=one.name, time="0")
            element = ET.SubElement(suite, "testcase", about)
            if one.tag:
                said = _attributes(message=one.message, type=one.kind)
                ET.SubElement(element, one.tag, said).text = legal(one.text) or None
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def legal(text: str) -> str:
    r"""Text that XML 1.0 admits and that is seen as it is, cut to :data:`MAX_TEXT`.

    What XML forbids (section 2.2: controls, surrogates, U+FFFE and U+FFFF), which no escape of its
    own can bring in, is among what :func:`printable` writes as ``\x00`` or ``\ud800``.
    """
    return clipped(printable(text), MAX_TEXT)


def _attributes(**told: str) -> dict[str, str]:
    """Attributes as they are read, a line each; those that say nothing are left out."""
    return {name: legal(printable_line(text)) for name, text in told.items() if text}


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    ends = {key: str(sum(one.tag == tag for one in cases)) for key, tag in TAGS.items()}
    return {"tests": str(len(cases)), **ends}


def _cases(record: RunRecord) -> Iterator[Case]:
    """The verdict, every cell of the matrix, and what is demanded besides."""
    verdict, said = record.verdict, "\n".join(record.reasons)
    yield Case("gate", "verdict", ENDS[verdict], record.reason, verdict, said)
    for cell in matrix(record).values():
        yield from _cell(record, cell)
    blamed = {
        (found.contract, name)
        for bucket in record.unexpected
        for found in bucket.findings
        for name in found.culprits
    }
    given = record.texts or {"compared": (), "read": ()}
    for row in given["compared"]:
        # Differences are findings, too, which say what is behind them.
        contract, name = row["contract"], row["implementation"]
        tag = "failure" if row["differing"] and (contract, name) in blamed else ""
        named = "\n".join(f"{one['place']}: from token {one['token']} on" for one in row["first"])
        yield Case("texts", f"{name} on {contract}", tag, texts.told(row), "texts", named)
    if faults := texts.faults(given):
        yield Case("texts", "read", "error", faults[0], "unreadable", "\n".join(faults))
    for judged in record.growth_judged:
        where = f"{judged.family}, {judged.vocabulary}, in {judged.measure}"
        message = f"{judged.outcome}: bound {judged.bound}: {judged.line or judged.reason}"
        name, tag = f"{judged.implementation} on {where}", ENDS.get(judged.outcome, "skipped")
        yield Case("scaling", name, tag, message, "scaling")
    for entry in record.expectations:
        tag, said = ENDS.get(entry.status, "skipped"), f"{entry.status}: {entry.reason}"
        yield Case("expectations", entry.bucket, tag, said, entry.status)
    for gone in record.withdrawn:
        yield Case("withdrawn", f"{gone.implementation} on {gone.vocabulary}", "skipped", gone.line)
    opened = {contract.vocabulary for contract in record.contracts}
    for one in record.failures:
        if one.vocabulary not in opened:
            name, said = f"{one.implementation} on {one.vocabulary}", one_line(one.message)
            yield Case("start", name, "error", f"failed to start: {said}", "start", one.message)


def _cell(record: RunRecord, cell: Cell) -> Iterator[Case]:
    """One check of one implementation; nothing of who was never to take part."""
    suite, title = cell.contract.id, f"{cell.check}: {cell.implementation}"
    why, status = cell.reason, cell.status
    if status == VIOLATED:
        bad = [one for one in record.unexpected if one.name in cell.buckets]
        first = bad[0].headline if bad else f"{cell.violations} cases at fault"
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        lines = [
            f"{line}\n"
            for one in bad
            for example in [next(f for f in one.findings if f.contract == suite)]
            for line in ("", one.headline, f"bucket: {one.name}", *told(one, example))
        ]
        yield Case(suite, title, "failure", f"{first}{more}", cell.check, "".join(lines))
    elif status == State.FAILED.value:
        yield Case(suite, title, "error", f"failed to start: {one_line(why)}", "start", why)
    elif status == State.JUDGED.value:
        yield Case(suite, title)
    elif status != State.DECLINED.value or cell.implementation in cell.contract.excluded:
        yield Case(suite, title, "skipped", f"{status}: {why}")
