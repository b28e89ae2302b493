"""The table of checks is that of the registry."""

from __future__ import annotations

import re

from harness.checks import CHECKS, MEASURES
from tests.docs.formulas import LIST, PAGE, listed, page


def named(text: str) -> list[str]:
    """The names in the first column of the first table of a page."""
    table = text.partition("\n|---")[2].partition("\n\n")[0]
    first = [row.split("|")[1] for row in table.splitlines()[1:]]
    return [name for cell in first for name in re.findall(r"`([^`]+)`", cell)]


def test_every_check_is_in_the_table_once_and_nothing_else() -> None:
    assert named(LIST.read_text("utf-8")) == [*CHECKS, *MEASURES]


def test_the_table_is_what_the_checks_declare() -> None:
    assert LIST.read_text("utf-8") == listed(), "python -m tests.docs.formulas writes it anew"


def test_the_table_is_read_by_its_first_column() -> None:
    text = "| check | property |\n|---|---|\n| `a`, `b` | of `c` |\n\n| `d` | |\n"
    assert named(text) == ["a", "b"]


def test_the_formulas_are_those_of_the_source() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.docs.formulas writes it anew"
