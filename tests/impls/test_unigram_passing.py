"""What passes normalization in runs against the normalizer that takes one prefix after another."""

import numpy as np

from corpora.vocabularies.sources import resolve
from impls.fast.kernels.many_bytes import LOADED
from impls.fast.unigram.normalizer import BLANK, make_passing
from impls.fast.unigram.plain import READ, begins_plain, pass_plain
from impls.unigram.normalizer import SPACE, make_rules
from tests.impls.test_unigram_normalizer import BROKEN, DISTURBING, RUN, spaced, with_symbols


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
