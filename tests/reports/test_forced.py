"""Forced tokens in the reports: the table, and failures with both segmentations."""

from __future__ import annotations

import base64
import json

from harness.events import Forced, ForcedCorpus, ForcedWitness
from reports import FORMATS
from reports.forced import EACH, failures, forced_rows
from reports.record import RunRecord
from tests.reports.records import finished, opening


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def witness(**changes: object) -> ForcedWitness:
    fields = {
        "vocabulary": "v", "policy": "none", "schema": "<b>orders</b>", "context": text(b'{"'),
        "forced": text(b"the orde"), "continuation": text(b"rId"), "ids": [1, 2],
        "surfaces": [text(b"the"), text(b" orde")], "canonical": [1, 3, 4],
        "canonical_surfaces": [text(b"the"), text(b" order"), text(b"Id\xff")], "of": "sentence",
    }  # fmt: skip
    return ForcedWitness(**{**fields, **changes})


ROW = Forced(
    "tokgate", "v", "none", 40, 50, 3, "own", "flexible", 5, 6, 200, 2, 1, seam=4, unsafe=7
)
CORPUS = ForcedCorpus(
    "own", "v", "flexible", 5, 6, 200, 1, 0, {"deep": "no answer within 1 s"}, 9, 0, {"a, b": 2}
)


def record(*witnesses: ForcedWitness) -> RunRecord:
    return RunRecord.from_events([*opening(), ROW, CORPUS, *witnesses, finished()])


def test_the_table_and_the_corpus() -> None:
    page = FORMATS["html"](record())
    assert "25.00 %" in page  # 50 of 200 tokens
    assert "(7.50 %)" in page  # 3 of 40 sequences
    assert "no answer within 1 s" in page
    assert "a, b ought to agree, and differ at 2 boundaries" in page
    [row] = forced_rows([ROW])
    assert (row.share, row.wrong) == ("25.00 %", "7.50 %")
    # Rows of a record made before shares were known have none.
    assert forced_rows([Forced("i", "v", "m", 0, 3, 0)])[0].share == ""


def test_a_failure_shows_where_the_tokens_part() -> None:
    [failure] = failures([witness()])
    assert [t.first for t in failure.tokens] == [False, True]
    assert [t.first for t in failure.canonical] == [False, True, False]
    assert failure.canonical[2].surface == "Id\\xff"
    page = FORMATS["html"](record(witness()))
    assert "a sentence of the grammar" in page
    assert "\u2423order" in page
    assert "&lt;b&gt;orders&lt;/b&gt;" in page
    assert "<b>orders</b>" not in page


def test_failures_are_bounded_by_method() -> None:
    many = [witness(schema=str(number)) for number in range(50)]
    assert len(failures([*many, witness(policy="printed")])) == EACH + 1


def test_the_summary_has_the_contract_of_both_commands() -> None:
    summary = json.loads(FORMATS["json"](record(witness())))
    [row] = summary["canonicality"]
    assert row["policy"] == row["method"] == "none"
    assert row["non_canonical_sequences"] == row["non_canonical"] == 3
    assert (row["tokens"], row["seam"], row["non_canonical_instances"]) == (200, 4, 2)
    assert summary["canonicality_corpora"][0]["failed"] == {"deep": "no answer within 1 s"}
    assert summary["canonicality_witnesses"][0]["schema"] == "<b>orders</b>"
