"""Suites: how much of everything a run does."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.core.countdown import seconds_text


@dataclass(frozen=True, slots=True)
class Suite:
    """What a run does unless told otherwise.

    budget: as :func:`parse_budget` reads it; loading vocabularies comes on top. max_input: longest
    input in bytes. scaling: share of the time that goes into growth measurements; scaling_bytes:
    the largest size measured, where there is time for it.
    """

    name: str
    budget: str
    max_input: int
    scaling: float
    scaling_bytes: int


SUITES = {
    suite.name: suite
    for suite in (
        Suite("smoke", "45s", 128 << 10, 0.2, 1 << 20),
        Suite("ci", "5m", 1 << 20, 0.2, 4 << 20),
        Suite("nightly", "8h", 16 << 20, 0.1, 16 << 20),
    )
}

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a run may take: seconds, or a number of cases for each contract (not both).

    With cases a run does the same work on every machine, which makes two runs comparable.
    """

    seconds: float | None = None
    cases: int | None = None

    @property
    def words(self) -> str:
        """For a command's first line: ``for 45 s``, ``for 2,000 cases``, ``until Ctrl-C``."""
        if self.cases is None:
            return seconds_text(self.seconds)
        return f"for {self.cases:,} cases"


def parse_budget(text: str) -> Budget:
    """``90s``, ``5m``, ``8h``, ``20000cases``. ValueError with a line that says what is right."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|cases)?", text.strip())
    if match is None or float(match[1]) <= 0:
        raise ValueError(f"invalid value {text!r}: use 60s, 5m, 8h or 20000cases")
    amount, unit = float(match[1]), match[2] or "s"
    if unit == "cases":
        return Budget(cases=max(1, int(amount)))
    return Budget(seconds=amount * UNITS[unit])
