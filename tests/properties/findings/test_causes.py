"""One cause is one finding: its kinds are variants, of which an expectation excuses its own."""

import pytest

from harness.events import any_kind, by_cause, cause_of, kind_in, readability
from harness.verdict.coverage import Coverage
from harness.verdict.gate import judge
from tests.doubles.scenes import Scene, expecting, right, time_to_shrink

__all__ = ["time_to_shrink"]  # a fixture of every test


def verdict(scene):
    return judge([], [], Coverage.of(scene.tracker.findings))


def test_a_cause_is_a_bucket_without_its_kind():
    bucket = "equivalence/bpe/raw/text/L+N/cmd:/usr/bin/mine a/b"
    assert cause_of(bucket) == "equivalence/bpe/raw/text/*/cmd:/usr/bin/mine a/b"
    assert kind_in(bucket) == "L+N"
    assert cause_of(cause_of(bucket)) == cause_of(bucket)
    assert expecting(cause_of(bucket)).covers(bucket, "v")
    assert not expecting(cause_of(bucket)).covers(bucket.replace("text", "ids"), "v")
    assert (cause_of("of another form"), kind_in("of another form")) == ("of another form", "")
    shown = [b"ab", b"longer", "\u00e9".encode(), "\u0378".encode(), b"\xff"]
    assert sorted({*shown}, key=readability) == shown


def careless(data):
    """One mistake, which shows on inputs of three kinds."""
    return [0 if byte in b"!z7" else byte for byte in data]


INPUTS = (b"x!x", b"-z-", b"-7-")


@pytest.mark.parametrize("order", [INPUTS, INPUTS[::-1]])
@pytest.mark.parametrize("left", ["P", "L", "N", "PL", "PLN"])
def test_whatever_the_order_only_what_is_expected_is_excused(left, order):
    others = [expecting(f"equivalence/bpe/raw/text/{one}/bad") for one in set("PLN") - set(left)]
    scene = Scene(others, ref=right, bad=careless)
    scene.check("equivalence", *order)
    assert {kind_in(name) for name, _ in scene.found} == {"P", "L", "N"}
    name = f"equivalence/bpe/raw/text/{left if len(left) == 1 else '*'}/bad"
    assert verdict(scene).reasons == (f"1 unexpected finding: {name}",)
    (alike,) = by_cause(scene.tracker.findings).values()
    assert alike[0].expected is None  # what a reader is shown first
    assert len(alike) == 3


SIMPLER = b"!a0"
"""Minimising puts the letter in place of the others, and the digit in place of the mark."""


@pytest.mark.parametrize("kind", ["P", "L", "N"])
@pytest.mark.parametrize("inputs", [(b"x!x", b"-a-", b"-0-"), (b"!a0",), (b"x!xx0x", b"--aa!")])
def test_minimising_does_not_lead_from_what_is_unexpected_to_what_is_expected(kind, inputs):
    others = [expecting(f"equivalence/bpe/raw/text/{one}/bad") for one in "PLN" if one != kind]

    def wrong(data):
        return [1 if byte in SIMPLER else byte for byte in data]

    for order in (inputs, inputs[::-1]):
        scene = Scene(others, ref=right, bad=wrong)
        scene.check("equivalence", *order)
        left = {kind_in(one.bucket) for one in scene.tracker.findings if one.expected is None}
        assert left == {kind}


def test_what_stands_out_is_a_cause_of_its_own_where_only_ids_are_known_to_differ():
    """A byte order mark that is treated wrongly, a letter, and an id of no token."""
    mark = "\ufeff".encode()

    def wrong(data):
        ids = list(data.replace(mark, b"\0\0\0").replace(b"z", b"\0"))
        return [*ids, 99_999] if b"?" in data else ids

    scene = Scene(ref=right, bad=wrong)
    scene.check("equivalence", b"a" + mark, b"az", b"x?x")
    assert set(by_cause(scene.tracker.findings)) == {
        f"equivalence/bpe/raw/{one}/bad" for one in ("text/Cf", "text/*", "unknown-id/*")
    }
    assert "3 unexpected findings" in verdict(scene).reasons[0]
    for stage in ("normalization", "tie"):
        bucket = f"equivalence/bpe/raw/{stage}/Cf/bad"
        assert cause_of(bucket) == any_kind(bucket) == f"equivalence/bpe/raw/{stage}/*/bad"
