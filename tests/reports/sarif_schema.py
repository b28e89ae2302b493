"""The part of SARIF 2.1.0 that a report uses, as JSON Schema, closed: no other property passes.

Written from the OASIS standard (sections 3.13 to 3.58) and from what GitHub Docs, "SARIF support
for code scanning", requires on top, with the limits that it states.
"""

from __future__ import annotations

from typing import Any


def closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def text(longest: int) -> dict[str, Any]:
    # GitHub takes no empty string for a required property.
    return closed({"text": {"type": "string", "minLength": 1, "maxLength": longest}})


LEVEL = {"enum": ["none", "note", "warning", "error"]}
LINE = {"type": "integer", "minimum": 1}
BAG = {"type": "object"}

LOCATION = closed(
    {
        "physicalLocation": closed(
            {
                "artifactLocation": closed(
                    {"uri": {"type": "string", "minLength": 1, "pattern": r"^[!-~]+$"}}
                ),
                "region": closed(
                    dict.fromkeys(["startLine", "startColumn", "endLine", "endColumn"], LINE)
                ),
            }
        )
    }
)

RESULT = closed(
    {
        "ruleId": {"type": "string", "minLength": 1},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": text(1_000),
        "locations": {"type": "array", "minItems": 1, "maxItems": 10, "items": LOCATION},
        "partialFingerprints": {
            "type": "object",
            "required": ["primaryLocationLineHash"],
            "additionalProperties": {"type": "string", "minLength": 1},
        },
    },
    {"properties": BAG},
)

RULE = closed(
    {
        "id": {"type": "string", "minLength": 1},
        "shortDescription": text(1_024),
        "fullDescription": text(1_024),
        "help": text(10_000),
    },
    {
        "name": {"type": "string", "maxLength": 255},
        "defaultConfiguration": closed({"level": LEVEL}),
        "properties": {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "maxItems": 10, "uniqueItems": True},
                "precision": {"enum": ["very-high", "high", "medium", "low"]},
                "problem.severity": {"enum": ["error", "warning", "recommendation"]},
            },
        },
    },
)

NOTIFICATION = closed({"message": text(1_000)}, {"level": LEVEL})

RUN = closed(
    {
        "tool": closed(
            {
                "driver": closed(
                    {
                        "name": {"const": "tokgate"},
                        "version": {"type": "string", "minLength": 1},
                        "rules": {"type": "array", "maxItems": 25_000, "items": RULE},
                    }
                )
            }
        ),
        "results": {"type": "array", "maxItems": 5_000, "items": RESULT},
    },
    {
        "automationDetails": closed({"id": {"type": "string", "pattern": "/$"}}),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "invocations": {
            "type": "array",
            "items": closed(
                {"executionSuccessful": {"type": "boolean"}},
                {
                    "commandLine": {"type": "string"},
                    "toolExecutionNotifications": {"type": "array", "items": NOTIFICATION},
                },
            ),
        },
    },
)

SARIF = closed(
    {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 20, "items": RUN},
    }
)
