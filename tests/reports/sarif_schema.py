"""The part of SARIF 2.1.0 that a report uses, as JSON Schema, closed: no other property passes.

Written from the OASIS standard (sections 3.13 to 3.58) and from what GitHub Docs, "SARIF support
for code scanning", requires on top, with the limits that it states.
"""

from __future__ import annotations


def closed(**fields):
    """An object with these properties; those whose name begins with ``may_`` may be missing."""
    return {
        "type": "object",
        "properties": {name.removeprefix("may_"): kind for name, kind in fields.items()},
        "required": [name for name in fields if not name.startswith("may_")],
        "additionalProperties": False,
    }


def text(most=10_000, **more):
    # GitHub takes no empty string for a required property.
    return {"type": "string", "minLength": 1, "maxLength": most, **more}


def array(items, least=0, most=100):
    return {"type": "array", "minItems": least, "maxItems": most, "items": items}


def message(most=1_000):
    return closed(text=text(most))


LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {"type": "object"}
LINE = {"type": "integer", "minimum": 1}
REGION = closed(startLine=LINE, startColumn=LINE, endLine=LINE, endColumn=LINE)
PLACE = closed(artifactLocation=closed(uri=text(pattern=r"^[!-~]+$")), region=REGION)

RESULT = closed(
    ruleId=text(),
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=message(),
    locations=array(closed(physicalLocation=PLACE), 1, 10),
    partialFingerprints={
        "type": "object",
        "required": ["primaryLocationLineHash"],
        "additionalProperties": text(),
    },
    may_properties=BAG,
)

RULE = closed(
    id=text(),
    shortDescription=message(1_024),
    fullDescription=message(1_024),
    help=message(10_000),
    may_name=text(255),
    may_defaultConfiguration=closed(may_level=LEVEL),
    may_properties={
        "type": "object",
        "properties": {
            "tags": array(text(), 0, 10),
            "precision": {"enum": ["very-high", "high", "medium", "low"]},
            "problem.severity": {"enum": ["error", "warning", "recommendation"]},
        },
    },
)

INVOCATION = closed(
    executionSuccessful={"type": "boolean"},
    may_commandLine=text(),
    may_toolExecutionNotifications=array(closed(message=message(), may_level=LEVEL)),
)

RUN = closed(
    tool=closed(
        driver=closed(name={"const": "tokgate"}, version=text(), rules=array(RULE, 0, 25_000))
    ),
    results=array(RESULT, 0, 5_000),
    may_automationDetails=closed(id=text(pattern="/$")),
    may_columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    may_invocations=array(INVOCATION),
)

SARIF = closed(
    **{"$schema": text(format="uri")}, version={"const": "2.1.0"}, runs=array(RUN, 1, 20)
)
