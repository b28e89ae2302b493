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
        (b"abc" * 100, lambda d: len(d) > 4, b"aaaaa"),
        ("über den Wölken".encode(), lambda d: "ö" in d.decode(), "ö".encode()),
        (b"(()())", lambda d: d.count(b"(") == d.count(b")") > 0, b"()"),
        (b"anything", lambda _: True, b""),
    ],
)
def test_the_smallest_is_found(data, fails, smallest):
    assert shrink(data, asking(fails), AMPLE) == (smallest, True)


@given(
    st.binary(max_size=30) | st.text(max_size=30).map(str.encode),
    st.sets(st.integers(0, 0xBF), min_size=1, max_size=2),
    st.booleans(),
)
def test_what_is_found_fails_is_small_and_the_same_however_many_are_asked_at_once(
    data, wanted, ill
):
    whole = b"\xff" * ill + data + bytes(sorted(wanted))
    found, requests = set(), []
    for most in (1, 4, 64):
        asked = []

        def failing(candidates, asked=asked):
            asked.append(len(candidates))
            return [wanted <= {*one} for one in candidates]

        found.add(shrink(whole, failing, AMPLE, most=most))
        requests.append(len(asked))
        assert max(asked, default=0) <= most
    [(smallest, ended)] = found
    assert ended and wanted <= {*smallest}
    # Those bytes, or the characters that they are in: text shrinks by characters.
    assert len(smallest) <= 4 * len(wanted)
    assert requests == sorted(requests, reverse=True)


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
    passed, rounds = set(), []

    def failing(candidates):
        rounds.append(len(candidates))
        assert len({*candidates}) == len(candidates)
        assert passed.isdisjoint(candidates)
        # Not all may be made simpler at once, nor one of them alone.
        shown = [
            len(one) >= 120 and one.endswith(b"!") and one.count(b"7") not in {0, 1}
            for one in candidates
        ]
        passed.update(candidates[: shown.index(True)] if True in shown else candidates)
        return shown

    assert shrink(b"7" * 200 + b"!", failing, AMPLE) == (b"a" * 117 + b"77!", True)
    assert len(rounds) < 60
