"""One row an implementation, severities, and the commands and entries of a card."""

import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.checks.base import Severity
from harness.events import ExpectationJudged
from reports import findings, html, standings
from reports.blocks import Cell, Code, markdown, walk
from reports.record import RunRecord
from reports.standings import wilson
from reports.words import severity
from tests.reports import records

if TYPE_CHECKING:
    pass


def test_wilson_holds_what_it_says():
    """Against the textbook's equation: the bounds are where the score test is at its limit."""
    for hits, number in [(0, 10), (3, 10), (999, 1_000), (10, 10)]:
        for bound in wilson(hits, number):
            if 0 < bound < 1:
                spread = math.sqrt(bound * (1 - bound) / number)
                assert abs(hits / number - bound) / spread == pytest.approx(1.959964, rel=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_each_implementation_has_a_row():
    record = records.three()
    [section] = standings.sections(record)
    [table] = section.blocks
    rows = {row[0][0]: row for row in table.rows}
    assert set(rows) >= set(record.judged)
    name, share, _, _, deaths, _ = map(markdown.inline, map(text_of, rows["tiktoken"]))
    assert "reference" in name
    assert (share.startswith("**100 %**"), deaths) == (True, "0")
    _, share, worst, *_ = map(markdown.inline, map(text_of, rows["tokenizers"]))
    assert share == "**99.9938 %** 99.984 % to 99.9976 %"
    assert worst == "crash 3 unexpected, 1 expected"
    assert "no wheel" in markdown.inline(text_of(rows["rs-bpe"][0]))  # who failed says why


def text_of(cell):
    return cell.text if isinstance(cell, Cell) else cell


def test_the_severity_is_of_what_broke():
    by_check = {b.example.check: severity(b.example) for b in records.three().buckets}
    assert by_check["equivalence"] == Severity.IDS
    assert by_check["round-trip"] == Severity.TEXT
    assert Severity.CRASH in {severity(b.example) for b in records.nasty().buckets}


def test_commands_work_from_any_folder():
    record, folder = records.three(), Path("/where ever")
    page = html.render(record, folder=folder)
    for bucket in record.buckets:
        one = findings.card(bucket, record, folder, unfolded=True)
        assert one.anchor == bucket.example.id
        assert f'id="{one.anchor}"' in page
        script, again, *_ = (
            code.text
            for code in walk(one.blocks)
            if isinstance(code, Code) and code.style == "command"
        )
        assert script.startswith("python '/where ever/findings/")
        assert "--run '/where ever'" in again


def test_a_card_has_the_entry_that_would_cover_it():
    record = records.three()
    for bucket in record.buckets:
        entry = findings.expectation(bucket, record)
        if all(f.expected is not None for f in bucket.findings):
            assert entry == ""
        else:
            entries = tomllib.loads(entry)["expected"]
            assert {e["vocabulary"] for e in entries} == {
                f.vocabulary for f in bucket.findings if f.expected is None
            }


def test_entries_about_who_takes_no_part_are_left_out():
    idle = ExpectationJudged("b", "not-exercised", "other suite", None, ["tokenizers"])
    for begun, said in ((records.opening(), True), ([records.started()], False)):
        page = html.render(RunRecord.from_events([*begun, idle, records.finished("pass")]))
        assert ("1 entry not tested" in page) == said
