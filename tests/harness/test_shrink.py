"""Minimising: small, deterministic, never longer, never another failure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.findings.shrink import ROUND_BYTES, shrink

AMPLE = 30.0


def asking(fails):
    return lambda candidates: [fails(candidate) for candidate in candidates]


@pytest.mark.parametrize(
    ("data", "fails", "smallest"),
    [
        (b"some text with an x in it", lambda d: b"x" in d, b"x"),
        (b"abc" * 100, lambda d: len(d) > 4, b"aaaaa"),
        ("über den Wölken".encode(), lambda d: "ö" in d.decode(), "ö".encode()),
        (b"\xff\x00\xfe" * 9, lambda d: b"\xfe" in d, b"\xfe"),
        (b"(()())", lambda d: d.count(b"(") == d.count(b")") > 0, b"()"),
        (b"anything", lambda _: True, b""),
    ],
)
def test_the_smallest_is_found(data, fails, smallest):
    assert shrink(data, asking(fails), AMPLE) == (smallest, True)


@given(st.binary(max_size=30), st.sets(st.integers(0x80, 0xBF), min_size=1, max_size=2))
def test_the_result_fails_and_is_no_longer(data, wanted):
    def fails(candidate):
        return wanted <= set(candidate)

    whole = b"\xff" + data + bytes(sorted(wanted))  # never UTF-8, so its atoms are bytes
    found, ended = shrink(whole, asking(fails), AMPLE)
    assert ended
    assert fails(found)
    # Those bytes, or the characters that they are in: text shrinks by characters.
    assert len(found) <= 4 * len(wanted)
    assert shrink(whole, asking(fails), AMPLE) == (found, True)


@pytest.mark.parametrize("text", ["über den Wölken, (und) darunter", "ab" * 90, "x", ""])
def test_however_many_are_asked_at_once_the_same_is_found(text):
    def fails(data):
        return {*text[:1], *text[-1:]} <= set(data.decode())

    found, requests = [], []
    for most in (1, 4, 64):
        asked = []

        def failing(candidates, asked=asked):
            asked.append(len(candidates))
            return [fails(candidate) for candidate in candidates]

        found.append(shrink(text.encode(), failing, AMPLE, most=most))
        requests.append(len(asked))
        assert max(asked, default=0) <= most
    assert found[0] == found[1] == found[2]
    assert requests[0] > requests[1] > requests[2] or len(text) < 2


def test_when_time_is_up_what_was_reached_is_given():
    found, ended = shrink(b"x" * 1000, asking(lambda d: len(d) > 3), 0.0)
    assert not ended
    assert 3 < len(found) <= 1000


def test_a_word_in_a_long_text_is_found_with_little_asked():
    data = b"lorem ipsum " * 800 + b"needle" + b" dolor sit" * 800
    requests = []

    def failing(candidates):
        requests.append(sum(map(len, candidates)))
        return [b"needle" in one for one in candidates]

    assert shrink(data, failing, AMPLE) == (b"needle", True)
    # Who else asks the same workers never waits for more than one input and a full request.
    assert max(requests) < len(data) + ROUND_BYTES
    assert sum(requests) < 5 * len(data)


def test_in_a_run_of_one_character_no_candidate_is_tried_twice():
    data = b"7" * 200 + b"!"
    passed = set()
    rounds = 0

    def failing(candidates):
        nonlocal rounds
        rounds += 1
        assert len({*candidates}) == len(candidates)
        assert passed.isdisjoint(candidates)
        # Not all may be made simpler at once, nor one of them alone.
        shown = [
            len(one) >= 120 and one.endswith(b"!") and one.count(b"7") not in {0, 1}
            for one in candidates
        ]
        passed.update(candidates[: shown.index(True)] if True in shown else candidates)
        return shown

    assert shrink(data, failing, AMPLE) == (b"a" * 117 + b"77!", True)
    assert rounds < 60
