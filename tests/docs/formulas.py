"""``python -m tests.docs.formulas`` writes docs/formulas.md anew, from the checks' docstrings."""

from __future__ import annotations

import inspect

from harness.checks import CHECKS
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "formulas.md"

BEGINNING = """# The checks as formulas

What each check holds, as its source says it; `python -m tests.docs.formulas` writes this page.
What the checks are for is told in [what is checked](checks.md), and how to add one in
[its page](contributing/check.md). x is any input as bytes, ids are token ids, |x| is a length.

| check | formula | asked of |
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
    return BEGINNING + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
