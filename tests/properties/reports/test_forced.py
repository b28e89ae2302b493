"""Forced tokens in the reports: the table, and failures with both segmentations."""

import base64

from harness.events import Event, Forced, ForcedCorpus, ForcedWitness
from reports.blocks import Code, Details, Heading, walk
from reports.blocks.markdown import inline
from reports.forced import ALIKE_SHOWN, CELLS, EACH, aligned, failures
from reports.record import RunRecord
from tests.properties.reports.records import finished, opening, started


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


def walked():
    """A walk of a corpus, in which no implementation takes part."""
    return RunRecord.from_events([started(), ROW, CORPUS, finished()])


def spelled(found):
    return [[(one.surface, one.span, one.state) for one in row] for _, row in aligned(found).rows]


def test_tokens_are_aligned_by_their_bytes():
    # the| orde      against the| order|Id\xff
    assert spelled(witness()) == [
        [("the", 3, ""), ("␣orde", 5, "first")],
        [("the", 3, ""), ("␣order", 6, "first"), ("Id\\xff", 3, "other")],
    ]
    # After a, forced b; in the whole text both are one token.
    seam = witness(
        context=text(b"xa"), forced=text(b"b"), ids=[2], surfaces=[text(b"b")], canonical=[7],
        canonical_surfaces=[text(b"ab")], before=1,
    )  # fmt: skip
    assert spelled(seam) == [[("", 1, "gap"), ("b", 1, "first")], [("ab", 2, "first")]]


def test_what_is_alike_is_counted_and_what_follows_is_bounded():
    letters = [text(b"a")] * 100
    long = witness(
        ids=[1] * 50 + [2] * 50, surfaces=letters, canonical=[1] * 50 + [3] * 50,
        canonical_surfaces=letters,
    )  # fmt: skip
    for alike, *shown, more in spelled(long):
        assert (alike, more) == (("47 tokens alike", 1, "gap"), ("29 more tokens", 1, "gap"))
        assert len(shown) == CELLS
        states = [state for _, _, state in shown]
        assert states[: ALIKE_SHOWN + 2] == [""] * ALIKE_SHOWN + ["first", "other"]


def test_the_smallest_stands_beside_the_original_and_failures_are_bounded_by_method():
    small = witness(schema="minimal", grammar='{"enum":["the <b>order"]}', context="")
    dressed = witness(grammar='{"title":"orders"}', minimal=small)
    assert Event.from_json(dressed.to_json()) == dressed
    many = [witness(schema=str(number)) for number in range(50)]
    shown = [*failures([*many, dressed, witness(policy="printed")])]
    assert [inline(one.text) for one in shown if isinstance(one, Heading)] == [
        "none errs v, 51 failures", "printed errs v, 1 failure",
    ]  # fmt: skip
    titles = [one.title for one in shown if isinstance(one, Details)]
    assert titles == ["<b>orders</b>", *map(str, range(EACH - 1)), "<b>orders</b>"]
    grammars = [one.text for one in walk(shown) if isinstance(one, Code)]
    assert grammars == [small.grammar, dressed.grammar]
