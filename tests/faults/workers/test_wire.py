"""What passes between the harness and its processes: read as written, and never as garbage."""

import io
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.messages import Loaded
from harness.core.outcomes import Encoded, Failed, Rejected, Results, Spent, Status
from harness.events import ForcedWitness
from harness.studies.forced.adversary import Caught, Round
from harness.studies.forced.counterexamples import Counterexample
from harness.studies.forced.jobs import MinimiseWitness, WalkSchema
from harness.studies.forced.results import Tally, Walked
from harness.workers import wire

numbers = st.integers(-(2**31), 2**31 - 1)
encodings = st.lists(st.tuples(numbers, st.tuples(numbers, numbers)), max_size=5).map(
    lambda rows: Encoded(
        tuple(i for i, _ in rows), text=bytes(len(rows)), offsets=tuple(span for _, span in rows)
    )
)
plain = st.one_of(
    st.lists(numbers, max_size=5).map(lambda ids: Encoded(tuple(ids))),
    st.text(max_size=20).map(Rejected),
    st.builds(Failed, st.sampled_from([Status.ERRORED, Status.CRASHED]), st.text(max_size=20)),
)


def read(message, kind, sequence=1, count=1):
    """What the harness makes of a message."""
    size = wire.PREFIX.size + wire.length_of(message)
    if size != len(message):
        raise EOFError
    return wire.answer_of(wire.unpacked(message), sequence, kind, count)


@given(
    st.lists(plain, max_size=8) | st.lists(encodings, max_size=8), st.integers(0, 2**40), st.data()
)
def test_results_arrive_as_they_were_sent(sent, sequence, data):
    width = data.draw(st.integers(1, 3))
    costs = np.arange(width * len(sent)).reshape(-1, width) if sent else None
    results = replace(Results.of(sent), costs=costs, timed=Spent(1, 2, 3, 4))
    found = read(wire.packed_answer(sequence, results), Results, sequence, len(sent))
    if any(one.ids for one in sent if isinstance(one, Encoded)):  # else there are no offsets
        assert list(found) == sent
    assert found.messages == results.messages
    assert np.array_equal(found.costs, costs) if sent else found.costs is None
    assert found.timed == results.timed


def test_a_request_arrives_and_a_part_of_one_is_the_end():
    message = wire.packed_request(7, ["asked"])
    assert wire.read_request(io.BytesIO(message).read) == (7, ["asked"])
    for cut in range(len(message)):
        assert wire.read_request(io.BytesIO(message[:cut]).read) is None


WITNESS = ForcedWitness("v", "p", "s", "", "", "", [1], [""], [2], [""], "instance")
RESULT = Walked(1, 1, 2, tallies={"exact": Tally(sequences=3)}, witnesses=[WITNESS])
COUNTEREXAMPLE = Counterexample("v", "exact", "chain", b"", b"\xff", (b"a", b"\x80"), 2)


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (Loaded, Loaded("no\nway \ud800", "unsupported")),
        (Loaded, Loaded()),
        (list[bytes], [b"", b"\xff"]),
        (WalkSchema.answer, RESULT),
        (WalkSchema.answer | str, Walked(failed={"\udc80": "\ud800"})),
        (WalkSchema.answer | str, "it broke \ud800"),
        (MinimiseWitness.answer, [WITNESS]),
        (Round.answer, Caught(400, COUNTEREXAMPLE)),
    ],
)
def test_each_answer_comes_back_as_it_was(kind, answer):
    message = wire.packed_answer(5, answer)
    assert read(message, kind, 5) == answer
    with pytest.raises(wire.Garbled, match="answered request 6 with an answer to 5"):
        read(message, kind, 6)
    for other in (list[int], Results):
        with pytest.raises(wire.Garbled, match="another kind"):
            read(message, other, 5)


def test_a_sign_of_life_is_no_answer_and_none_comes_before_a_batch():
    beat = wire.packed_answer(1, None)
    assert read(beat, Walked) is None
    with pytest.raises(wire.Garbled, match="answered request 2 with an answer to 1"):
        read(beat, Walked, 2)
    for kind in (Results, Loaded):
        with pytest.raises(wire.Garbled, match="to another kind of request"):
            read(beat, kind)


