"""``junit.xml``: a testsuite a contract, a testcase a check and implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from corpora.plain_text import one_line, printable, printable_line
from reports.faults import told
from reports.matrix import Status, matrix
from reports.record import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.matrix import Cell
    from reports.record import RunRecord

MAX_TEXT = 20_000
"""Characters of one message: CI servers load the file whole."""

ENDS = {
    "pass": "", "shown": "",
    "fail": "failure", "stale": "failure", "expired": "failure",
}  # fmt: skip
"""How growth and expectations end, as tags; whatever else is said of them was not settled."""

GATE = {Verdict.PASS: "", Verdict.FAIL: "failure"}
"""How the verdict ends; whatever else it is, is an error."""


@dataclass(frozen=True, slots=True)
class Case:
    """A testcase. tag: ``failure``, ``error``, ``skipped``, or nothing for one that passed."""

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
    kind, said = record.verdict.value, "\n".join(record.reasons)
    gate = Case("verdict", GATE.get(record.verdict, "error"), record.reason, kind, said)
    suites = {"gate": [gate], **{one.id: list[Case]() for one in record.contracts}}
    for cell in matrix(record).values():
        suites[cell.contract] += _cell(record, cell)
    for name, case in _others(record):
        suites.setdefault(name, []).append(case)
    root = ET.Element("testsuites", name="tokgate")
    for name, cases in suites.items():
        suite = ET.SubElement(root, "testsuite", name=legal_line(name))
        _count(suite, cases)
        for one in cases:
            _add(suite, one)
    _count(root, [case for cases in suites.values() for case in cases])
    root.set("time", f"{record.seconds or 0.0:.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def legal(text: str) -> str:
    r"""Text that XML 1.0 admits and that is seen as it is, cut to :data:`MAX_TEXT`.

    What XML forbids (section 2.2: controls, surrogates, U+FFFE and U+FFFF), which no escape of its
    own can bring in, is among what :func:`printable` writes as ``\x00`` or ``\ud800``.
    """
    shown = printable(text)
    return shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…"


def legal_line(text: str) -> str:
    """The same as one line, as an attribute is read."""
    return legal(printable_line(text))


def _add(suite: ET.Element, case: Case) -> None:
    name = legal_line(case.name)
    element = ET.SubElement(suite, "testcase", classname=suite.get("name", ""), name=name, time="0")
    if case.tag:
        outcome = ET.SubElement(element, case.tag, message=legal_line(case.message))
        if case.kind:
            outcome.set("type", legal_line(case.kind))
        if case.text:
            outcome.text = legal(case.text)


def _count(element: ET.Element, cases: Sequence[Case]) -> None:
    element.set("tests", str(len(cases)))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(key, str(sum(one.tag == tag for one in cases)))


def _cell(record: RunRecord, cell: Cell) -> Iterator[Case]:
    """One check of one implementation; nothing of who was never to take part."""
    title, why, contract = f"{cell.check}: {cell.implementation}", cell.reason, cell.contract
    excluded = record.coverage.contracts[contract].excluded
    match cell.status:
        case Status.UNSUPPORTED if cell.implementation not in excluded:
            return
        case Status.VIOLATED:
            bad = [one for one in record.unexpected if one.name in cell.buckets]
            first = bad[0].headline if bad else f"{cell.violations} cases at fault"
            more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
            lines = [
                f"{line}\n"
                for one in bad
                for example in [next(f for f in one.findings if f.contract == contract)]
                for line in ("", one.headline, f"bucket: {one.name}", *told(one, example))
            ]
            yield Case(title, "failure", f"{first}{more}", cell.check, "".join(lines))
        case Status.FAILED:
            yield Case(title, "error", f"failed to start: {one_line(why)}", "start", why)
        case Status.OK:
            yield Case(title)
        case status:
            yield Case(title, "skipped", f"{status.value}: {why}")


def _others(record: RunRecord) -> Iterator[tuple[str, Case]]:
    """What is demanded besides, each with the suite that it belongs to."""
    blamed = {
        (found.contract, name)
        for bucket in record.unexpected
        for found in bucket.findings
        for name in found.culprits
    }
    for row in record.texts.rows:
        # Differences are findings, too, which say what is behind them.
        failed = row.counts.differing and (row.contract, row.implementation) in blamed
        named = "\n".join(f"{one.place}: from token {one.token} on" for one in row.first)
        name = f"{row.implementation} on {row.contract}"
        yield "texts", Case(name, "failure" if failed else "", row.line, "texts", named)
    if faults := record.texts.faults():
        yield "texts", Case("read", "error", faults[0], "unreadable", "\n".join(faults))
    for judged in record.growth_judged:
        where = f"{judged.family}, {judged.vocabulary}, in {judged.measure}"
        tag, name = ENDS.get(judged.outcome, "skipped"), f"{judged.implementation} on {where}"
        message = f"{judged.outcome}: bound {judged.bound}: {judged.line or judged.reason}"
        yield "scaling", Case(name, tag, message, "scaling")
    for entry in record.expectations:
        tag, said = ENDS.get(entry.status, "skipped"), f"{entry.status}: {entry.reason}"
        yield "expectations", Case(entry.bucket, tag, said, entry.status)
    for gone in record.withdrawn:
        yield "withdrawn", Case(f"{gone.implementation} on {gone.vocabulary}", "skipped", gone.line)
    opened = {contract.vocabulary for contract in record.contracts}
    for one in record.failures:
        if one.vocabulary not in opened:
            name, said = f"{one.implementation} on {one.vocabulary}", one_line(one.message)
            yield "start", Case(name, "error", f"failed to start: {said}", "start", one.message)
