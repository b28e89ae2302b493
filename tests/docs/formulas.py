"""``python -m tests.docs.formulas`` writes docs/formulas.md anew, from the checks' docstrings."""

from __future__ import annotations

import inspect

from harness.checks import CHECKS
from harness.studies.costs.series import measure_series
from harness.verdict.leaks import judge_left
from harness.verdict.memory import judge_memory
from harness.verdict.told import judge_told
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "formulas.md"

BEGINNING = """# The checks as formulas

What each check holds, as its source says it; `python -m tests.docs.formulas` writes this page.
What the checks are for is told in [what is checked](checks.md), and how to add one in
[its page](contributing/check.md). x is any input as bytes, ids are token ids, |x| is a length.

| check | formula | asked of |
|---|---|---|
"""


COSTS = {
    "memory": judge_memory,
    "what is left behind": judge_left,
    "a program's own times": judge_told,
    "other axes": measure_series,
}
"""Costs by the functions that judge them, whose docstrings begin with the formula."""

BETWEEN = """
## Costs besides time

What is held of costs other than time for a byte, by the functions that judge it; the page on the
gate says [who is held to it](gate.md#costs-besides-time).

| cost | formula | how it is decided |
|---|---|---|
"""


def cell(text: str) -> str:
    """One line of a table; bars that are lengths are escaped."""
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`")


def page() -> str:
    """The whole page: a row a check, in the order in which they judge."""
    rows = []
    for name, check in CHECKS.items():
        formula, _, rest = (inspect.getdoc(check) or "").partition("\n\n")
        rows.append(f"| `{name}` | {cell(formula)} | {cell(rest)} |\n")
    costs = []
    for name, judged in COSTS.items():
        formula, _, rest = (inspect.getdoc(judged) or "").partition("\n\n")
        rest = rest.partition("\n\nParameters")[0]
        costs.append(f"| {name} | {cell(formula)} | {cell(rest)} |\n")
    return BEGINNING + "".join(rows) + BETWEEN + "".join(costs)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
