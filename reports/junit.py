"""``junit.xml``: a testsuite a contract, a testcase a check and implementation."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from corpora.plain_text import one_line, printable, printable_line
from reports.cells import Cell, Status
from reports.record import FAILING_EXPECTATIONS, Verdict
from reports.text import literal
from reports.words import also, headline, reason

if TYPE_CHECKING:
    from harness.events import ContractOpened
    from reports.record import Bucket, RunRecord

MAX_TEXT = 20_000
"""Characters of one message: CI servers load the file whole."""


def render(record: RunRecord) -> str:
    """The record as JUnit XML.

    Unexpected buckets are failures, expected ones skipped with their reason, implementations
    that failed to start errors. The suite ``gate`` holds the verdict, so that a broken bound, an
    incomplete run, or one that did not examine what was named, shows, too.
    """
    suites = [_gate(record), *(_contract(record, c) for c in record.contracts)]
    suites += [
        s
        for s in (
            _texts(record),
            _scaling(record),
            _expectations(record),
            _withdrawn(record),
            _unplaced(record),
        )
        if len(s)
    ]
    root = ET.Element("testsuites", name="tokgate")
    for suite in suites:
        _count(suite)
        root.append(suite)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
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


def _case(suite: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(
        suite, "testcase", classname=suite.get("name", ""), name=legal_line(name), time="0"
    )


def _tell(case: ET.Element, tag: str, message: str, kind: str = "", text: str = "") -> None:
    outcome = ET.SubElement(case, tag, message=legal_line(message))
    if kind:
        outcome.set("type", legal_line(kind))
    if text:
        outcome.text = legal(text)


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(len(suite.findall(f"testcase/{tag}"))))


def _gate(record: RunRecord) -> ET.Element:
    suite = ET.Element("testsuite", name="gate")
    case = _case(suite, "verdict")
    reasons = "\n".join(record.finished.reasons) if record.finished else ""
    if record.verdict is Verdict.INCOMPLETE:
        _tell(case, "error", reason(record), "incomplete", reasons)
    elif record.verdict is Verdict.NOT_EXAMINED:
        _tell(case, "error", reason(record), "not-examined", reasons)
    elif record.verdict is Verdict.FAIL:
        _tell(case, "failure", reason(record), "gate", reasons)
    return suite


def _contract(record: RunRecord, contract: ContractOpened) -> ET.Element:
    suite = ET.Element("testsuite", name=legal_line(contract.id))
    by_name = {bucket.name: bucket for bucket in record.buckets}
    for name in record.implementations:
        for check in record.checks:
            cell = record.matrix[name, contract.id, check]
            if cell.status is Status.UNSUPPORTED and name not in contract.excluded:
                continue
            case = _case(suite, f"{check}: {name}")
            _judge(case, cell, [by_name[b] for b in cell.buckets], contract)
    return suite


def _judge(case: ET.Element, cell: Cell, buckets: list[Bucket], contract: ContractOpened) -> None:
    if cell.status is Status.VIOLATED:
        bad = [b for b in buckets if not b.expected]
        first = headline(bad[0]) if bad else f"{cell.violations} cases at fault"
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        text = "\n\n".join(_describe(b, contract.id) for b in bad)
        _tell(case, "failure", f"{first}{more}", cell.check, text)
    elif cell.status is Status.FAILED:
        _tell(case, "error", f"failed to start: {one_line(cell.reason)}", "start", cell.reason)
    elif cell.status is Status.EXPECTED:
        _tell(case, "skipped", f"expected: {cell.reason}")
    elif cell.status is not Status.OK:
        _tell(case, "skipped", f"{cell.status.value}: {cell.reason}")


def _describe(bucket: Bucket, contract: str) -> str:
    here = [f for f in bucket.findings if f.contract == contract] or [bucket.example]
    example = here[0]
    shown = literal(base64.b64decode(example.input_b64), limit=200)
    lines = [
        f"{printable_line(headline(bucket))}, seen {bucket.count} times{also(bucket)}",
        printable_line(f"bucket: {bucket.name}"),
        f"input: {shown.code}" + (f" and {shown.missing} more bytes" if shown.missing else ""),
    ]
    if example.place:
        lines.append(printable_line(f"seen in: {example.place}"))
    if example.difference:
        lines.append(printable_line(f"difference: {example.difference}"))
    for group in example.groups:
        ids = " ".join(map(str, group.ids[:40])) + (" ..." if group.total > 40 else "")
        who = printable_line(", ".join(group.implementations))
        lines.append(f"{who}: {group.kind} {group.message or ids}")
    if example.reproducer:
        lines.append(f"reproduce: python {example.reproducer}")
    return "\n".join(lines)


def _texts(record: RunRecord) -> ET.Element:
    """The user's texts: whoever gives other ids on them fails, unless all of it is expected.

    Differences are findings, too, which say what is behind them.
    """
    suite = ET.Element("testsuite", name="texts")
    for row in record.texts.rows:
        case = _case(suite, f"{row.implementation} on {row.contract}")
        blamed = [
            bucket
            for bucket in record.unexpected
            for found in bucket.findings
            if found.contract == row.contract and row.implementation in found.culprits
        ]
        if row.counts.differing and blamed:
            named = "\n".join(f"{one.place}: from token {one.token} on" for one in row.first)
            _tell(case, "failure", row.line, "texts", named)
    if record.texts and (faults := list(record.texts.faults())):
        _tell(_case(suite, "read"), "error", faults[0], "unreadable", "\n".join(faults))
    return suite


def _scaling(record: RunRecord) -> ET.Element:
    """Growth that has a bound: inconclusive is neither passed nor failed."""
    suite = ET.Element("testsuite", name="scaling")
    for one in record.growth_judged:
        where = f"{one.implementation} on {one.family}, {one.vocabulary}, in {one.measure}"
        case = _case(suite, where)
        message = f"bound {one.bound}: {one.line or one.reason}"
        if one.outcome == "fail":
            _tell(case, "failure", message, "scaling")
        elif one.outcome != "pass":
            _tell(case, "skipped", f"{one.outcome}: {message}")
    return suite


def _expectations(record: RunRecord) -> ET.Element:
    suite = ET.Element("testsuite", name="expectations")
    for entry in record.expectations:
        case = _case(suite, entry.bucket)
        if entry.status in FAILING_EXPECTATIONS:
            _tell(case, "failure", f"{entry.status}: {entry.reason}", entry.status)
        elif entry.status == "not-exercised":
            _tell(case, "skipped", f"not tested: {entry.reason}")
    return suite


def _withdrawn(record: RunRecord) -> ET.Element:
    """Implementations that were not asked to the end: neither passed nor failed."""
    suite = ET.Element("testsuite", name="withdrawn")
    for one in record.withdrawn:
        _tell(_case(suite, f"{one.implementation} on {one.vocabulary}"), "skipped", one.line)
    return suite


def _unplaced(record: RunRecord) -> ET.Element:
    """Implementations that failed on a vocabulary for which no contract was opened."""
    suite = ET.Element("testsuite", name="start")
    opened = {contract.vocabulary for contract in record.contracts}
    for failure in record.failures:
        if failure.vocabulary not in opened:
            case = _case(suite, f"{failure.implementation} on {failure.vocabulary}")
            message = f"failed to start: {one_line(failure.message)}"
            _tell(case, "error", message, "start", failure.message)
    return suite
