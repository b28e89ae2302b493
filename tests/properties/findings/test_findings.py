"""The tracker: violations become confirmed, minimised, bucketed findings; each is counted once."""

from __future__ import annotations

import base64
import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.events import Counted, Found
from harness.findings import patience
from harness.findings.questions import NEUTRAL
from tests.doubles.scenes import (
    Scene,
    Watched,
    expecting,
    right,
    time_to_shrink,
    wrong_at,
)
from tests.doubles.tracker_invariants import check_invariants

__all__ = ["time_to_shrink"]  # a fixture of every test


def test_a_finding_is_written_at_once_and_again_when_it_is_minimal():
    scene = Scene(ref=right, bad=wrong_at(b"!"))
    scene.check("equivalence", b"some text! and more")
    (first, last) = scene.told(Found)
    assert (first.minimal, last.minimal) == (False, True)
    assert base64.b64decode(first.input_b64) == b"some text! and more"
    assert last.replaces == first.id
    assert scene.dropped == [first.id]
    assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]
    assert scene.saved == [first.id, last.id]
    assert last.culprits == ["bad"]
    assert last.original_bytes == len(b"some text! and more")


def test_a_finding_has_the_same_name_whatever_input_showed_it():
    names = []
    for needle in (b"!", b"?"):
        scene = Scene(ref=right, bad=wrong_at(needle))
        scene.check("equivalence", b"text " + needle)
        [found] = scene.tracker.findings
        names.append(found.id)
    assert len({*names}) == 1


@pytest.mark.parametrize("data", [b"\xfe!", b"!\xfe"])
def test_ill_formed_bytes_that_are_known_hide_nothing_beside_them(data):
    def bad(data):
        odd = b"!" in data or data.decode(errors="ignore").encode() != data
        return [0] * len(data) if odd else right(data)

    scene = Scene(ref=right, bad=bad)
    scene.check("equivalence", b"\xff", data)
    assert {data for _, data in scene.found} == {b"\xff", b"!"}


def test_what_could_not_be_made_smaller_explains_nothing_later():
    scene = Watched(ref=right, bad=wrong_at(b"!"))
    scene.consider("equivalence", b"ab!cd")
    scene.pool.limit_by(lambda: float("inf"))
    scene.tracker.limit_by(lambda: float("inf"))
    scene.check("equivalence", b"ab!cde")
    assert b"!" in {data for _, data in scene.found}


def test_what_a_known_minimum_explains_is_counted_after_a_question_and_told_for_many():
    asked = []
    scene = Scene(ref=right, bad=lambda data: asked.append(data) or wrong_at(b"!")(data))
    scene.check("equivalence", b"a!")
    asked.clear()
    scene.check("equivalence", *[b"%d !" % i for i in range(50)])
    # Is anything still wrong without it, or with neutral text in its place?
    assert len(asked) <= 50 + 50 * len(NEUTRAL)
    assert scene.counts() == {"equivalence/bpe/raw/text/P/bad": 51}
    assert len(scene.found) == 1
    told = scene.told(Counted)
    assert len(told) < 10
    assert sum(event.more for event in told) == 51


@pytest.mark.parametrize("chance", [0.01, 0.1])
def test_a_flaky_answer_is_determinism_and_never_equivalence(chance):
    dice = random.Random(3)

    def flaky(data):
        return list(data[:-1]) if dice.random() < chance else list(data)

    scene = Scene(ref=right, bad=flaky)
    buckets = set(scene.check("equivalence", *[b"word%d" % i for i in range(4000)]))
    assert buckets == {"determinism/bpe/raw/order/any/bad"}


def test_what_an_earlier_call_left_behind_is_determinism():
    left = []

    def leaking(data):
        nonlocal left
        ids, left = [*left, *data], list(data[-1:]) if len(data) > 20 else []
        return ids

    scene = Scene(ref=right, bad=leaking)
    inputs = [bytes([65 + i % 26]) * (i % 40) for i in range(200)]
    buckets = set(scene.check("equivalence", *inputs))
    assert buckets == {"determinism/bpe/raw/order/any/bad"}
    # What else it then contradicts itself in is the same finding.
    assert set(scene.check("validity", *inputs)) == buckets


