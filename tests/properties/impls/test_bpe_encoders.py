"""All exact encoders give the definition's answer; the others keep their own laws."""

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from corpora.vocabularies.model import AddedToken, Alphabet, Merges, Normalizer, RankOrder
from corpora.vocabularies.sources import resolve
from impls.bpe import (
    backtracking,
    dropout,
    greedy,
    heap,
    incremental,
    minimal,
    naive,
    table,
)
from impls.bpe.backtracking import encode_piece
from impls.bpe.pair_validity import valid_pair
from impls.bpe.tokens import improper_tokens, tokens_of
from impls.fast.bpe import implementations as fast
from impls.interface import Mode, Rejected, Unsupported
from tests.data import data_path
from tests.doubles.command import python
from tests.properties.impls.bpe_vocabularies import (
    encodings,
    is_proper,
    oracle,
    oracle_by_spelling,
    random_text,
    vocabulary,
)

TEXT, RAW, SPECIAL = Mode(), Mode(pretokenize=False), Mode(special="all")
LINEAR = [
    backtracking.IMPLEMENTATION,
    fast.IMPLEMENTATION,
    fast.CACHED,
    table.IMPLEMENTATION,
    incremental.IMPLEMENTATION,
]
EXACT = [naive.IMPLEMENTATION, heap.IMPLEMENTATION, *LINEAR]
INEXACT = [greedy.IMPLEMENTATION, minimal.IMPLEMENTATION, dropout.IMPLEMENTATION]
BYTES = [bytes([byte]) for byte in range(256)]


def by_name(implementations):
    return pytest.mark.parametrize("implementation", implementations, ids=lambda i: i.about.name)


@by_name([*EXACT, *INEXACT])
def test_a_byte_without_a_token_is_rejected(implementation):
    encoder = implementation.load(vocabulary([b"a", b"b", b"ab", b"z\0"]))

    for data in (b"abz", b"z", b"abz\0a"):
        with pytest.raises(Rejected, match="0x7a"):
            encoder.encode(data, RAW)
    assert encoder.decode(encoder.encode(b"abba", RAW)) == b"abba"


def assert_exact(drawn, texts, define):
    encoders = [implementation.load(drawn) for implementation in EXACT]
    for data in texts:
        expected = define(drawn, data)
        for encoder in encoders:
            assert encoder.encode(data, RAW) == expected


@given(encodings())
def test_exact_encoders_are_the_definition(encoding):
    assert_exact(*encoding, oracle)


@given(encodings(proper=False))
def test_exact_encoders_are_the_definition_on_improper_vocabularies(encoding):
    define = oracle_by_spelling if encoding[0].rank_order is RankOrder.IDS else oracle

    def whole_or_merged(drawn, data):
        whole = drawn.ignore_merges and data in drawn.ids
        return [drawn.ids[data]] if whole else define(drawn, data)

    assert_exact(*encoding, whole_or_merged)


@given(encodings(proper=False))
def test_improper_tokens_are_those_that_merging_does_not_reach(encoding):
    drawn, _ = encoding
    define = oracle_by_spelling if drawn.rank_order is RankOrder.IDS else oracle
    unreached = [i for text, i in drawn.ids.items() if define(drawn, text) != [i]]
    assert sorted(improper_tokens(drawn)) == sorted(unreached)


def test_a_half_that_a_later_merge_makes_again():
    """Halves come before wholes in the list, but ``aaa`` alone is built by the last merge but one.

    So ``aaaaa`` is older than its half, as if the merges were out of order.
    """
    tokens = [b"a", b"aa", b"aaa", b"aaaaa"]
    merges = [(0, 0, 1), (0, 1, 2), (1, 2, 3), (1, 0, 2), (2, 1, 3)]
    drawn = vocabulary(tokens, Merges.of(merges), rank_order=RankOrder.MERGES)

    assert not is_proper(drawn)
    assert oracle(drawn, b"a" * 5) == [3]
    for implementation in EXACT:
        encoder = implementation.load(drawn)
        for length in range(20):
            assert encoder.encode(b"a" * length, RAW) == oracle(drawn, b"a" * length)


@given(encodings())
def test_inexact_encoders_keep_their_laws(encoding):
    drawn, texts = encoding
    exact, *others = (i.load(drawn) for i in (heap.IMPLEMENTATION, *INEXACT))
    for data in texts:
        for encoder in others:
            ids = encoder.encode(data, RAW)
            assert encoder.decode(ids) == data
            assert encoder.encode(data, RAW) == ids
        assert others[0].encode(data, RAW) == longest_first(drawn, data)
        assert len(others[1].encode(data, RAW)) == fewest(drawn, data)
        assert len(others[1].encode(data, RAW)) <= len(exact.encode(data, RAW))


