"""What passes normalization in runs against the normalizer that takes one prefix after another."""

import random

import numpy as np

from corpora.vocabularies.sources import resolve
from impls.compiled.jit import njit
from impls.fast.unigram.normalizer import BLANK, make_passing
from impls.fast.unigram.plain import READ, begins_plain, pass_plain, plain_masks
from impls.fast.unigram.plain import plain_table as table_of
from impls.kernels.many_bytes import LOADED, WINDOW
from impls.unigram.normalizer import SPACE, make_rules
from tests.impls.test_unigram_normalizer import BROKEN, DISTURBING, RUN, spaced, with_symbols


def with_array(table):
    """The table behind 256 entries, as it stands in what the normalizers have."""
    return np.concatenate([np.zeros(256, dtype=np.uint16), table])


@njit
def compiled_masks(data, at, table):
    return plain_masks(data, at, table)


def defined_masks(data, plain, blank):
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


def test_masks_are_those_of_the_definition():
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


def passed(function, table, data, end):
    out = np.zeros(3 * len(data) + LOADED, dtype=np.uint8)
    stop, size = function(table, np.frombuffer(data, dtype=np.uint8), 0, end, out, 0)
    return stop, out[:size].tobytes()


def passes_of(vocabulary):
    return make_passing(vocabulary, make_rules(vocabulary)).passes


def test_interpreted_runs_are_compiled_ones():
    passes = passes_of(with_symbols(resolve("unigram_nfkc"), []))
    interpreted = getattr(pass_plain, "py_func", pass_plain)
    for disturbing in [*(one.encode() for one in DISTURBING), *BROKEN]:
        for shift in range(0, 80, 3):
            data = (RUN * 3).encode()[:shift] + disturbing + (RUN * 3).encode()
            for end in (len(data), len(data) - 90):
                assert passed(interpreted, passes, data, end) == passed(
                    pass_plain, passes, data, end
                )


def test_japanese_is_passed_in_one_run():
    """Nothing would be wrong, nor faster, if nothing were found to be plain."""
    vocabulary = with_symbols(resolve("unigram_nfkc"), [])
    passes = passes_of(vocabulary)
    data = (RUN * 9).encode() + bytes(READ)
    end = len(data) - READ - 1  # without the space at the end
    assert begins_plain(passes, np.frombuffer(data, dtype=np.uint8), 0, end)
    wanted = data[:end].decode().replace("\n", " ").replace(" ", "\u2581")
    assert passed(pass_plain, passes, data, end) == (end, wanted.encode())


def test_nothing_is_written_behind_the_room():
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


def test_line_breaks_pass_as_spaces():
    """The tables would be right, and useless, if they said nothing."""
    passes = passes_of(resolve("unigram_nfkc"))
    blanks = {chr(code) for code in np.flatnonzero(passes[:256] & BLANK)}

    assert blanks == {" ", "\t", "\n", "\r", "\x0c"}
    assert all(passes[code] for code in b"cZ09")
    assert passes[ord("\n")] == passes[SPACE]
    symbols = passes_of(spaced(resolve("unigram_nfkc"), tidy=True, escape=True, prefix=True))
    assert symbols[ord("(")]
    assert not symbols[ord("-")]  # a longer one may begin there
