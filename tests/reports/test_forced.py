"""Forced tokens in the reports: the table, and failures with both segmentations."""

from __future__ import annotations

import base64
import json

from harness.events import Event, Forced, ForcedCorpus, ForcedWitness, Started
from reports import FORMATS
from reports.blocks import Details, Heading
from reports.blocks.markdown import inline
from reports.forced import ALIKE_SHOWN, CELLS, EACH, aligned, failures
from reports.record import RunRecord
from tests.reports.records import finished, opening


def text(data):
    return base64.b64encode(data).decode()


def witness(**changes):
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


def record(*more):
    return RunRecord.from_events([*opening(), ROW, CORPUS, *more, finished()])


def test_the_table_and_the_corpus():
    page = FORMATS["html"](record())
    assert "25.00 %" in page  # 50 of 200 tokens
    assert "7.50 %" in page  # 3 of 40 sequences
    assert "no answer within 1 s" in page
    assert "a, b ought to agree, and differ at 2 boundaries" in page


def test_a_walk_of_a_corpus_says_what_held():
    started = [event for event in opening() if isinstance(event, Started)]
    walked = RunRecord.from_events([*started, ROW, CORPUS, finished()])
    assert "Exact forced no wrong token in" in FORMATS["html"](walked)


def test_a_failure_shows_where_the_tokens_part():
    forced, canonical = spelled(aligned(witness()))
    # the| orde      against the| order|Id\xff
    assert forced == [("the", 3, ""), ("\u2423orde", 5, "first")]
    assert canonical == [("the", 3, ""), ("\u2423order", 6, "first"), ("Id\\xff", 3, "other")]
    page = FORMATS["html"](record(witness()))
    assert "a sentence of the grammar" in page
    assert "\u2423order" in page
    assert "&lt;b&gt;orders&lt;/b&gt;" in page
    assert "<b>orders</b>" not in page


def spelled(found):
    return [[(one.surface, one.span, one.state) for one in row] for _, row in found.rows]


def test_a_seam_is_aligned_by_its_bytes():
    # After a, forced b; in the whole text both are one token.
    seam = witness(
        context=text(b"xa"), forced=text(b"b"), ids=[2], surfaces=[text(b"b")], canonical=[7],
        canonical_surfaces=[text(b"ab")], before=1,
    )  # fmt: skip
    assert spelled(aligned(seam)) == [[("", 1, "gap"), ("b", 1, "first")], [("ab", 2, "first")]]


def test_what_is_alike_is_counted_and_what_follows_is_bounded():
    letters = [text(b"a")] * 100
    long = witness(
        ids=[1] * 50 + [2] * 50, surfaces=letters, canonical=[1] * 50 + [3] * 50,
        canonical_surfaces=letters,
    )  # fmt: skip
    for alike, *shown, more in spelled(aligned(long)):
        assert (alike, more) == (("47 tokens alike", 1, "gap"), ("29 more tokens", 1, "gap"))
        assert len(shown) == CELLS
        states = [state for _, _, state in shown]
        assert states[: ALIKE_SHOWN + 2] == [""] * ALIKE_SHOWN + ["first", "other"]


def test_the_smallest_stands_beside_the_original():
    small = witness(schema="minimal", grammar='{"enum":["the <b>order"]}', context=text(b""))
    dressed = witness(grammar='{"title":"orders"}', minimal=small)
    plain = witness(schema="another")
    shown = [one for one in failures([plain, dressed]) if isinstance(one, Details)]
    assert [one.title for one in shown] == ["<b>orders</b>", "another"]
    page = FORMATS["html"](record(plain, dressed))
    assert "The smallest schema and text found" in page
    assert "{&#34;enum&#34;:[&#34;the &lt;b&gt;order&#34;]}" in page
    assert "{&#34;title&#34;:&#34;orders&#34;}" in page
    # And it travels with the record.
    event = Event.from_json(dressed.to_json())
    assert event == dressed


def test_failures_are_bounded_by_method():
    many = [witness(schema=str(number)) for number in range(50)]
    shown = list(failures([*many, witness(policy="printed")]))
    assert len(shown) == 1 + EACH + 1 + 1
    assert [inline(one.text) for one in shown if isinstance(one, Heading)] == [
        "none errs v, 50 failures", "printed errs v, 1 failure",
    ]  # fmt: skip


def test_the_summary_has_the_contract_of_both_commands():
    summary = json.loads(FORMATS["json"](record(witness())))
    [row] = summary["canonicality"]
    assert row["policy"] == row["method"] == "none"
    assert row["non_canonical_sequences"] == row["non_canonical"] == 3
    assert (row["tokens"], row["seam"], row["non_canonical_instances"]) == (200, 4, 2)
    assert summary["canonicality_corpora"][0]["failed"] == {"deep": "no answer within 1 s"}
    assert summary["canonicality_witnesses"][0]["schema"] == "<b>orders</b>"
