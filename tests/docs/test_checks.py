"""The table of checks is that of the registry."""

from tests.docs.formulas import LIST, PAGE, listed, page


def test_the_table_is_what_the_checks_declare():
    assert LIST.read_text("utf-8") == listed(), "python -m tests.docs.formulas writes it anew"


def test_the_formulas_are_those_of_the_source():
    assert PAGE.read_text("utf-8") == page(), "python -m tests.docs.formulas writes it anew"