GOOD = wire.packed_answer(3, Results.of([Encoded((1, 2)), Rejected("no")]))


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_one_changed_byte_is_noticed(place, change):
    changed = bytearray(GOOD)
    changed[place] ^= change
    with pytest.raises((wire.Garbled, EOFError)):  # a shorter claim leaves bytes over
        read(bytes(changed), Results, 3, 2)


@given(st.binary(min_size=wire.PREFIX.size, max_size=200))
def test_garbage_is_never_an_answer(data):
    with pytest.raises(wire.Garbled):
        read(data, Results)


def test_an_answer_is_bounded_by_what_was_asked():
    largest = wire.largest(1000)
    assert wire.BESIDE < largest < wire.LIMIT == wire.largest(1 << 40)
    assert wire.length_of(wire.PREFIX.pack(wire.MAGIC, largest, 0), largest) == largest
    for claimed in (largest + 1, 0):
        with pytest.raises(wire.Garbled, match="more than an answer may have"):
            wire.length_of(wire.PREFIX.pack(wire.MAGIC, claimed, 0), largest)


ONE = {"status": b"\0", "ids": b"", "ends": bytes(8)}


def sent(*content):
    """A message with a right checksum."""
    return wire.framed(msgspec.msgpack.encode(content))


def forged(**fields):
    """A message with a right checksum, of one row, in which some fields are others."""
    return sent(1, {**ONE, **fields})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"status": None}, "status: a bytes-like object is required"),
        ({"status": b""}, "gave 0 outcomes for 1 inputs"),
        ({"ends": bytes(7)}, "ends: buffer size must be a multiple"),
        ({"ends": bytes(16)}, "gave 1 outcomes for 1 inputs"),
        ({"status": b"\x63"}, "an outcome of an unknown kind"),
        ({"ends": b"\xff" * 8}, "ends that go backwards"),
        ({"ends": b"\x01" + bytes(7)}, "ends that go backwards or too far"),
        ({"text": {"data": b"", "ends": b"\x01" + bytes(7)}}, "ends of texts that go backwards"),
        ({"text": {"data": b"", "ends": bytes(16)}}, "texts for another number"),
        ({"messages": {5: "x"}}, "a message for no input"),
        ({"messages": {"a": "x"}}, "expected `int`"),
        ({"timed": [1, 2]}, "timed: expected `object | null`"),
        ({"timed": {"cpu": -1, "wall": 1, "passes": 1}}, "timed.cpu: expected `int` >= 0"),
        ({"costs": b""}, "costs"),
        ({"offsets": bytes(16)}, "offsets"),
    ],
)
def test_a_well_formed_message_that_says_nonsense_is_garbage(fields, why):
    with pytest.raises(wire.Garbled, match=why) as raised:
        read(forged(**fields), Results)
    assert str(raised.value).isprintable()


DEEP = b"[" * 100_000
LOADED = b'{"error": null, "kind": %s, "spent": %s}'


@pytest.mark.parametrize(
    "message",
    [
        wire.framed(b"\x91" * 100_000),
        sent(),
        sent("1", ONE),
        sent(1 << 63, ONE),
        sent(1, "x"),
        sent(1, b"{}x"),
        sent(1, b"[]"),
        sent(1, DEEP),
        sent(1, LOADED % (DEEP, b"1")),
        sent(1, LOADED % (b'""', b"1" + b"0" * 10_000)),
        sent(1, LOADED % (b'""', b"-1")),
        sent(1, LOADED % (b'"%s"' % (b"x" * 100), b"1")),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(message):
    with pytest.raises(wire.Garbled) as raised:
        read(message, Loaded)
    assert len(str(raised.value)) < 300
    assert str(raised.value).isprintable()


def test_what_is_forged_would_be_an_answer_to_one_input():
    found = read(forged(), Results)
    assert found is not None and found.outcome(0) == Encoded(())
    three = forged(status=bytes(2), ends=bytes(16), costs=bytes(24))
    with pytest.raises(wire.Garbled, match="costs"):
        read(three, Results, count=2)


def test_messages_are_cut_by_the_harness_itself():
    long = "x" * (wire.MESSAGE_LIMIT + 1)
    found = read(forged(status=b"\3", messages={0: long}), Results)
    assert len(found.messages[0]) == wire.MESSAGE_LIMIT
