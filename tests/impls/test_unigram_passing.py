"""What passes normalization in runs against the normalizer that takes one prefix after another."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.vocabularies.model import Piece, PieceType
from corpora.vocabularies.sources import resolve
from impls.compiled.jit import njit
from impls.fast.unigram import normalizer as fast
from impls.fast.unigram.normalizer import BLANK, SPARE, make_passing
from impls.fast.unigram.plain import READ, begins_plain, pass_plain, plain_masks
from impls.fast.unigram.plain import plain_table as table_of
from impls.kernels.many_bytes import LOADED, WINDOW
from impls.unigram.normalizer import SPACE, make_rules, prepare
from impls.unigram.trie import NOWHERE
from tests.breadth import thorough_from
from tests.impls.test_unigram_marks import charsmap_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

ATOMS = [
    *["word", "a", "(", "-", ".", '"', "<s", "\r", "\n", "\t", "\r\n", "\0", "\x01", "\x7f", " "],
    *["  ", "   ", "\n\n", "\u3000", "\u2581", "é", "e\u0301", "и", "и\u0306", "слово", "ﬁ", "½"],
    *["か", "か\u3099", "日本", "한", "\u1112", "क्ष", "😀", "\u200b", "\u0301", "ß"],
]


RUN = "ひらがなと カタカナ、漢字 and some words\nпо-русски été "
DISTURBING = [
    *["ﬁ", "か\u3099", "\u3099", "\u3000", "ヿ", "😀", "\r\n", "  ", "\n \t", "e\u0301", "и\u0306"],
    *["\u0301", "\0", "\x7f", "(", "-.", "ｶﾞ", "각", "\u11a8", "ا\u0653", "क़", " " * 70, "\u2581"],
]
BROKEN = [
    b"\xff",
    b"\xe3\x81",
    b"\xe3",
    b"\xc0\x80",
    b"\xe0\x81\xa1",
    b"\xed\xa0\x80",
    b"\x82",
    b"\xd0",
]


def spaced(vocabulary: Vocabulary, *, tidy: bool, escape: bool, prefix: bool) -> Vocabulary:
    """The vocabulary with other flags of its normalizer, and with symbols of one character."""
    spec = replace(
        vocabulary.normalizer,
        remove_extra_whitespaces=tidy,
        escape_whitespaces=escape,
        add_dummy_prefix=prefix,
    )
    symbols = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in ("(", "-", "-.", "\n-")]
    names = {piece.text for piece in symbols}
    others = [piece for piece in vocabulary.pieces if piece.text not in names]
    return replace(vocabulary, normalizer=spec, pieces=(*others, *symbols))


def with_array(table: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The table behind 256 entries, as it stands in what the normalizers have."""
    return np.concatenate([np.zeros(256, dtype=np.uint16), table])


@njit
def compiled_masks(
    data: NDArray[np.uint8], at: int, table: NDArray[np.uint16]
) -> tuple[int, int, int]:
    return plain_masks(data, at, table)


def defined_masks(data: bytes, plain: set[int], blank: set[int]) -> tuple[int, int, int]:
    """The masks of the first WINDOW bytes, by decoding what begins at each."""
    begun = covered = blanks = 0
    for at in range(WINDOW):
        for length in (1, 2, 3):
            try:
                text = data[at : at + length].decode()
            except UnicodeDecodeError:
                continue
            if len(text) == 1 and ord(text) in plain:
                begun |= 1 << at
                covered |= ((1 << length) - 1) << at
        blanks |= (data[at] in blank) << at
    return begun, covered & (1 << WINDOW) - 1, blanks


