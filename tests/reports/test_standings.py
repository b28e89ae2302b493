"""One row an implementation, severities, rates, and the commands and entries of a card."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from harness.checks.base import Severity
from harness.verdict.coverage import Coverage
from reports import cards, html
from reports.record import RunRecord
from reports.severity import severity, share
from reports.standings import percentage, standings, wilson
from tests.reports import records


def test_wilson_holds_what_it_says() -> None:
    """Against the textbook's equation: the bounds are where the score test is at its limit."""
    for hits, number in [(0, 10), (3, 10), (999, 1_000), (10, 10)]:
        for bound in wilson(hits, number):
            if 0 < bound < 1:
                spread = math.sqrt(bound * (1 - bound) / number)
                assert abs(hits / number - bound) / spread == pytest.approx(1.959964, rel=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "100 %"),
        (0.9999999, "99.9999 %"),
        (0.99996, "99.996 %"),
        (0.5, "50.0 %"),
        (0.0, "0 %"),
    ],
)
def test_less_than_all_is_never_rounded_up_to_all(value: float, text: str) -> None:
    assert percentage(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.071, "7.1 %"), (0.5, "50 %"), (0.00032, "0.032 %"), (0.000001, "< 0.001 %")],
)
def test_a_share_has_two_figures_that_tell(value: float, text: str) -> None:
    assert share(value) == text


def test_each_implementation_has_a_row() -> None:
    record = records.three()
    rows = {row.name: row for row in standings(record, {})}
    assert set(rows) >= set(record.judged)
    right = rows["tiktoken"]
    assert (right.reference, right.agrees, right.deaths) == (True, "100 %", 0)
    wrong = rows["tokenizers"]
    assert wrong.agreement is not None
    assert 0 < wrong.agreement < 1
    assert wrong.low < wrong.agreement < wrong.high
    assert wrong.severity in {Severity.CRASH, Severity.IDS}
    assert "rs-bpe" in rows  # which failed to start, and says why
    assert rows["rs-bpe"].failed


def test_the_severity_is_of_what_broke() -> None:
    by_check = {b.example.check: severity(b.example) for b in records.three().buckets}
    assert by_check["equivalence"] == Severity.IDS
    assert by_check["round-trip"] == Severity.TEXT
    assert Severity.CRASH in {severity(b.example) for b in records.nasty().buckets}


def test_the_rate_is_of_the_inputs_that_were_judged() -> None:
    record = records.three()
    bucket = next(b for b in record.buckets if b.example.check == "equivalence")
    found = record.rate(bucket)
    name, place = bucket.example.culprits[0], bucket.example.contract
    judged = sum(
        record.coverage.judged[contract, "equivalence", name]
        for contract in {f.contract for f in bucket.findings}
    )
    assert found == pytest.approx(bucket.count / judged)
    assert replace(record, coverage=Coverage()).rate(bucket) is None, place


def test_commands_work_from_any_folder() -> None:
    record = records.three()
    page = html.render(record, folder=Path("/where ever"))
    made = [
        cards.card(1, b, cards.ROOMY, record, Path("/where ever"), unfolded=True)
        for b in record.buckets
    ]
    for one in made:
        assert one.anchor == one.finding.id
        assert f'id="{one.anchor}"' in page
        assert "--run '/where ever'" in one.replay
        if one.reproduction is not None:
            assert one.reproduction.command.startswith("python '/where ever/findings/")


def test_a_plug_in_of_a_record_needs_trust() -> None:
    record = records.three()
    assert record.started is not None
    bucket = record.buckets[0]
    name = bucket.example.groups[-1].implementations[0]
    for spec, trusted in ((name, False), ("/somewhere/mine.py:Mine", True)):
        begun = replace(record.started, specs={name: spec})
        one = cards.card(
            1, bucket, cards.ROOMY, replace(record, started=begun), None, unfolded=True
        )
        assert one.replay.endswith(" --trust") == trusted


def test_a_card_has_the_entry_that_would_cover_it() -> None:
    record = records.three()
    for bucket in record.buckets:
        one = cards.card(1, bucket, cards.ROOMY, record, None, unfolded=True)
        if all(f.expected is not None for f in bucket.findings):
            assert one.expect == ""
        else:
            entries = tomllib.loads(one.expect)["expected"]
            assert {e["vocabulary"] for e in entries} == {
                f.vocabulary for f in bucket.findings if f.expected is None
            }


def test_a_run_of_two_says_nothing_of_others() -> None:
    record = records.three()
    both = RunRecord.from_events([*records.opening(), records.finished("pass")])
    page = html.render(both)
    assert "tekken_240911" in page
    assert record.expectations
    kept = replace(record, coverage=Coverage(), findings=())
    assert html._expectations(kept)["idle"] == []
