"""The cache of tables: read when sound, rebuilt when not, never in the way."""

from itertools import product

import numpy as np
import pytest

from corpora.vocabularies import merges, tiktoken_file
from corpora.vocabularies.caches import tables_folder
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tables_on_disk import SMALLEST
from impls.bpe import backtracking
from impls.fast.bpe import backtracking_kernel
from impls.interface import Mode
from impls.kernels import table_cache as cache

RAW = Mode(pretokenize=False)
LETTERS = b"abcdefghijklmnop"
TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *(bytes(text) for size in (2, 3) for text in product(LETTERS, repeat=size)),
]
LARGE = tiktoken_file.from_ranks("large", TOKENS, splits=(), special_tokens={}, source_path=None)
"""Large enough that its tables are kept on disk."""


def test_it_is_large_enough():
    assert len(TOKENS) >= SMALLEST


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A cache of its own, and a builder that counts its calls."""
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path / "deeper"))

    def build():
        build.calls += 1
        return [np.arange(5, dtype=np.int32), np.array([7, -1], dtype=np.int32)]

    build.calls = 0
    return build


def read(build):
    found = cache.arrays_of([LARGE], "test", build)

    assert [entries.tolist() for entries in found] == [[0, 1, 2, 3, 4], [7, -1]]


def only_file():
    [file] = tables_folder().glob("*-test*")
    return file


def test_tables_are_built_once(counted):
    read(counted)
    read(counted)

    assert counted.calls == 1
    assert only_file().name.endswith("-test.tables")


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
def test_a_damaged_file_is_built_again(counted, damage):
    read(counted)
    whole = only_file().read_bytes()
    only_file().write_bytes(damage(whole))
    read(counted)

    assert counted.calls == 2
    assert only_file().read_bytes() == whole


def test_another_source_is_read_anew(counted, monkeypatch):
    read(counted)
    monkeypatch.setattr(cache, "source_of", lambda *places: b"another")
    read(counted)

    assert counted.calls == 2


def test_a_directory_that_cannot_be_written_only_costs_time(counted, monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path / "file" / "below"))
    read(counted)
    read(counted)

    assert counted.calls == 2


def test_small_vocabularies_leave_no_files(counted):
    cache.arrays_of([resolve("toy_bytes")], "test", counted)

    assert not tables_folder().exists()


def test_an_encoder_from_the_cache_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    data = bytes(range(256)) * 4 + b"Some text, some text."
    first = backtracking.IMPLEMENTATION.load(LARGE).encode(data, RAW)
    again = backtracking.IMPLEMENTATION.load(LARGE).encode(data, RAW)

    assert first == again
    assert list(tmp_path.iterdir())


def test_merges_are_derived_once_and_again_by_another_source(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    tokens = TOKENS
    derived, derive = merges.merges_from_ranks(tokens), merges._by_rank
    calls = []
    monkeypatch.setattr(merges, "_by_rank", lambda tokens: calls.append(1) or derive(tokens))

    def same():
        found = merges.merges_from_ranks(tokens)
        for name in ("left", "right", "merged"):
            assert np.array_equal(getattr(found, name), getattr(derived, name))

    tmp_path.joinpath(*(p.name for p in tmp_path.glob("*-merges*"))).unlink()
    same()
    same()
    assert len(calls) == 1
    monkeypatch.setattr(merges, "_source", lambda: b"another")
    same()
    assert len(calls) == 2
    assert len(list(tmp_path.glob("*-merges*"))) == 1


def test_a_vocabulary_without_merges_is_kept_too(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    tokens = [b"%06d" % i for i in range(5000)]

    for _ in range(2):
        assert len(merges.merges_from_ranks(tokens)) == 0


def test_a_block_of_another_source_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    vocabulary = LARGE
    first = backtracking_kernel.kept_block(vocabulary)
    monkeypatch.setattr(backtracking_kernel, "block_of", lambda vocabulary: first[:-1])

    assert np.array_equal(backtracking_kernel.kept_block(vocabulary), first)
    monkeypatch.setattr(cache, "source_of", lambda *places: b"another")
    assert np.array_equal(backtracking_kernel.kept_block(vocabulary), first[:-1])