def test_a_death_is_on_record_before_it_is_tried_again():
    def dying(data):
        if b"!" in data:
            seen.append(len(scene.told(Found)))
            raise ValueError("no")
        return list(data)

    seen = []
    scene = Scene(ref=right, bad=dying)
    scene.check("survival", b"a long text!")
    assert seen[:2] == [0, 1]  # in the batch, and asked again alone
    assert scene.found == [("survival/bpe/raw/errored/P/bad", b"!")]


@pytest.mark.parametrize("who", ["bad", "npm:@huggingface/tokenizers"])
def test_nothing_is_on_record_that_may_be_expected_once_it_is_minimal(who):
    """A bucket was cut at the slash in a name, and its entry was overlooked until then."""
    entry = expecting(f"equivalence/bpe/raw/text/P/{who}", who=who, link="https://x")
    scene = Scene([entry], **{"ref": right, who: wrong_at(b"!")})
    scene.check("equivalence", b"some text!")
    [found] = scene.told(Found)
    assert (found.minimal, found.expected, found.link) == (True, "known", "https://x")


@pytest.mark.parametrize("excused", [False, True])
def test_what_differs_in_other_tokens_is_looked_into_though_its_share_of_the_time_is_spent(
    monkeypatch, excused
):
    monkeypatch.setattr(patience, "SHRINK_SHARE", 0.0)
    entry = expecting("equivalence/bpe/raw/text/P/bad")
    scene = Scene(
        [entry] if excused else [],
        ref=right,
        bad=lambda data: wrong_at(b"!")(data) if b"1" not in data else [0],
    )
    scene.tracker.limit_by(lambda: 60.0)
    assert scene.check("equivalence", b"!", b"a1", b"ab1") == [
        "equivalence/bpe/raw/text/P/bad",
        "equivalence/bpe/raw/text/N/bad",
        "equivalence/bpe/raw/text/N/bad",
    ]


@pytest.mark.parametrize("share", [0.0, 1e9])
def test_what_is_expected_whatever_its_kind_is_not_minimised_again(monkeypatch, share):
    monkeypatch.setattr(patience, "SHRINK_SHARE", share)
    entry = expecting("equivalence/bpe/raw/text/*/bad")
    scene = Scene([entry], ref=right, bad=lambda data: [0] if set(data) & set(b"!1") else [*data])
    scene.tracker.limit_by(lambda: 60.0)
    assert scene.check("equivalence", b"!", b"a1", b"ab1") == ["equivalence/bpe/raw/text/P/bad"] * 3
    assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]


FAULTS = {
    "wrong id": lambda data: [0, *data[1:]],
    "one more": lambda data: [*data, 1],
    "one less": lambda data: list(data[:-1]),
    "no id of it": lambda data: [9999],
    "raises": lambda data: [1 // 0],
}
"""How a planted encoder errs where it does."""


@given(
    wrong=st.dictionaries(
        st.sampled_from([b"", b"!", b"ab", b"\xff", b"1", " é".encode()]),
        st.sampled_from(sorted(FAULTS)),
        max_size=4,
    ),
    batches=st.lists(
        st.lists(st.lists(st.sampled_from(list("ab!1é\xff ")), max_size=9), max_size=6),
        min_size=1,
        max_size=4,
    ),
    kinds=st.lists(st.sampled_from(["*", "P", "L", "empty"]), max_size=2),
    flaky=st.booleans(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_tracker_knows_holds_together_after_every_violation(wrong, batches, kinds, flaky):
    turn = itertools.count(1)

    def bad(data):
        now = next(turn)
        for needle, fault in wrong.items():
            if needle in data and not (flaky and now % 3 == 0):
                return FAULTS[fault](data)
        return [*data]

    entries = [expecting(f"equivalence/bpe/raw/*/{kind}/bad") for kind in kinds]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience, "SHRINK_SHARE", 1e9)
        scene = Scene(entries, ref=right, bad=bad)
        for batch in batches:
            inputs = ["".join(letters).encode("latin-1") for letters in batch]
            for check in ("survival", "equivalence"):
                for data in inputs:
                    scene.check(check, data)
                    check_invariants(scene.tracker)
        copy = Scene(entries, ref=right, bad=bad).tracker
        copy.restore(scene.tracker.snapshot())
        check_invariants(copy)
        assert copy.snapshot() == scene.tracker.snapshot()
