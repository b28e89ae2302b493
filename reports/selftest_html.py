"""``selftest.html``: a selftest as one self-contained page that needs no network."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any

from reports.blocks.html import assets, environment
from reports.selftest import (
    SelftestRecord,
    by_check,
    by_generator,
    cases_of,
    earliest,
    idle,
    middle,
    seconds_of,
    shown,
    verdict_of,
)
from reports.text import literal

if TYPE_CHECKING:
    from jinja2 import Environment

INPUT_SHOWN = 60
"""Bytes of a minimal input on the page."""


def render(record: SelftestRecord) -> str:
    """The page for a record, as text to be written in UTF-8."""
    return (
        _environment()
        .get_template("selftest.html.j2")
        .render(
            record=record,
            started=record.started,
            finished=record.finished,
            checks=by_check(record),
            generators=by_generator(record),
            idle=idle(record),
            rows=[row(one) for one in record.mistakes],
            caught=sum(one["rightly"] for one in record.mistakes),
            seconds=shown(middle(seconds_of(record.mistakes)), "s"),
            cases=shown(middle(cases_of(record.mistakes))),
            shown=shown,
            **assets(),
        )
    )


def row(judged: dict[str, Any]) -> dict[str, Any]:
    """A mistake, ready to print."""
    first = earliest(judged)
    return {
        **judged,
        "verdict": verdict_of(judged),
        "input": literal(base64.b64decode(judged["input_b64"]), INPUT_SHOWN),
        "seconds": shown(first["all_seconds"], "s") if first else "",
        "cases": shown(first["all_cases"]) if first and first["cases"] else "",
        "by": first["generator"] if first else "",
        "generators": len({sighting["generator"] for sighting in judged["sightings"]}),
    }


@cache
def _environment() -> Environment:
    return environment()
