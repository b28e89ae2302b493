"""``junit.xml``: a testsuite a contract, a testcase a check and implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from corpora.plain_text import one_line, printable, printable_line
from reports.matrix import Status, matrix
from reports.record import FAILING_EXPECTATIONS, Verdict
from reports.words import also, headline, reason, smallest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.events import ContractOpened
    from reports.matrix import Cell
    from reports.record import Bucket, RunRecord

MAX_TEXT = 20_000
"""Characters of one message: CI servers load the file whole."""

INPUT_SHOWN = 200
"""Characters of an input."""

IDS_SHOWN = 40
"""Ids of an outcome."""


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
    cells = matrix(record)
    suites = [("gate", [_gate(record)])]
    suites += [(one.id, list(_contract(record, cells, one))) for one in record.contracts]
    more = [
        ("texts", _texts), ("scaling", _scaling), ("expectations", _expectations),
        ("withdrawn", _withdrawn), ("start", _unplaced),
    ]  # fmt: skip
    suites += [(name, cases) for name, told in more if (cases := list(told(record)))]
    root = ET.Element("testsuites", name="tokgate")
    for name, cases in suites:
        suite = ET.SubElement(root, "testsuite", name=legal_line(name))
        _count(suite, cases)
        for one in cases:
            _add(suite, one)
    _count(root, [case for _, cases in suites for case in cases])
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


def _gate(record: RunRecord) -> Case:
    known = {
        Verdict.PASS: ("", ""),
        Verdict.FAIL: ("failure", "gate"),
        Verdict.INCOMPLETE: ("error", "incomplete"),
        Verdict.NOT_EXAMINED: ("error", "not-examined"),
    }
    tag, kind = known[record.verdict]
    return Case("verdict", tag, reason(record), kind, "\n".join(record.reasons))


def _contract(
    record: RunRecord, cells: Mapping[tuple[str, str, str], Cell], contract: ContractOpened
) -> Iterator[Case]:
    by_name = {bucket.name: bucket for bucket in record.buckets}
    for name in record.implementations:
        for check in record.checks:
            cell = cells[name, contract.id, check]
            title, why = f"{check}: {name}", cell.reason
            match cell.status:
                case Status.UNSUPPORTED if name not in contract.excluded:
                    continue
                case Status.VIOLATED:
                    bad = [one for b in cell.buckets if not (one := by_name[b]).expected]
                    first = headline(bad[0]) if bad else f"{cell.violations} cases at fault"
                    more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
                    text = "\n\n".join(_describe(b, contract.id) for b in bad)
                    yield Case(title, "failure", f"{first}{more}", check, text)
                case Status.FAILED:
                    yield Case(title, "error", f"failed to start: {one_line(why)}", "start", why)
                case Status.OK:
                    yield Case(title)
                case status:
                    yield Case(title, "skipped", f"{status.value}: {why}")


def _describe(bucket: Bucket, contract: str) -> str:
    example = next((f for f in bucket.findings if f.contract == contract), bucket.example)
    lines = [
        f"{headline(bucket)}, seen {bucket.count} times{also(bucket)}",
        f"bucket: {bucket.name}",
        f"input: {smallest(example, INPUT_SHOWN)}",
    ]
    told = {
        "seen in": example.place,
        "difference": example.difference,
        "reproduce": example.reproducer and f"python {example.reproducer}",
    }
    for group in example.partition:
        ids = " ".join(map(str, group.ids[:IDS_SHOWN])) + " ..." * (group.total > IDS_SHOWN)
        told[", ".join(group.implementations)] = f"{group.kind} {group.message or ids}"
    lines += [f"{name}: {said}" for name, said in told.items() if said]
    return "\n".join(map(printable_line, lines))


def _texts(record: RunRecord) -> Iterator[Case]:
    """The user's texts: whoever gives other ids on them fails, unless all of it is expected.

    Differences are findings, too, which say what is behind them.
    """
    blamed = {
        (found.contract, name)
        for bucket in record.unexpected
        for found in bucket.findings
        for name in found.culprits
    }
    for row in record.texts.rows:
        name = f"{row.implementation} on {row.contract}"
        if row.counts.differing and (row.contract, row.implementation) in blamed:
            named = "\n".join(f"{one.place}: from token {one.token} on" for one in row.first)
            yield Case(name, "failure", row.line, "texts", named)
        else:
            yield Case(name)
    if faults := record.texts.faults():
        yield Case("read", "error", faults[0], "unreadable", "\n".join(faults))


def _scaling(record: RunRecord) -> Iterator[Case]:
    """Growth that has a bound: inconclusive is neither passed nor failed."""
    for one in record.growth_judged:
        name = f"{one.implementation} on {one.family}, {one.vocabulary}, in {one.measure}"
        message = f"bound {one.bound}: {one.line or one.reason}"
        if one.outcome == "fail":
            yield Case(name, "failure", message, "scaling")
        elif one.outcome == "pass":
            yield Case(name)
        else:
            yield Case(name, "skipped", f"{one.outcome}: {message}")


def _expectations(record: RunRecord) -> Iterator[Case]:
    for one in record.expectations:
        if one.status in FAILING_EXPECTATIONS:
            yield Case(one.bucket, "failure", f"{one.status}: {one.reason}", one.status)
        elif one.status == "not-exercised":
            yield Case(one.bucket, "skipped", f"not tested: {one.reason}")
        else:
            yield Case(one.bucket)


def _withdrawn(record: RunRecord) -> Iterator[Case]:
    """Implementations that were not asked to the end: neither passed nor failed."""
    for one in record.withdrawn:
        yield Case(f"{one.implementation} on {one.vocabulary}", "skipped", one.line)


def _unplaced(record: RunRecord) -> Iterator[Case]:
    """Implementations that failed on a vocabulary for which no contract was opened."""
    opened = {contract.vocabulary for contract in record.contracts}
    for one in record.failures:
        if one.vocabulary not in opened:
            name, said = f"{one.implementation} on {one.vocabulary}", one_line(one.message)
            yield Case(name, "error", f"failed to start: {said}", "start", one.message)
