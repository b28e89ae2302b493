"""What passes between the harness and its workers: read as written, and never as garbage."""

from __future__ import annotations

import json
import zlib
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.messages import Encode, Loaded
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Rejected, Results, Spent, Status
from harness.workers import wire
from impls.interface import Mode

ids = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5).map(tuple)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    ids.map(Encoded),
    st.text(max_size=20).map(Rejected),
    st.builds(Failed, st.sampled_from([Status.ERRORED, Status.CRASHED]), st.text(max_size=20)),
)


def read(message: bytes, sequence: int, count: int) -> Loaded | Results:
    """What the harness makes of a message."""
    stream = BytesIO(message)

    def exactly(size: int) -> bytes:
        found = stream.read(size)
        if len(found) < size:
            raise EOFError
        return found

    head, body, checksum = wire.lengths_of(exactly(wire.PREFIX.size))
    unpacked = wire.unpacked(exactly(head), exactly(body), checksum)
    assert stream.read() == b""
    return wire.response_of(unpacked, sequence, count)


@given(st.lists(outcomes, max_size=8), st.integers(0, 2**40))
def test_results_arrive_as_they_were_sent(sent: list[Outcome], sequence: int) -> None:
    results = Results.of(sent)
    found = read(wire.packed_results(sequence, results), sequence, len(sent))
    assert isinstance(found, Results)
    assert [found.outcome(row) for row in range(len(sent))] == sent
    assert found.messages == results.messages


def test_texts_offsets_costs_and_times_arrive() -> None:
    outcome = Encoded((1, 2), text=b"ab", offsets=((0, 1), (1, 2)))
    results = Results.of([outcome])
    found = read(wire.packed_results(1, results), 1, 1)
    assert isinstance(found, Results)
    assert found.outcome(0) == outcome
    costly = Results(
        results.status, results.ids, results.ends, costs=np.array([[3, 4]]), timed=Spent(1, 2, 3, 4)
    )
    found = read(wire.packed_results(1, costly), 1, 1)
    assert isinstance(found, Results)
    assert found.costs is not None
    assert found.costs.tolist() == [[3, 4]]
    assert found.timed == Spent(1, 2, 3, 4)


def test_what_became_of_a_vocabulary_arrives() -> None:
    loaded = Loaded("no\nway \ud800", "unsupported")
    assert read(wire.packed_loaded(7, loaded), 7, 0) == loaded
    assert read(wire.packed_loaded(7, Loaded()), 7, 0) == Loaded()


def test_a_request_arrives() -> None:
    request = Encode(Inputs.of([b"a", b"bc"]), Mode())
    stream = BytesIO(wire.packed_request(5, request))
    received = wire.read_request(stream.read)
    assert received is not None
    assert received[0] == 5
    assert isinstance(received[1], Encode)
    assert list(received[1].inputs) == [b"a", b"bc"]
    assert wire.read_request(stream.read) is None


GOOD = wire.packed_results(3, Results.of([Encoded((1, 2)), Rejected("no")]))


@pytest.mark.parametrize(
    ("sequence", "count", "why"),
    [(4, 2, "answered request 4 with an answer to 3"), (3, 1, "gave 2 outcomes for 1 inputs")],
)
def test_the_answer_to_another_request_is_garbage(sequence: int, count: int, why: str) -> None:
    with pytest.raises(wire.Garbled, match=why):
        read(GOOD, sequence, count)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_one_changed_byte_is_noticed(place: int, change: int) -> None:
    changed = bytearray(GOOD)
    changed[place] ^= change
    with pytest.raises((wire.Garbled, EOFError)):
        # A shorter or longer claim leaves bytes over, or finds too few.
        try:
            read(bytes(changed), 3, 2)
        except AssertionError as error:
            raise EOFError from error


@given(st.binary(min_size=wire.PREFIX.size, max_size=200))
def test_garbage_is_never_an_answer(data: bytes) -> None:
    with pytest.raises((wire.Garbled, EOFError)):
        read(data, 1, 1)


def test_a_header_that_claims_too_much_is_not_believed() -> None:
    prefix = wire.PREFIX.pack(wire.MAGIC, 10, 2**40, 0)
    with pytest.raises(wire.Garbled, match="more than an answer may have"):
        wire.lengths_of(prefix)


