"""Texts of cells: wherever they are cut, some of them are cut at a bad place."""

import re
from itertools import islice

import pytest

from corpora.generators import cells
from corpora.vocabularies.sources import resolve
from impls.interface import Mode
from tests.breadth import thorough_from
from tests.doubles import kinds

# The toy has no token that goes over a line end.
CUTS = [
    ("toy_bytes", kinds.CutAtSpaces),
    ("tekken_240911", kinds.CutAtSpaces),
    ("tekken_240911", kinds.CutAtLines),
]


@pytest.mark.parametrize(("name", "wrong"), thorough_from(1, CUTS))
def test_a_cut_at_a_line_end_and_one_at_a_space_show(name, wrong):
    vocabulary = resolve(name)
    right = kinds.Threaded().load(vocabulary)
    made = [text for text in islice(cells.GENERATOR.cases(vocabulary, 1), 80) if len(text) < 90_000]
    wrong = type("Small", (wrong,), {"least": 1 << 16})().load(vocabulary)
    assert any(right.encode(one, Mode()) != wrong.encode(one, Mode()) for one in made)


def test_texts_are_long_and_of_white_space_and_something_else():
    made = list(islice(cells.GENERATOR.cases(resolve("toy_bytes"), 0), 24))
    assert made == list(islice(cells.GENERATOR.cases(resolve("toy_bytes"), 0), 24))
    assert {round(len(text.decode()), -4) for text in made} >= {70_000, 300_000, 1_000_000}
    for text in made:
        assert 65_536 < len(text.decode()) <= 4_004_096
        # The pattern engines of several libraries give up at a million characters of white space.
        assert max(map(len, re.findall(r"\s+", text.decode()))) <= 48
    assert list(cells.GENERATOR.cases(resolve("toy_acbb"), 0)) == []
