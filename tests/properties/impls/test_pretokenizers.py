"""Scanners against the `regex` package and tiktoken: classes, pieces, UTF-8, special texts."""

import os
import random
import sys
from itertools import product

import numpy as np
import pytest
import regex
import tiktoken

from corpora.generators.material import is_text
from corpora.vocabularies.model import Algorithm, Merges, Normalizer, Vocabulary
from corpora.vocabularies.patterns import PATTERNS
from impls.fast.scanner.cutter import FastCutter
from impls.fast.scanner.kernel import split_parts as split_fast
from impls.interface import Mode, Unsupported
from impls.pretokenize import character_classes
from impls.pretokenize.character_classes import class_table
from impls.pretokenize.pieces import Cutter
from impls.pretokenize.scanners import SCANNERS, scanner_of, split_parts
from impls.pretokenize.unicode_version import as_of_unicode_16

TEXT = Mode()
SPECIAL = Mode(special="all")
NAMES = ("gpt2", "cl100k_base", "o200k_base", "llama3", "qwen2", "tekken")
BYTES = tuple(bytes([byte]) for byte in range(256))
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SOME = 300 if INTERPRETED else 3000

# One of every class that some pattern tells apart, in every length of UTF-8, and what is special.
REPRESENTATIVES = (
    "aéßſ\u212a\U00010428"  # Ll, and the folded ones
    "BÉ\U00010400\u01c5"  # Lu, Lt
    "\u02b0\u3005\u4e2d\u00aa\U00020000"  # Lm, Lo
    "\u0301\u20dd\u0903\U0001d165"  # M
    "1\u00b2\u0661\u2167\U0001d7ce"  # N
    " \t\x0b\x85\u00a0\u2003\u3000\u2028\x1c"
    "\n\r'/!_-\u2019\u20ac\U0001f600\u200d\ufeff"
    "\x00\u0378\ue000\U0010ffff\ufb06"
    "sStTdmMlLrReEvV"
    "\u0295\u088f\ua7d2"  # Unicode 17 sees these differently
)
CHUNKS = (
    "'s", "'S", "'ſ", "'ll", "'Ll", "'lL", "'re", "'vE", "'t", "can't", "'sA", "'l", "'r", "''",
    "  ", "\r\n", "\n\n", " \n", "\n ", "123", "1234", "AB", "ab", "Ab", "aB", "\u4e2dA", "A\u4e2d",
    "!/", "\n/", "/\n", " /", " '", " \u0301", "\u0301A", "A\u0301",
)  # fmt: skip


def vocabulary(splits, **fields):
    return Vocabulary("test", Algorithm.BPE, "test", BYTES, Merges.none(), splits=splits, **fields)


def cut(cutter, texts, mode=TEXT):
    """The pieces of each text as bytes, in one batch."""
    datas = [text.encode() for text in texts]
    ends = np.cumsum([len(data) for data in datas], dtype=np.int64)
    pieces = cutter.cut(b"".join(datas), ends, mode)
    parts, start = [], 0
    for end in pieces.ends.tolist():
        parts.append(pieces.data[start:end])
        start = end
    counts = pieces.counts.tolist()
    return [parts[a:b] for a, b in zip([0, *counts[:-1]], counts, strict=True)]


def by_regex(expression, text):
    """The pieces of a pattern that leaves no gaps, by the `regex` package."""
    return [
        text[match.start() : match.end()].encode()
        for match in expression.finditer(as_of_unicode_16(text))
    ]


def adversarial(rng, count):
    """Short strings over a few representatives each, so that runs and repetitions are common."""
    for _ in range(count):
        palette = rng.choices(REPRESENTATIVES, k=rng.randint(1, 5))
        palette += rng.choices(CHUNKS, k=rng.randint(0, 2))
        yield "".join(rng.choices(palette, k=rng.randint(1, 12)))


def differences(pattern, texts):
    """The texts that a scanner of ``pattern`` splits otherwise than the `regex` package."""
    assert scanner_of((pattern,)) is not None
    texts = list(texts)
    expression = regex.compile(pattern)
    expected = [by_regex(expression, text) for text in texts]
    return [
        text
        for kind in (Cutter, FastCutter)
        for text, pieces, wanted in zip(
            texts, cut(kind(vocabulary((pattern,))), texts), expected, strict=True
        )
        if pieces != wanted
    ]


