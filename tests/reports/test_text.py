"""Odd characters: literals evaluate to the input, and nothing invisible is left."""

import ast
import random
import unicodedata

import pytest

from corpora.plain_text import printable, printable_line, shows
from reports.text import code_points, literal, surface
from tests.reports.records import NASTY


def value(code):
    """What a literal evaluates to; repetitions and sums by eval of our own output."""
    made = eval(code, {"__builtins__": {}})
    return made.encode() if isinstance(made, str) else made


@pytest.mark.parametrize("name", [name for name in NASTY if name != "noise"])
def test_a_literal_evaluates_to_the_input(name):
    shown = literal(NASTY[name])
    assert shown.missing == 0
    assert value(shown.code) == NASTY[name]
    assert all(shows(char) for char in shown.code)


def test_random_inputs_survive():
    rng = random.Random(3)
    for _ in range(300):
        data = rng.randbytes(rng.randrange(40)) + rng.choice([b"", "é\u0301".encode() * 60])
        shown = literal(data, limit=4000)
        assert (value(shown.code), shown.missing) == (data, 0)


@pytest.mark.parametrize("period", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("before", [0, 1, 50])
def test_repetition_is_folded(period, before):
    unit = bytes(range(65, 65 + period))
    data = b"#" * before + unit * 4000 + b"!"
    shown = literal(data)
    assert len(shown.code) < 300
    assert "*" in shown.code
    assert value(shown.code) == data


def test_a_long_literal_is_cut_at_a_character_and_says_so():
    data = "".join(chr(0x4E00 + i * 7 % 20000) for i in range(5000)).encode()
    shown = literal(data, limit=100)
    assert len(shown.code) <= 100
    assert shown.code.startswith("'")
    assert data.startswith(ast.literal_eval(shown.code).encode())
    assert len(ast.literal_eval(shown.code).encode()) + shown.missing == len(data)
    noise = literal(NASTY["noise"])
    assert len(noise.code) <= 400
    assert noise.missing > 999_000


def test_right_to_left_letters_are_escaped_in_literals():
    assert literal("\u05d0 1".encode()).code == r"'\u05d0 1'"


@pytest.mark.parametrize("char", ["\u0000", "\u202e", "\u200b", "\u3164", "\u2028", "\ud800"])
def test_free_text_loses_what_hides(char):
    shown = printable(f"a{char}b")
    assert char not in shown
    assert "\\" in shown


def test_free_text_keeps_scripts_and_based_marks():
    assert printable("שלום हिन्दी\n\tok") == "שלום हिन्दी\n\tok"
    assert printable("\u0301x") == "\\u0301x"
    assert printable_line("é🙂\n\t") == "é🙂\\n\\t"


def test_surfaces():
    assert surface(b" a\n\xff\\") == "␣a\\n\\xff\\\\"
    assert surface("␣".encode()) == "\\u2423"


def test_code_points_are_named():
    *points, rest = code_points("\x00é\u202e".encode() + b"\xffab", 4)
    assert [p.notes[0] for p in points] == ["U+0000", "U+00E9", "U+202E", "0xFF"]
    assert points[0].notes[1] == "<control>"
    assert points[2].notes[1] == unicodedata.name("\u202e")
    assert [p.state for p in points] == ["", "", "", "invalid"]
    assert rest.state == "rest"
    assert len(list(code_points(NASTY["megabyte"], 48))) == 49
