"""``report.sarif``: what fails the gate, in SARIF 2.1.0, as GitHub's code scanning takes it.

Each of :mod:`reports.faults` is one result. What the gate lets through is left out: it would stand
in the list of alerts for ever. Rules are checks; their ids and texts do not depend on the run, and
a result is recognised from run to run by what it is about, such as its bucket.

The format: OASIS, Static Analysis Results Interchange Format 2.1.0. The limits: GitHub Docs,
"SARIF support for code scanning".
"""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote

from corpora.plain_text import one_line, printable
from harness.checks import CHECKS
from reports.blocks.units import plural
from reports.faults import Fault, faults
from reports.record import RunRecord

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_RESULTS = 2_000
"""GitHub shows the first 5,000, and rejects a file of more than 10 MB when compressed: a result has
at most about 4 KB, of which compression leaves less than half."""
MAX_MESSAGE = 1_000
"""Characters of a result's message: it is the title of an alert."""
MAX_NOTES = 50
"""Notes on what was left open, withdrawn implementations among them."""
PREFIX = "tokgate/"

MORE_RULES = {
    "scaling": "Cost grows no faster with the length of the input than its bound allows.",
    "expectation": "Each entry of the expectations file still shows, and has not expired.",
    "start": "Every implementation asked for can be started.",
    "gate": "The run finished, and everything that was named was examined.",
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
    found = list(faults(record))
    kept, left_out = found[:MAX_RESULTS], len(found) - MAX_RESULTS
    # Of each check its summary, as a sentence; a check may be one of another version of tokgate.
    demands = {rule: f"The property {one_line(rule, 80)} holds on every input."
               for rule in (one.rule for one in kept)}  # fmt: skip
    demands |= {n: f"{one.summary[0].upper()}{one.summary[1:]}." for n, one in CHECKS.items()}
    demands |= MORE_RULES
    rules, notes = sorted(demands), list(record.notes[:MAX_NOTES])
    if left_out > 0:
        further = plural(left_out, "further result")
        notes.insert(0, f"{further} left out for GitHub's limits; see summary.json")
    driver = {
        "name": "tokgate",
        "version": record.versions.get("tokgate") or "unknown",
        "rules": [_rule(rule, demands[rule]) for rule in rules],
    }
    invocation = {
        "executionSuccessful": record.complete,
        "commandLine": printable(record.started.command) if record.started else "tokgate",
        "toolExecutionNotifications": [
            {"level": "warning", "message": {"text": printable(line)}} for line in notes
        ],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": PREFIX},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [{**_result(one), "ruleIndex": rules.index(one.rule)} for one in kept],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(rule: str, law: str) -> dict[str, Any]:
    return {
        "id": PREFIX + rule,
        "name": "".join(part.capitalize() for part in rule.split("-"))[:255],
        "shortDescription": {"text": law},
        "fullDescription": {"text": law},
        "help": {"text": _HELP},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["tokenizer", "conformance"], "precision": "very-high",
                       "problem.severity": "error"},
    }  # fmt: skip


def _result(fault: Fault) -> dict[str, Any]:
    # A fault's name is stable: it depends on what it is about and nothing else.
    about = "\0".join((fault.rule, *fault.identity)).encode("utf-8", "backslashreplace")
    name, bucket = hashlib.sha256(about).hexdigest()[:32], fault.bucket
    lines = [f"{fault.title}.", *fault.text]
    message = printable(" ".join(one_line(line) for line in lines if line))
    properties: dict[str, Any] = {}
    line = fault.place.line
    region = {"startLine": line, "startColumn": 1, "endLine": line, "endColumn": 2}
    if bucket is not None:
        example, shown = bucket.example, bucket.example.input_b64
        properties = {
            "bucket": printable(bucket.name),
            "contract": printable(example.contract),
            "finding": example.id,
            "reproducer": example.reproducer,
            "input_b64": shown if len(shown) <= MAX_MESSAGE else None,
        }
    return {
        "ruleId": PREFIX + fault.rule,
        "level": "error",
        "message": {"text": one_line(message, MAX_MESSAGE)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri(fault.place.path)},
                    "region": region,
                }
            }
        ],
        # GitHub reads the first name alone; the second says to others what was hashed.
        "partialFingerprints": {"primaryLocationLineHash": f"{name}:1", "tokgateBucket/v1": name},
        "properties": properties,
    }


def uri(path: str) -> str:
    """A relative path as SARIF has it."""
    return quote(path.encode("utf-8", "backslashreplace"), safe="/-._~")
