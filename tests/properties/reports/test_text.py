"""Odd characters: literals evaluate to the input, and nothing invisible is left."""

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from corpora.plain_text import printable, printable_line, shows
from reports.text import code_points, literal, surface
from tests.properties.reports.records import NASTY


def value(code):
    """What a literal evaluates to; repetitions and sums by eval of our own output."""
    made = eval(code, {"__builtins__": {}})
    return made.encode() if isinstance(made, str) else made


def parts(most):
    """Bytes, and text of several scripts."""
    text = st.text("ab\n'\\\u00e9\u0301\u05d0\u4e00\u202e\U0001f642", max_size=most)
    return st.binary(max_size=most) | text.map(str.encode)


REPEATED = st.builds(
    lambda before, unit, times, after: before + unit * (times * 300 // (len(unit) or 1)) + after,
    parts(50), parts(20), st.integers(0, 9), parts(50),
)  # fmt: skip


@given(REPEATED, st.sampled_from([100, 400, 4000]))
@example(NASTY["megabyte"], 400)
@example(NASTY["noise"], 400)
@example("\u05d0 1".encode(), 400)
@example(b"\xff" * 99 + b"a", 399)
@example(b"\xff" * 99 + b"a", 400)
@example("".join(chr(0x4E00 + i * 7 % 20000) for i in range(5000)).encode(), 100)
def test_a_literal_evaluates_to_the_input_up_to_a_character(data, limit):
    shown = literal(data, limit)
    assert all(shows(char) and char != "\u05d0" for char in shown.code)
    made = value(shown.code)
    assert data.startswith(made)
    assert len(made) + shown.missing == len(data)
    assert len(shown.code) <= limit + len("b''") or shown.missing == 0
    # No more is left out than there is no room for.
    assert shown.missing == 0 or len(shown.code) > limit // 8
    assert shown.missing == 0 or len(data) > limit or len(repr(data)) > limit
    assert (str(shown) == shown.code) is (shown.missing == 0)


@given(st.binary(min_size=1, max_size=64), st.binary(max_size=50), st.integers(0, 64))
def test_repetition_is_folded(unit, before, after):
    data = before + unit * 4000 + unit[:after] + b"!"
    shown = literal(data, 2000)
    assert len(shown.code) < 2000
    assert "*" in shown.code
    assert (value(shown.code), shown.missing) == (data, 0)


def test_free_text_loses_what_hides_and_keeps_scripts_and_based_marks():
    for char in "\u0000\u202e\u200b\u3164\u2028\ud800":
        shown = printable(f"a{char}b")
        assert char not in shown
        assert "\\" in shown
    assert printable("שלום हिन्दी\n\tok") == "שלום हिन्दी\n\tok"
    assert printable("\u0301x") == "\\u0301x"
    assert printable_line("é🙂\n\t") == "é🙂\\n\\t"
    assert surface(b" a\n\x80\xff\\") == "␣a\\n\\x80\\xff\\\\"
    assert surface("␣".encode()) == "\\u2423"


def test_code_points_are_named():
    *points, rest = code_points("\x00é\u202e".encode() + b"\xffab", 4)
    assert [p.notes[0] for p in points] == ["U+0000", "U+00E9", "U+202E", "0xFF"]
    assert points[0].notes[1] == "<control>"
    assert points[2].notes[1] == unicodedata.name("\u202e")
    assert [p.state for p in (*points, rest)] == ["", "", "", "invalid", "rest"]
    assert len(list(code_points(NASTY["megabyte"], 48))) == 49
