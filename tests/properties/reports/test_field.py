"""The page of a survey: what each match came to, and how many of each kind there are."""

import pytest

from harness.events import (
    UNEXAMINED,
    BatchDone,
    ContractOpened,
    FamiliesMeasured,
    Finished,
    MatchPlayed,
    Measured,
    Withdrawn,
)
from reports.field import document, verdict
from reports.record import RunRecord
from tests.properties.reports import records

OPENED = ContractOpened("toy/text", "bpe", "toy", "text", ["lib", "ref"], ["ref"], {}, ["a"])
BATCH = BatchDone("toy/text", "edge", 50, 500, 50, {"equivalence": {"lib": 50, "ref": 50}}, {})
GONE = Withdrawn("lib", "toy", "it died 3 times")


def ended(value="pass", reasons=(), *, complete=True):
    return Finished(complete, value, list(reasons), 1.0, 50, 50, 0)


def played(*events, library="lib"):
    record = RunRecord.from_events([records.started(), OPENED, BATCH, *events])
    return MatchPlayed(library, "1.0", "", "toy", "ref", f"{library}/toy"), record


CUT = played(ended("fail", ("interrupted: these are the results so far",), complete=False))


@pytest.mark.parametrize(
    ("match", "kind", "text", "detail"),
    [
        (played(ended()), "agrees", "agrees", "50 comparisons with ref"),
        (CUT, "broke-off", "broke off",
         "interrupted: these are the results so far; 50 comparisons with ref"),
        (played(GONE, ended()), "broke-off", "broke off",
         "it died 3 times; 50 comparisons with ref"),
        (played(), "broke-off", "broke off", "the record is incomplete"),
        (played(ended(UNEXAMINED, ("lib answered none of 50 inputs",))), "not-examined",
         "not examined", "lib answered none of 50 inputs"),
        # Differences count where a match broke off, and it says so.
        (played(records.found("f-1", b"x", culprits=["lib"]), GONE, ended("fail")), "differs",
         "1 difference", "it died 3 times"),
    ],
)  # fmt: skip
def test_what_broke_off_does_not_agree(match, kind, text, detail):
    said = verdict(*match)
    assert (said["kind"], said["text"]) == (kind, text)
    assert detail in said["detail"]


CHOSEN = [f"family-{number}" for number in range(13)]
FAMILIES = FamiliesMeasured("toy", 40, CHOSEN, CHOSEN[3:])


@pytest.mark.parametrize(
    ("verdicts", "more", "said"),
    [
        ([], [], "Growth was not measured."),
        ([], [FAMILIES], "Growth was not measured. There was no time for 10 more cells."),
        (["linear"], [FAMILIES], "1 cell (a library on a family) measured: none superlinear or "
         "failed, 0 inconclusive. There was no time for 10 more cells."),
        (["superlinear"], [], "1 cell (a library on a family) measured: 1 superlinear or failed, 0 "
         "inconclusive."),
    ],
)  # fmt: skip
def test_a_statement_on_growth_names_what_was_measured(verdicts, more, said):
    match = MatchPlayed("mine", "1", "", "toy", "right", "mine/toy")
    grown = [Measured("mine", "toy", "a", 1.0, 0.9, 1.1, one, [[256, 0.1]]) for one in verdicts]
    told = [(match, RunRecord.from_events([*grown, *more]))]
    page = document(told, "now", "tokgate field", complete=True, speed=False)
    assert page["growth_scope"] == said
