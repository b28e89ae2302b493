"""The page of a survey: what each match came to, and how many of each kind there are."""

import json
from html import unescape

import pytest

from harness.events import (
    UNEXAMINED,
    BatchDone,
    ContractOpened,
    Finished,
    MatchPlayed,
    Withdrawn,
)
from reports.field import document, files, verdict
from reports.record import RunRecord
from tests.reports import records

OPENED = ContractOpened("toy/text", "bpe", "toy", "text", ["lib", "ref"], ["ref"], {}, ["a"])
BATCH = BatchDone("toy/text", "edge", 50, 500, 50, {"equivalence": {"lib": 50, "ref": 50}}, {})


def ended(value="pass", reasons=(), *, complete=True):
    return Finished(complete, value, list(reasons), 1.0, 50, 50, 0)


def played(*events, library="lib"):
    record = RunRecord.from_events([records.started(), OPENED, BATCH, *events])
    return MatchPlayed(library, "1.0", "", "toy", "ref", f"{library}/toy"), record


CUT = played(ended("fail", ("interrupted: what was found so far is here",), complete=False))
GONE = played(Withdrawn("lib", "toy", "it died 3 times"), ended())
UNENDED = played()
UNSEEN = played(ended(UNEXAMINED, ("lib answered none of 50 inputs",)))


@pytest.mark.parametrize(
    ("one", "kind", "detail"),
    [
        (played(ended()), "agrees", "50 comparisons with ref"),
        (CUT, "broke-off", "interrupted: what was found so far is here; 50 comparisons with ref"),
        (GONE, "broke-off", "it died 3 times; 50 comparisons with ref"),
        (UNENDED, "broke-off", "the record ends before the run did"),
        (UNSEEN, "not-examined", "lib answered none of 50 inputs"),
    ],
)
def test_what_broke_off_does_not_agree(one, kind, detail):
    said = verdict(*one)
    assert said["kind"] == kind
    assert detail in said["detail"]
    assert (said["text"] == "agrees") == (kind == "agrees")


def test_differences_count_where_a_match_broke_off_and_it_says_so():
    found = records.found("f-1", b"x", culprits=["lib"])
    said = verdict(*played(found, Withdrawn("lib", "toy", "it died 3 times"), ended("fail")))
    assert (said["kind"], said["text"]) == ("differs", "1 difference")
    assert "it died 3 times" in said["detail"]


def test_the_summary_counts_each_kind():
    every = [
        played(ended(), library="right"), played(ended(), library="other"), CUT,
        (MatchPlayed("none", "1", "", "toy", "ref", "none/toy", "byte-level only"), None),
    ]  # fmt: skip
    page = document(every, "2026", "tokgate field", complete=True, speed=False)
    line = "4 matches: 2 agree, 1 broke off, 1 not run"
    assert page["summary"] == line
    (_, text), (_, html), (_, markdown) = files(page)
    assert json.loads(text)["summary"] == line
    assert line in unescape(markdown)
    assert line in html
    assert 'class="broke-off"' in html