def test_masks_are_those_of_the_definition() -> None:
    rng = random.Random("masks")
    atoms = [one.encode() for one in (*RUN, *DISTURBING)] + BROKEN
    for _ in range(300):
        plain = np.zeros(1 << 16, dtype=np.bool_)
        blank = np.zeros(128, dtype=np.bool_)
        # A range around each character that a table looks for, and some more.
        for character in "aAéиאلか日カ한、“" + rng.choice("!0~"):
            first = ord(character) - rng.randint(0, 20)
            plain[first : ord(character) + rng.randint(0, 40)] = True
        if rng.random() < 0.5:
            plain[0x3400:0xA000] = True
        plain[0xD800:0xE000] = False
        blank[rng.sample(range(33), 2)] = True
        plain[:0x80] &= ~blank
        table = table_of(plain, blank, b" ", merged=False)
        array = with_array(table)
        pairs = table[: -256 - 3].reshape(-1, 2).tolist()
        chosen = {p for i, (a, n) in enumerate(pairs) if not 3 <= i < 6 for p in range(a, a + n)}
        assert chosen <= set(np.flatnonzero(plain).tolist())
        data = b"".join(rng.choices(atoms, k=60)) + bytes(READ)
        codes = np.frombuffer(data, dtype=np.uint8)
        wanted = defined_masks(data, chosen, set(np.flatnonzero(blank).tolist()))
        assert plain_masks(codes, 0, array) == wanted
        assert compiled_masks(codes, 0, array) == wanted


def passed(
    function: Callable[..., tuple[int, int]], table: NDArray[np.uint16], data: bytes, end: int
) -> tuple[int, bytes]:
    out = np.zeros(3 * len(data) + LOADED, dtype=np.uint8)
    stop, size = function(table, np.frombuffer(data, dtype=np.uint8), 0, end, out, 0)
    return stop, out[:size].tobytes()


def passes_of(vocabulary: Vocabulary) -> NDArray[np.uint16]:
    return make_passing(vocabulary, make_rules(vocabulary)).passes


def agree(vocabulary: Vocabulary, *batches: list[bytes]) -> None:
    """Whether batches of inputs become what they do where each prefix is looked at."""
    rules = make_rules(vocabulary)
    known = make_passing(vocabulary, rules)
    for batch in batches:
        ends = np.cumsum([len(one) for one in batch], dtype=np.int64)
        data = np.frombuffer(b"".join(batch), dtype=np.uint8)
        none = np.empty(0, dtype=np.uint8)
        wanted = prepare(rules, 0, none, data, ends, np.full(len(ends), NOWHERE))
        text, *found = fast.prepare(rules, known, data, ends)
        assert text[: len(text) - SPARE].tobytes() == wanted[0].tobytes(), batch
        assert all(np.array_equal(*pair) for pair in zip(found, wanted[1:], strict=True))


def test_interpreted_runs_are_compiled_ones() -> None:
    passes = passes_of(with_symbols(resolve("unigram_nfkc"), []))
    interpreted = getattr(pass_plain, "py_func", pass_plain)
    for disturbing in [*(one.encode() for one in DISTURBING), *BROKEN]:
        for shift in range(0, 80, 3):
            data = (RUN * 3).encode()[:shift] + disturbing + (RUN * 3).encode()
            for end in (len(data), len(data) - 90):
                assert passed(interpreted, passes, data, end) == passed(
                    pass_plain, passes, data, end
                )


def test_japanese_is_passed_in_one_run() -> None:
    """Nothing would be wrong, nor faster, if nothing were found to be plain."""
    vocabulary = with_symbols(resolve("unigram_nfkc"), [])
    passes = passes_of(vocabulary)
    data = (RUN * 9).encode() + bytes(READ)
    end = len(data) - READ - 1  # without the space at the end
    assert begins_plain(passes, np.frombuffer(data, dtype=np.uint8), 0, end)
    wanted = data[:end].decode().replace("\n", " ").replace(" ", "\u2581")
    assert passed(pass_plain, passes, data, end) == (end, wanted.encode())


def test_nothing_is_written_behind_the_room() -> None:
    vocabulary = with_symbols(resolve("unigram_nfkc"), [])
    passes = passes_of(vocabulary)
    codes = np.frombuffer((RUN * 9).encode(), dtype=np.uint8)
    whole = np.zeros(3 * len(codes), dtype=np.uint8)
    pass_plain(passes, codes, 0, len(codes), whole, 0)
    for room in range(400):
        out = np.full(room + 2 * LOADED, 0xFF, dtype=np.uint8)
        stop, size = pass_plain(passes, codes, 0, len(codes), out[:room], 0)
        assert np.all(out[room:] == 0xFF)
        assert size > room - 2 * LOADED
        assert stop <= size
        assert np.array_equal(out[:size], whole[:size])


