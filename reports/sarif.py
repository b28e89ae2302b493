"""``report.sarif``: what fails the gate, in SARIF 2.1.0, as GitHub's code scanning takes it.

An unexpected bucket of findings is one result, and so is a stale or expired expectation, a broken
bound of growth, an implementation that failed to start, and what was named and not examined. What
the gate lets through is left out: it would stand in the list of alerts for ever. Rules are checks;
their ids and texts do not depend on the run, and a result is recognised from run to run by its
bucket.

The format: OASIS, Static Analysis Results Interchange Format 2.1.0. The limits: GitHub Docs,
"SARIF support for code scanning".
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from corpora.plain_text import one_line, printable
from harness.checks import CHECKS
from reports.places import expectations_file, place
from reports.record import FAILING_EXPECTATIONS, Verdict
from reports.text import literal
from reports.words import also, headline, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.events import ExpectationJudged, ImplementationFailed, Measured
    from reports.record import Bucket, RunRecord

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_RESULTS = 5_000
"""GitHub rejects a run with more than 25,000 results, and shows the first 5,000."""
MAX_GZIPPED = 10_000_000
"""Bytes: GitHub rejects a file that is larger when compressed."""
MAX_MESSAGE = 1_000
"""Characters of a result's message: it is the title of an alert."""
MAX_DESCRIPTION = 1_024
"""Characters of a rule's descriptions."""
MAX_NOTES = 50
"""Notes on what was left open, withdrawn implementations among them."""
PREFIX = "tokgate/"

MORE_RULES = {
    "scaling": "Cost grows no faster with the length of the input than its bound allows.",
    "expectation": "An entry of the expectations file shows as it says, and is not past its date.",
    "start": "Every implementation asked for can be started.",
    "gate": "The run came to its end, and everything that was named was examined.",
}
"""What is demanded besides the checks, by rule."""

_HELP = (
    "tokgate compares implementations of one tokenizer on generated and hostile inputs. The "
    "message has the smallest input that shows the fault; the run's folder has report.html, and "
    "findings/<id>/repro.py, which needs the libraries concerned alone. A divergence that is "
    "known goes into the expectations file, with a reason and a range of versions."
)


