"""``python -m tests.docs.formulas`` writes what docs say of each check anew, from the checks.

docs/formulas.md is made of their docstrings, the table in docs/checks.md of their declarations.
"""

from __future__ import annotations

import inspect

from harness.checks import CHECKS, MEASURES
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "formulas.md"

LIST = ROOT / "docs" / "checks.md"
"""The page whose first table is that of the checks."""

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


def listed() -> str:
    """The page of the checks with its table as they declare it; the rest stays as it is."""
    before, head, rest = LIST.read_text("utf-8").partition("|---|---|---|\n")
    after = rest.partition("\n\n")[2]
    rows = [
        f"| `{name}` | {cell(one.summary)} | {one.severity} |\n" for name, one in CHECKS.items()
    ]
    rows += [f"| `{name}` | {cell(summary)} | |\n" for name, summary in MEASURES.items()]
    return f"{before}{head}{''.join(rows)}\n{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    LIST.write_text(listed(), "utf-8")