def with_symbols(vocabulary: Vocabulary, symbols: list[str]) -> Vocabulary:
    """The vocabulary with these user-defined symbols alone."""
    kept = [one for one in vocabulary.pieces if one.type is not PieceType.USER_DEFINED]
    kept = [one for one in kept if one.text not in symbols]
    made = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in symbols]
    return replace(vocabulary, pieces=(*kept, *made))


def flagged() -> list[Vocabulary]:
    """A vocabulary with all flags of white space, with and without symbols."""
    plain = resolve("unigram_nfkc")
    flags = product((True, False), repeat=3)
    spaces = [spaced(plain, tidy=t, escape=e, prefix=p) for t, e, p in flags]
    return [plain, *spaces[:2], *(with_symbols(one, []) for one in spaces)]


@pytest.mark.parametrize("part", thorough_from(1, range(2)))
def test_what_passes_is_what_would_become_of_it(part: int) -> None:
    rng = random.Random(f"passing {part}")
    plain = resolve("unigram_nfkc")
    flags = product((True, False), repeat=3)
    for vocabulary in [plain, *(spaced(plain, tidy=t, escape=e, prefix=p) for t, e, p in flags)]:
        inputs = ["".join(rng.choices(ATOMS, k=rng.choice([1, 2, 3, 9, 60]))) for _ in range(150)]
        batch = [b"", *(text.encode() for text in inputs), b" ", b"a"]
        batch += [one + rng.choice([b"\xff", b"\xe3\x81", b"\xc0\x80", b"\xd0"]) for one in batch]
        agree(vocabulary, batch, *([single] for single in batch))


def test_line_breaks_pass_as_spaces() -> None:
    """The tables would be right, and useless, if they said nothing."""
    passes = passes_of(resolve("unigram_nfkc"))
    blanks = {chr(code) for code in np.flatnonzero(passes[:256] & BLANK)}

    assert blanks == {" ", "\t", "\n", "\r", "\x0c"}
    assert all(passes[code] for code in b"cZ09")
    assert passes[ord("\n")] == passes[SPACE]
    symbols = passes_of(spaced(resolve("unigram_nfkc"), tidy=True, escape=True, prefix=True))
    assert symbols[ord("(")]
    assert not symbols[ord("-")]  # a longer one may begin there


@pytest.mark.parametrize("step", thorough_from(3, [7, 3, 1]))
def test_what_disturbs_a_run_at_each_place(step: int) -> None:
    run = (RUN * 4).encode()
    for number, vocabulary in enumerate(flagged()):
        inputs = []
        for disturbing in [*(one.encode() for one in DISTURBING), *BROKEN]:
            shifts = range(number % step, 135, step)
            inputs += [run[:shift] + disturbing + run[shift:] for shift in shifts]
        agree(vocabulary, inputs)


def test_inputs_that_end_at_each_place() -> None:
    run = (RUN * 4).encode()
    for vocabulary in flagged():
        together = [[run[start:end] for end in range(start, start + 140)] for start in (0, 20)]
        agree(vocabulary, *together, *([run[:end]] for end in range(1, 140)))


@pytest.mark.parametrize("part", thorough_from(1, range(2)))
def test_drawn_charsmaps_and_symbols(part: int) -> None:
    rng = random.Random(f"plain {part}")
    parts = [*"ab z.\n0", *"ひかカ日字한", "\u3099", "\u0301", *"éиا", "ﬁ", "𝄞"]
    for _ in range(60):
        keys = {"".join(rng.choices(parts, k=rng.choice([1, 2, 2, 3]))).encode() for _ in range(4)}
        if rng.random() < 0.3:
            keys.add(rng.choice(["か", "é", "日本"]).encode()[:-1])
        symbols = {
            "".join(rng.choices(parts, k=rng.choice([1, 2]))) for _ in range(rng.choice([0, 0, 2]))
        }
        vocabulary = rng.choice(flagged())
        drawn = replace(
            with_symbols(vocabulary, sorted(symbols)),
            normalizer=replace(vocabulary.normalizer, charsmap=charsmap_of(sorted(keys))),
        )
        inputs = []
        for _ in range(25):
            atoms = [one.encode() for one in rng.sample(parts, 5)] * 3
            atoms += [rng.choice([*keys, *(one.encode() for one in symbols), *BROKEN])]
            inputs.append(b"".join(rng.choices(atoms, k=rng.choice([30, 90]))))
        agree(drawn, inputs)