def longest_first(vocabulary, data):
    ids = []
    while data:
        size = max(n for n in range(1, len(data) + 1) if data[:n] in vocabulary.ids)
        ids.append(vocabulary.ids[data[:size]])
        data = data[size:]
    return ids


def fewest(vocabulary, data):
    best = [0]
    for end in range(1, len(data) + 1):
        begins = [b for b in range(end) if data[b:end] in vocabulary.ids]
        best.append(1 + min(best[b] for b in begins))
    return best[-1]


def test_dropout_leaves_some_merges_out():
    encoder = dropout.IMPLEMENTATION.load(vocabulary([b"a", b"aa", b"aaaa"]))
    lengths = {len(encoder.encode(b"a" * 64 + b"aaaa" * k, RAW)) - 16 - k for k in range(40)}

    assert min(lengths) >= 0
    assert len(lengths) > 3  # not one of them, nor all alike
    assert sum(lengths) / len(lengths) < 20  # one merge in ten


# The plain encoder, on which the judgement of others rests


@given(encodings())
def test_a_pair_is_valid_exactly_if_its_text_encodes_to_it(encoding):
    drawn, _ = encoding
    tokens = tokens_of(drawn)
    ids = tokens.ids.tolist()
    for left, right in product(range(min(len(ids), 25)), repeat=2):
        text = b"".join(drawn.tokens[ids[token]] for token in (left, right))
        expected = oracle(drawn, text) == [ids[left], ids[right]]

        assert valid_pair(tokens.pairs, tokens.splits, left, right) == expected


def test_wrong_tables_are_an_error_and_no_answer():
    """With all next shorter prefixes forgotten, what has to be taken back cannot be replaced."""
    drawn = vocabulary([b"a", b"b", b"c", b"ab", b"bc", b"abc", b"bcb", b"cb", b"abcb"])
    tokens = tokens_of(drawn)
    wrong = tokens._replace(prefixes=np.full_like(tokens.prefixes, -1))
    wrong.prefixes.flags.writeable = False
    refused = 0
    for text in map(bytes, product(b"abc", repeat=6)):
        ids = np.empty(len(text), dtype=np.int32)
        try:
            count = encode_piece(wrong, np.frombuffer(text, dtype=np.uint8), ids)
        except AssertionError as error:
            assert "the tables are wrong" in str(error)
            refused += 1
        else:
            assert ids[:count].tolist() == oracle(drawn, text)
    assert refused


def test_dead_ends_save_questions_and_their_number_is_linear(monkeypatch):
    """Counted, and not timed, since a busy machine says nothing of time.

    Every other beginning of this text is a dead end. Without marks it takes 2.4 questions a byte.
    """
    asked = []
    monkeypatch.setattr(
        backtracking, "valid_pair", lambda *given: asked.append(1) or valid_pair(*given)
    )
    interpreted = getattr(encode_piece, "py_func", encode_piece)
    tokens = tokens_of(vocabulary([b"a", b"b", b"ab", b"aba", b"ababa", b"abababa"]))
    for size in (500, 1000, 2000):
        asked.clear()
        data = np.frombuffer(b"ba" * size + b"b", dtype=np.uint8)
        interpreted(tokens, data, np.empty(len(data), dtype=np.int32))
        assert 1 < len(asked) / len(data) < 1.7


# What encoders share


def test_splits_apply_one_after_another_and_gaps_are_pieces():
    drawn = vocabulary([*BYTES, b"a1", b"12", b"b-", b"-b"], splits=(r"[0-9]+", r"b"))
    encoder = heap.IMPLEMENTATION.load(drawn)

    def spelled(mode):
        return [drawn.tokens[i] for i in encoder.encode(b"a12-b-", mode)]

    # a | 12 | then "-b-" of the gap around b: nothing merges across these boundaries.
    assert spelled(TEXT) == [b"a", b"12", b"-", b"b", b"-"]
    assert spelled(RAW) == [b"a1", b"2", b"-", b"b-"]


def test_special_tokens_are_read_where_asked_and_have_offsets():
    drawn = vocabulary([*BYTES, b"<s"], special_tokens={"<s>": 300, "<s><s>": 301})
    encoder = heap.IMPLEMENTATION.load(drawn)

    assert encoder.encode(b"a<s><s><s><s", SPECIAL) == [97, 301, 300, 256]
    assert 300 not in encoder.encode(b"a<s>", TEXT)
    assert encoder.encode_with_offsets(b"a<s>b", SPECIAL)[1] == [(0, 1), (1, 4), (4, 5)]