@pytest.mark.parametrize("pattern", SCANNERS, ids=range(len(SCANNERS)))
def test_scanners_split_as_the_regex_package_does(pattern):
    rng = random.Random(pattern)

    assert differences(pattern, adversarial(rng, SOME)) == []


@pytest.mark.parametrize("pattern", SCANNERS, ids=range(len(SCANNERS)))
def test_texts_that_end_within_a_window_are_split_to_their_end(pattern):
    """Of short texts side by side, a window sees what the next one begins with, too."""
    rng = random.Random(f"short {pattern}")
    of_ascii = [*"aBsl1 /'.\n\t", "  ", "123", "'ll", " \n", "\n/"]
    palettes = [of_ascii, [*of_ascii, "é", "中", "\u0301", "\u3000", "\u2167"]]
    texts = (
        "".join(rng.choices(rng.choice(palettes), k=rng.choice([1, 4, 20, 40, 60, 62, 64, 90])))
        for _ in range(SOME)
    )

    assert differences(pattern, texts) == []


@pytest.mark.skipif(INTERPRETED, reason="compares compiled code")
@pytest.mark.parametrize("name", NAMES)
def test_short_strings_of_the_classes_exhaustively(name):
    few = "aB\u4e2d\u03011 \u00a0\n's/!"
    texts = ("".join(text) for length in (1, 2, 3, 4) for text in product(few, repeat=length))

    assert differences(PATTERNS[name][0], texts) == []


@pytest.mark.parametrize("name", NAMES)
def test_long_runs(name):
    length = 300 if INTERPRETED else 20_000
    runs = (*"Aa\u4e2d\u02b0\u03011 \n\u00a0", " \n", "'s", "!/", "aA")
    befores_and_afters = ("", "a", "B", "\u0301", "!", " ", "\n")
    texts = [
        before + run * length + after
        for run in runs
        for before, after in zip(befores_and_afters, befores_and_afters[::-1], strict=True)
    ]

    assert differences(PATTERNS[name][0], texts) == []


def test_an_unknown_spelling_is_run_by_the_regex_package():
    pattern = PATTERNS["gpt2"][0].replace(" ?", "[ ]?")
    texts = list(adversarial(random.Random(1), 200))

    assert scanner_of((pattern,)) is None
    assert cut(Cutter(vocabulary((pattern,))), texts) == cut(
        Cutter(vocabulary(PATTERNS["gpt2"])), texts
    )


CLASSES = [
    (character_classes.UPPER, r"[\p{Lu}\p{Lt}]"),
    (character_classes.LOWER, r"\p{Ll}"),
    (character_classes.UNCASED, r"[\p{Lm}\p{Lo}]"),
    (character_classes.MARK, r"\p{M}"),
    (character_classes.NUMBER, r"\p{N}"),
    (character_classes.SPACE, r"[^\S\r\n ]"),
    (character_classes.BLANK, r"[ ]"),
    (character_classes.LINE_END, r"[\r\n]"),
    (character_classes.APOSTROPHE, r"[']"),
    (character_classes.SLASH, r"/"),
    (character_classes.OTHER, r"[^\s\p{L}\p{M}\p{N}'/]"),
]
SCALARS = [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]


EVERYTHING = "".join(map(chr, SCALARS))


def matched_by_tiktoken(expression):
    """The characters that match: tiktoken drops what its pattern leaves over."""
    engine = tiktoken.Encoding(
        "class",
        pat_str=expression,
        mergeable_ranks={byte: rank for rank, byte in enumerate(BYTES)},
        special_tokens={},
    )
    return bytes(engine.encode_ordinary(EVERYTHING)).decode()


@pytest.mark.parametrize(("number", "expression"), CLASSES)
def test_the_class_of_every_code_point_is_that_of_tiktoken(number, expression):
    has = (class_table() == number).tolist()

    assert "".join(chr(code) for code in SCALARS if has[code]) == matched_by_tiktoken(expression)


@pytest.mark.parametrize("expression", [r"\P{Cn}", r"\p{P}", r"\p{S}", r"\p{M}", r"\p{Lt}", r"\w"])
def test_unicode_16_is_what_tiktoken_has(expression):
    ours = regex.finditer(expression, as_of_unicode_16(EVERYTHING))

    assert "".join(EVERYTHING[match.start()] for match in ours) == matched_by_tiktoken(expression)


