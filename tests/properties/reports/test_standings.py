"""One row an implementation, and the commands and entries of a card."""

import math
import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reports import findings, html
from reports.blocks import Code, walk
from reports.standings import Z, wilson
from tests.properties.reports import records


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_wilson_holds_what_it_says(hits, number):
    """Against the textbook's equation: the bounds are where the score test is at its limit."""
    hits = min(hits, number)
    low, high = wilson(hits, number)
    assert 0 <= low <= hits / number <= high <= 1
    assert ((low == 0), (high == 1)) == (hits == 0, hits == number)
    for bound in {low, high} - {0, 1}:
        spread = math.sqrt(bound * (1 - bound) / number)
        assert math.isclose(abs(hits / number - bound), Z * spread, rel_tol=1e-6)
    assert wilson(0, 0) == (0, 1)


def test_a_card_has_commands_for_any_folder_and_the_entry_that_would_cover_it():
    record, folder = records.three(), Path("/where ever")
    page = html.render(record, folder=folder)
    for bucket in record.buckets:
        one = findings.card(bucket, record, folder)
        assert one.anchor == bucket.example.id
        assert f'id="{one.anchor}"' in page
        codes = [code for code in walk(one.blocks) if isinstance(code, Code)]
        script, again, *_ = (code.text for code in codes if code.style == "command")
        assert script.startswith("python '/where ever/findings/")
        assert "--run '/where ever'" in again
        entry = tomllib.loads(findings.expectation(bucket, record)).get("expected", [])
        uncovered = {f.vocabulary for f in bucket.findings if f.expected is None}
        assert {one["vocabulary"] for one in entry} == uncovered