def test_a_normal_form_comes_first_and_invalid_utf8_is_for_raw_mode_only():
    drawn = vocabulary([*BYTES, "é".encode()], normalizer=Normalizer(form="NFC"), splits=(r"\w+",))
    encoder = heap.IMPLEMENTATION.load(drawn)

    assert encoder.encode("e\u0301".encode(), RAW) == [256]
    with pytest.raises(Unsupported):
        encoder.encode_with_offsets("e\u0301".encode(), RAW)
    with pytest.raises(Unsupported):
        encoder.encode(b"a\xff", TEXT)
    plain = heap.IMPLEMENTATION.load(vocabulary(BYTES, splits=(r"\w+",)))
    assert plain.encode(b"a\xff", RAW) == [97, 255]
    with pytest.raises(Unsupported):
        plain.encode(b"a\xff", TEXT)


def test_supports():
    supports, stripping = heap.IMPLEMENTATION.supports, AddedToken("x", 1, lstrip=True)

    assert supports(vocabulary([b"a"]), TEXT) is None
    assert supports(resolve("unigram_nfkc"), TEXT)
    assert supports(resolve("toy_characters"), TEXT)
    assert supports(vocabulary([b"a"], added_tokens=(stripping,)), TEXT)
    assert supports(vocabulary([b"a"], alphabet=Alphabet.CHARACTERS), RAW)


COMPILING = """
from impls.bpe import heap, naive
from impls.interface import Mode
from tests.properties.impls.bpe_vocabularies import vocabulary

for module in (naive, heap):
    encoder = module.IMPLEMENTATION.load(vocabulary([b"a", b"b", b"ab"]))
    encoder.encode(b"abab", Mode())
    print(len(encoder._encode_pieces.func.compiled.stats.cache_misses) > 0)
"""


@pytest.mark.thorough  # it compiles all of it from nothing
def test_the_loop_over_pieces_is_kept_on_disk_for_each_algorithm(tmp_path):
    """They are copies of one function, and none may take the place of another."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    missed = [python("-c", COMPILING, **environment).stdout.split() for _ in range(2)]

    assert missed == [["True", "True"], ["False", "False"]]


# Real vocabularies


def late_of_llama3(llama, rng):
    """Tokens whose merges act out of order, among others."""
    late = [llama.tokens[111954], b".:.:", " ω".encode(), b".", b":", b" ", b"o"]
    return [b"".join(rng.choices(late, k=rng.randrange(9))) for _ in range(1000)]


@pytest.mark.parametrize(
    "name",
    [
        "tekken_240911",
        *(
            pytest.param(name, marks=[pytest.mark.data, pytest.mark.thorough])
            for name in ("cl100k_base", "o200k_base", "llama3")
        ),
    ],
)
def test_encoders_agree_on_real_vocabularies(name):
    """Tokens alone, cut, in pairs, repeated and strung together, and a megabyte of random bytes.

    All of it twice: the second time, some encoders remember it.
    """
    small = name.startswith("tekken")
    found = resolve(name if small else str(data_path(f"vocabs/{name}.tiktoken.gz")))
    rng = random.Random(name)
    tokens = [token for token in found.tokens if token]
    texts = [random_text(rng, b"ab \n\0\xe2") for _ in range(300)]
    for _ in range(500):
        alphabet = [*rng.sample(tokens, 3), bytes([rng.randrange(256)])]
        texts.append(b"".join(rng.choices(alphabet, k=rng.randrange(12))))
    if name == "llama3":
        texts += late_of_llama3(found, rng)
    pairs = [rng.choice(tokens) + rng.choice(tokens) for _ in range(20_000)]
    texts += [*rng.sample(tokens, 6000), *pairs, *(one[: rng.randrange(9)] for one in pairs[:3000])]
    texts += [b"".join(rng.choices(tokens, k=800))]
    encoders = [one.load(found) for one in EXACT]
    for inputs, taking in ((texts, encoders), ([rng.randbytes(1 << 20)], encoders[1:])):
        ends = np.cumsum([len(text) for text in inputs])
        asked = [*taking, *taking[1:]]
        (ids, id_ends), *others = (one.encode_batch(b"".join(inputs), ends, RAW) for one in asked)
        for other in others:
            assert np.array_equal(other[0], ids)
            assert np.array_equal(other[1], id_ends)