def test_an_answer_is_bounded_by_what_was_asked() -> None:
    asked = 1000
    largest = wire.largest_body(asked)
    assert wire.BODY_BESIDE < largest < wire.BODY_LIMIT == wire.largest_body(1 << 40)
    fits = wire.PREFIX.pack(wire.MAGIC, 10, largest, 0)
    assert wire.lengths_of(fits, largest) == (10, largest, 0)
    with pytest.raises(wire.Garbled, match="more than an answer may have"):
        wire.lengths_of(wire.PREFIX.pack(wire.MAGIC, 10, largest + 1, 0), largest)


def forged(header: dict[str, object], body: bytes = b"") -> bytes:
    """A message with a right checksum and whatever header."""
    head = json.dumps({"seq": 1, "kind": "results", "messages": [], **header}).encode()
    return wire.PREFIX.pack(
        wire.MAGIC, len(head), len(body), zlib.crc32(body, zlib.crc32(head))
    ) + (head + body)


ROW = bytes([0]) + np.array([0], dtype="<i8").tobytes()
ONE = {"status": 1, "ids": 0, "ends": 1}


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (forged({"kind": "pickle"}), "of no kind"),
        (forged({"columns": {"status": 1}}, b"\0"), "lacks a column"),
        (forged({"columns": {"status": -1}}), "does not fit"),
        (forged({"columns": {"status": 10**9}}), "does not fit"),
        (forged({"columns": ONE}, ROW + b"x"), "more bytes than columns"),
        (forged({"columns": ONE}, b"\x63" + ROW[1:]), "an outcome of no kind"),
        (forged({"columns": ONE}, b"\0" + b"\xff" * 8), "ends that go backwards"),
        (
            forged({"columns": ONE}, b"\0" + b"\x01" + b"\0" * 7),
            "ends that go backwards or too far",
        ),
        (forged({"columns": ONE, "messages": [[5, "x"]]}, ROW), "a message that is none"),
        (forged({"columns": ONE, "messages": [["a", "x"]]}, ROW), "a message that is none"),
        (forged({"columns": ONE, "messages": {}}, ROW), "no messages"),
        (forged({"columns": ONE, "timed": [1, 2]}, ROW), "times that are none"),
        (forged({"columns": {**ONE, "costs": 3}, "width": 2}, ROW + b"\0" * 24), "costs"),
        (forged({"columns": {**ONE, "costs": 0}, "width": 2**62}, ROW), "costs"),
        (forged({"columns": {**ONE, "costs": 0}, "width": 2}, ROW), "costs"),
        (forged({"columns": {**ONE, "offsets": 2}}, ROW + b"\0" * 16), "offsets"),
        (forged({"kind": "loaded", "error": 3, "is": ""}), "no text"),
    ],
)
def test_a_well_formed_message_that_says_nonsense_is_garbage(message: bytes, why: str) -> None:
    with pytest.raises(wire.Garbled, match=why):
        read(message, 1, 1)


def framed(head: bytes) -> bytes:
    """A message with a right checksum, whose header is any bytes."""
    return wire.PREFIX.pack(wire.MAGIC, len(head), 0, zlib.crc32(head)) + head


DEEP = b"[" * 100_000
NESTED = b"[" * 400 + b"]" * 400


@pytest.mark.parametrize(
    "head",
    [
        DEEP,
        b'{"seq": 1, "kind": "results", "columns": {}, "messages": ' + DEEP,
        b'{"seq": %s}' % NESTED,
        b'{"seq": 1, "kind": %s}' % NESTED,
        b'{"seq": 1%s}' % (b"0" * 10_000),
    ],
)
def test_a_header_of_deep_lists_or_long_numbers_is_garbage(head: bytes) -> None:
    with pytest.raises(wire.Garbled) as raised:
        read(framed(head), 1, 1)
    assert len(str(raised.value)) < 300


def test_messages_are_cut_by_the_harness_itself() -> None:
    long = "x" * (wire.MESSAGE_LIMIT + 1)
    found = read(forged({"columns": ONE, "messages": [[0, long]]}, b"\3" + ROW[1:]), 1, 1)
    assert isinstance(found, Results)
    assert len(found.messages[0]) == wire.MESSAGE_LIMIT
    loaded = read(forged({"kind": "loaded", "error": long, "is": "errored"}), 1, 0)
    assert isinstance(loaded, Loaded)
    assert len(loaded.error or "") == wire.MESSAGE_LIMIT