def finds_fault(datas):
    data = np.frombuffer(b"".join(datas), dtype=np.uint8)
    ends = np.cumsum([len(d) for d in datas], dtype=np.int64)
    none_given = np.empty(0, dtype=np.int64)
    plain, fast = (
        split(SCANNERS[PATTERNS["gpt2"][0]], data, ends, none_given) is None
        for split in (split_parts, split_fast)
    )
    assert plain == fast
    return plain


def test_invalid_utf8_is_found_as_python_finds_it():
    telling = b"\x00a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xed\xee\xef\xf0\xf4\xf5\xff"
    rng = random.Random(5)
    for data in map(bytes, product(telling, repeat=3 if not INTERPRETED else 2)):
        assert finds_fault([data]) != is_text(data), data
    for data in map(bytes, product(b"\xf0\xf4", b"\x8f\x90", *[b"\x7f\x80\xbf\xc0"] * 2)):
        assert finds_fault([data]) != is_text(data), data
    for _ in range(SOME):
        data = bytes(rng.choices(telling, k=rng.randint(3, 5)))
        assert finds_fault([b"ok", data]) != is_text(data), data


def test_every_scalar_value_is_valid_and_no_surrogate_is():
    step = 997 if INTERPRETED else 1
    assert not finds_fault(["".join(map(chr, SCALARS[::step])).encode()])
    for code in range(0xD800, 0xE000, 17):
        assert finds_fault([b"a", chr(code).encode(errors="surrogatepass")])


@pytest.mark.parametrize("splits", [PATTERNS["o200k_base"], PATTERNS["deepseek_v3"]])
def test_a_character_cut_in_two_inputs_is_invalid_in_both(splits):
    cutter = Cutter(vocabulary(splits))
    for at in (1, 2):
        with pytest.raises(Unsupported, match="UTF-8"):
            cutter.cut("€".encode(), np.array([at, 3], dtype=np.int64), TEXT)


def special_parts(text, ids):
    longest_first = sorted(ids, key=lambda special: (-len(special), special))
    either = regex.compile("(" + "|".join(map(regex.escape, longest_first)) + ")")
    return [(part, ids.get(part)) for part in either.split(text) if part]


def test_special_texts_leftmost_and_longest():
    texts = ("<s>", "<s><s>", "<", "s><s", "é€", "é", "\U0001f600x", "s>", "<s><s>!")
    ids = {text: 300 + i for i, text in enumerate(texts)}
    cutter = Cutter(vocabulary((), special_tokens=ids))
    rng = random.Random(7)
    inputs = ["".join(rng.choices([*texts, "a", "\U0001f600", ">"], k=8)) for _ in range(SOME)]
    ends = np.cumsum([len(text.encode()) for text in inputs], dtype=np.int64)
    pieces = cutter.cut("".join(inputs).encode(), ends, SPECIAL)
    expected = [part for text in inputs for part in special_parts(text, ids)]

    assert [part for text in cut(cutter, inputs, SPECIAL) for part in text] == [
        part.encode() for part, _ in expected
    ]
    assert pieces.given.tolist() == [-1 if token is None else token for _, token in expected]


def test_look_ahead_ends_at_a_special_text():
    ids = {f"<|reserved_{i}|>": 300 + i for i in range(1000)}
    cutter = Cutter(vocabulary(PATTERNS["o200k_base"], special_tokens=ids))
    text = "a  <|reserved_7|>  b<|reserved_777|><|reserved_7x"

    assert cut(cutter, ["", text], SPECIAL)[1] == [
        b"a", b"  ", b"<|reserved_7|>", b" ", b" b", b"<|reserved_777|>",
        b"<|", b"reserved", b"_", b"7", b"x",
    ]  # fmt: skip
    assert b"<|reserved_7|>" not in cut(cutter, [text], TEXT)[0]


def test_normalization_comes_first_and_moves_the_ends():
    cutter = Cutter(vocabulary(PATTERNS["gpt2"], normalizer=Normalizer(form="NFC")))

    assert cut(cutter, ["e\u0301 x", "", "e\u0301"]) == [["é".encode(), b" x"], [], ["é".encode()]]