def render(record: RunRecord) -> str:
    """The record as SARIF, worst first, within GitHub's limits on results and on size."""
    results = list(_results(record))
    kept = results[:MAX_RESULTS]
    while True:
        text = json.dumps(_log(record, kept, len(results) - len(kept)), indent=1) + "\n"
        if len(kept) < 2 or len(gzip.compress(text.encode(), mtime=0)) < MAX_GZIPPED:
            return text
        kept = kept[: len(kept) // 2]


def demands() -> dict[str, str]:
    """Rule to what it demands: of each check its summary, as a sentence."""
    checks = {n: f"{one.summary[0].upper()}{one.summary[1:]}." for n, one in CHECKS.items()}
    return {**checks, **MORE_RULES}


def fingerprint(*parts: str) -> str:
    """A stable name of a fault: it depends on these parts and nothing else."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _log(record: RunRecord, results: list[dict[str, Any]], left_out: int) -> dict[str, Any]:
    rules = sorted({result["ruleId"].removeprefix(PREFIX) for result in results} | demands().keys())
    place_of = {PREFIX + rule: index for index, rule in enumerate(rules)}
    started = record.started
    lines = [*([_left_out(left_out)] if left_out else []), *record.notes[:MAX_NOTES]]
    notes = [{"level": "warning", "message": {"text": printable(line)}} for line in lines]
    driver = {
        "name": "tokgate",
        "version": (started.versions.get("tokgate", "unknown") if started else "") or "unknown",
        "rules": [_rule(rule) for rule in rules],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "tokgate/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": record.complete,
                "commandLine": printable(started.command) if started else "tokgate",
                "toolExecutionNotifications": notes,
            }
        ],
        "results": [{**one, "ruleIndex": place_of[one["ruleId"]]} for one in results],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _left_out(number: int) -> str:
    return f"{plural(number, 'further result')} left out for GitHub's limits; see summary.json"


def _rule(rule: str) -> dict[str, Any]:
    law = demands().get(rule) or f"The property {one_line(rule, 80)} holds on every input."
    return {
        "id": PREFIX + rule,
        "name": "".join(part.capitalize() for part in rule.split("-"))[:255],
        "shortDescription": {"text": law[:MAX_DESCRIPTION]},
        "fullDescription": {"text": law[:MAX_DESCRIPTION]},
        "help": {"text": _HELP},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["tokenizer", "conformance"], "precision": "very-high",
                       "problem.severity": "error"},
    }  # fmt: skip


def _result(
    rule: str, message: str, path: str, *identity: str, **properties: Any
) -> dict[str, Any]:
    name = fingerprint(rule, *identity)
    cut = message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"
    return {
        "ruleId": PREFIX + rule,
        "level": "error",
        "message": {"text": cut},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri(path)},
                    "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2},
                }
            }
        ],
        # GitHub reads the first name alone; the second says to others what was hashed.
        "partialFingerprints": {"primaryLocationLineHash": f"{name}:1", "tokgateBucket/v1": name},
        "properties": properties,
    }


def uri(path: str) -> str:
    """A path as SARIF has it; GitHub's uploader makes an absolute one relative by its scheme."""
    quoted = quote(path.encode("utf-8", "backslashreplace"), safe="/-._~")
    return f"file://{quoted}" if path.startswith("/") else quoted


def _results(record: RunRecord) -> Iterator[dict[str, Any]]:
    yield from (_start(record, failure) for failure in record.failures)
    yield from (_bucket(record, bucket) for bucket in record.unexpected)
    yield from (_growth(record, one) for one in record.broken)
    for entry in record.expectations:
        if entry.status in FAILING_EXPECTATIONS:
            yield _expectation(record, entry)
    if record.verdict is Verdict.NOT_EXAMINED:
        for line in record.finished.reasons if record.finished else ():
            yield _result("gate", printable(one_line(line)), expectations_file(record), line)
    if not record.complete:
        yield _result("gate", "The run did not come to its end.", expectations_file(record), "end")


def _bucket(record: RunRecord, bucket: Bucket) -> dict[str, Any]:
    example = bucket.example
    shown = literal(base64.b64decode(example.input_b64), limit=240)
    more = f" and {plural(shown.missing, 'more byte')}" if shown.missing else ""
    lines = [
        f"{one_line(headline(bucket))}.",
        f"Smallest input: {shown.code}{more}.",
        one_line(example.difference),
        f"Seen {plural(bucket.count, 'time')} on {example.contract}{also(bucket)}, "
        f"finding {example.id}.",
    ]
    return _result(
        example.check,
        " ".join(line for line in lines if line),
        place(record, example.culprits),
        bucket.cause,
        bucket=printable(bucket.name),
        contract=printable(example.contract),
        finding=example.id,
        reproducer=example.reproducer,
        input_b64=example.input_b64 if len(example.input_b64) <= MAX_MESSAGE else None,
    )


def _start(record: RunRecord, failure: ImplementationFailed) -> dict[str, Any]:
    name, vocabulary = failure.implementation, failure.vocabulary
    text = f"{name} failed to start on {vocabulary}. {one_line(failure.message)}"
    return _result("start", printable(text), place(record, [name]), name, vocabulary)


def _growth(record: RunRecord, one: Measured) -> dict[str, Any]:
    grown = "" if one.exponent is None else f", exponent {one.exponent:.2f}"
    text = (
        f"{one.implementation} grows faster than its bound on {one.family}{grown}. "
        f"Vocabulary {one.vocabulary}. {one_line(one.note)}"
    )
    identity = one.implementation, one.vocabulary, one.family
    return _result("scaling", printable(text), place(record, [one.implementation]), *identity)


def _expectation(record: RunRecord, entry: ExpectationJudged) -> dict[str, Any]:
    said = "was exercised and did not show" if entry.status == "stale" else "is past its date"
    text = f"The expectation {entry.bucket} {said}. {one_line(entry.reason)}"
    return _result(
        "expectation", printable(text), expectations_file(record), entry.status, entry.bucket,
        entry.vocabulary, *entry.implementations,
    )  # fmt: skip
