"""Tables on disk: read when sound, made again when not, and never in the way of an answer."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from corpora.vocabularies import merges, sources, tiktoken_file
from corpora.vocabularies.caches import tables_folder
from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.tables_on_disk import SMALLEST, kept_arrays
from impls import registry
from impls.interface import Mode
from impls.kernels import table_cache
from impls.kernels.table_cache import arrays_of, digest_of
from impls.spm import variants
from tests.breadth import thorough_from

TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *(bytes(text) for size in (2, 3) for text in product(b"abcdefghijklmnop", repeat=size)),
]
LARGE = tiktoken_file.from_ranks("large", TOKENS, splits=(), special_tokens={}, source_path=None)
"""Large enough that its tables are kept on disk."""
DATA = "ab cd abc  dédé 日ab hh gfe <sym> x".encode() * 3

ARRAYS = [
    np.arange(6, dtype=np.int32),
    np.arange(6, dtype=np.int64).reshape(3, 2),
    np.empty((0, 2), dtype=np.int64),
    np.array([1, 2, 3], dtype=np.uint8),
    np.array([True, False, True, True, False]),
    np.array([0.5, -0.0], dtype=np.float32),
    np.array([np.inf, 1e-300]),
    np.empty(0, dtype=np.int32),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own."""
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path / "deeper"))
    return tables_folder()


class Counted:
    """Makes arrays, and counts how often."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return ARRAYS

    def read(self, vocabulary=LARGE):
        """How often they have been made, when they have been read once more."""
        found = arrays_of([vocabulary], "test", self)
        for one, expected in zip(found, ARRAYS, strict=True):
            assert (one.dtype, one.shape) == (expected.dtype, expected.shape)
            assert np.array_equal(one, expected)
            assert not one.flags.writeable
        assert ARRAYS[0].flags.writeable  # that of the maker stays as it was
        return self.calls


@pytest.mark.parametrize("name", ["", "several"])
@pytest.mark.parametrize("arrays", [[], ARRAYS[:1]])
def test_few_arrays_come_back_as_they_are(name, arrays, folder):
    for _ in range(2):
        found = kept_arrays(name, lambda: arrays)
        assert [one.tolist() for one in found] == [one.tolist() for one in arrays]
    assert folder.exists() == bool(name)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-4],
        lambda content: content[:-1],
        lambda content: content + b"\0\0\0\0",
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content[:70] + b"\xff" + content[71:],
        lambda content: b"x" + content[1:],
        lambda content: content[:25] + bytes([content[25] ^ 1]) + content[26:],
    ],
)
def test_a_damaged_file_is_made_again_and_a_sound_one_is_not(damage, folder):
    counted = Counted()
    assert counted.read() == counted.read() == 1
    [file] = folder.iterdir()
    assert file.name.endswith("-test.tables")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert counted.read() == 2
    assert file.read_bytes() == whole


def test_what_another_source_has_made_is_not_taken(monkeypatch):
    counted = Counted()
    counted.read()
    monkeypatch.setattr(table_cache, "source_of", lambda *places: b"another")
    assert counted.read() == 2


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path / "file" / "below"))
    counted = Counted()
    assert (counted.read(), counted.read()) == (1, 2)


def test_small_vocabularies_leave_no_files(folder):
    Counted().read(replace(LARGE, tokens=LARGE.tokens[: SMALLEST - 1]))
    assert not folder.exists()


def test_merges_are_derived_once_and_again_by_another_source(folder, monkeypatch):
    derived, derive = merges.merges_from_ranks(TOKENS), merges._by_rank
    calls = []
    monkeypatch.setattr(merges, "_by_rank", lambda tokens: calls.append(1) or derive(tokens))

    def same():
        found = merges.merges_from_ranks(TOKENS)
        for name in ("left", "right", "merged"):
            assert np.array_equal(getattr(found, name), getattr(derived, name))
        return len(calls)

    assert same() == 0
    monkeypatch.setattr(merges, "_source", lambda: b"another")
    assert same() == same() == 1
    assert len(list(folder.glob("*-merges*"))) == 1
    for _ in range(2):  # of which there are none
        assert len(merges.merges_from_ranks([b"%06d" % i for i in range(5000)])) == 0


CASES = {
    "spm.llama-cpp": "toy_characters",
    "wordpiece.bert": "toy_wordpiece",
    "bpe.backtracking": "toy_bytes",
    "bpe.cached": "toy_bytes",
    "wordpiece.llama-cpp": "toy_wordpiece",
    "unigram.sentencepiece": "toy_unigram",
    "unigram.sentencepiece.fast": "unigram_nfkc",
    "unigram.llama-cpp": "unigram_nfkc",
    "spm.llama-cpp.fast": "mistral_v3",
}
"""The quickest first."""


def ids_of(name, vocabulary):
    return (
        registry.resolve(name).load(vocabulary).encode(DATA, Mode(pretokenize="bpe." not in name))
    )


def anew(name, vocabulary, monkeypatch):
    """The ids by tables that no file is asked for."""
    with monkeypatch.context() as patch:
        patch.setattr(table_cache, "SMALLEST", 1 << 30)
        return ids_of(name, vocabulary)


@pytest.mark.parametrize("name", thorough_from(6, CASES))
def test_ids_by_kept_tables_are_those_by_new_ones(name, folder, monkeypatch):
    vocabulary = sources.resolve(CASES[name])
    expected = anew(name, vocabulary, monkeypatch)
    monkeypatch.setattr(table_cache, "SMALLEST", 1)  # else toys are not worth a file
    before = {file for file in folder.glob("*") if "characters" not in file.name}
    assert ids_of(name, vocabulary) == expected
    kept = set(folder.iterdir()) - before
    original = table_cache.kept_arrays

    def none_is_made(name, make, source):
        def refuse():
            raise AssertionError(f"{name} is made again")

        return original(name, refuse if name else make, source)

    monkeypatch.setattr(table_cache, "kept_arrays", none_is_made)
    assert ids_of(name, vocabulary) == expected
    for file in kept:
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(AssertionError, match="is made again"):
        ids_of(name, vocabulary)


def test_names_are_told_apart_by_all_that_tables_are_made_of():
    one, other = variants.SENTENCEPIECE, variants.LLAMA_CPP
    vocabulary = sources.resolve("toy_characters")
    found = vocabulary.pieces
    last = found[-1]
    others = (
        replace(last, score=-1e6),
        replace(last, text="ZZZ"),
        replace(last, type=PieceType.CONTROL),
    )
    made_of = [
        *((Pieces.of((*found[:-1], other)), one, True) for other in others),
        (Pieces.of((*found[:-2], last, found[-2])), one, True),
        (found, one, True),
        (found, one, False),
        (found, other, True),
        (found, replace(one, merged_types=one.known_types), True),
        (found[1:], one, True),
        (vocabulary, one, True),
    ]
    assert len({digest_of(values) for values in made_of}) == len(made_of)
    # The order in which a set gives its members is no part of a name.
    sets = [frozenset([0, 8]), frozenset([8, 0])]  # these two have one place in a table
    assert repr(sets[0]) != repr(sets[1])
    assert digest_of(sets[:1]) == digest_of(sets[1:])
