"""Tables of pieces and words on disk: the ids are those of tables that are made anew."""

import random
from dataclasses import replace

import numpy as np
import pytest

from corpora.vocabularies.model import (
    Algorithm,
    Normalizer,
    Piece,
    PieceType,
    WordPieceRules,
)
from corpora.vocabularies.sentencepiece_model import from_pieces
from corpora.vocabularies.tables_on_disk import SMALLEST, kept_arrays
from corpora.vocabularies.wordpiece_file import make
from impls import registry
from impls.interface import Mode
from impls.kernels import table_cache
from impls.kernels.table_cache import digest_of
from impls.spm import variants
from tests.breadth import thorough, thorough_from

LETTERS = "abcdefgh▁é日"
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


@pytest.mark.parametrize("name", ["", "several"])
@pytest.mark.parametrize("arrays", [ARRAYS, [], ARRAYS[:1]])
def test_several_arrays_come_back_as_they_are(name, arrays, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        found = kept_arrays(name, lambda: arrays)
        assert [one.dtype for one in found] == [one.dtype for one in arrays]
        for one, expected in zip(found, arrays, strict=True):
            assert np.array_equal(one, expected)
            assert one.shape == expected.shape
            assert not one.flags.writeable
    assert len([*tmp_path.iterdir()]) == bool(name)
    assert arrays is not ARRAYS or ARRAYS[0].flags.writeable  # that of the maker stays as it was


def pieces(algorithm, *, byte_fallback=True):
    """A vocabulary that is large enough to be kept."""
    rng = random.Random(f"kept {algorithm}")
    texts, inside = [*LETTERS], set(LETTERS)
    while len(texts) < SMALLEST:
        text = "".join(texts[rng.randrange(min(len(texts), 400))] for _ in range(2))
        # A part that is worse than what it is a part of would be nothing for bytes.
        if len(text) < 9 and text not in inside:
            texts.append(text)
            inside |= {text[i:j] for j in range(1, len(text) + 1) for i in range(j)}
    found = [Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("<sym>", 0.0, PieceType.USER_DEFINED)]
    if byte_fallback:
        found += [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)]
    found += [Piece(text, -1.0 - place / 500, PieceType.NORMAL) for place, text in enumerate(texts)]
    return from_pieces(
        "kept",
        found,
        algorithm=algorithm,
        normalizer=Normalizer(add_dummy_prefix=True, escape_whitespaces=True),
        byte_fallback=byte_fallback,
        file_format="test",
        source_path=None,
    )


def words():
    """Likewise, of WordPiece."""
    rng = random.Random("words")
    texts = dict.fromkeys(["[UNK]", "日"])
    while len(texts) < SMALLEST + 10:
        texts[rng.choice(["", "##"]) + "".join(rng.choices("abcdeghé", k=rng.randint(1, 6)))] = None
    return make(
        "kept", [*texts], {"[UNK]": 0}, WordPieceRules(), unk_id=0, file_format="test",
        source_path=None,
    )  # fmt: skip


CASES = {
    "spm.llama-cpp.fast": lambda: pieces(Algorithm.BPE),
    "spm.llama-cpp": lambda: pieces(Algorithm.BPE),
    "unigram.sentencepiece": lambda: pieces(Algorithm.UNIGRAM),
    "unigram.sentencepiece.fast": lambda: pieces(Algorithm.UNIGRAM),
    "unigram.llama-cpp": lambda: pieces(Algorithm.UNIGRAM, byte_fallback=False),
    "wordpiece.bert": words,
    "wordpiece.llama-cpp": words,
}

SOME = thorough_from(
    2, sorted(CASES, key=lambda name: name not in {"spm.llama-cpp", "wordpiece.bert"})
)
"""The quickest first."""


def ids_of(name, vocabulary):
    implementation = registry.resolve(name)
    assert implementation.supports(vocabulary, Mode()) is None
    return implementation.load(vocabulary).encode(DATA, Mode())


def anew(name, vocabulary, monkeypatch):
    """The ids by tables that no file is asked for."""
    with monkeypatch.context() as patch:
        patch.setattr(table_cache, "SMALLEST", 1 << 30)
        return ids_of(name, vocabulary)


@pytest.mark.parametrize("name", SOME)
def test_ids_by_kept_tables(name, tmp_path, monkeypatch):
    vocabulary = CASES[name]()
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    expected = anew(name, vocabulary, monkeypatch)
    subject = name.partition(".")[0]
    assert not [*tmp_path.glob(f"*-{subject}*")]
    assert ids_of(name, vocabulary) == expected
    kept = sorted(tmp_path.glob(f"*-{subject}*"))
    assert kept
    assert min(file.stat().st_size for file in kept) > 4096  # bytes can stand for it, for one
    assert ids_of(name, vocabulary) == expected
    assert sorted(tmp_path.glob(f"*-{subject}*")) == kept
    # What is damaged is made again: test_bpe_cache.py has every kind of damage.
    whole = {file: file.read_bytes() for file in kept}
    for file, content in whole.items():
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert ids_of(name, vocabulary) == expected
    assert {file: file.read_bytes() for file in kept} == whole


@pytest.mark.parametrize("name", SOME)
def test_what_is_kept_is_read(name, tmp_path, monkeypatch):
    vocabulary = CASES[name]()
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    expected = ids_of(name, vocabulary)
    original = table_cache.kept_arrays

    def none_is_made(name, make, source):
        def refuse():
            raise AssertionError(f"{name} is made again")

        return original(name, refuse if name else make, source)

    monkeypatch.setattr(table_cache, "kept_arrays", none_is_made)
    assert ids_of(name, vocabulary) == expected
    # Tables that another source made are not taken.
    monkeypatch.setattr(table_cache, "source_of", lambda *places: b"another")
    with pytest.raises(AssertionError, match="is made again"):
        ids_of(name, vocabulary)


@pytest.mark.parametrize("name", ["spm.llama-cpp", thorough("unigram.sentencepiece")])
@pytest.mark.parametrize("change", ["score", "text", "type", "order"])
def test_another_vocabulary_has_other_tables(name, change, tmp_path, monkeypatch):
    vocabulary = CASES[name]()
    monkeypatch.setenv("TOKGATE_CACHE_DIR", str(tmp_path))
    first = ids_of(name, vocabulary)
    found = [*vocabulary.pieces]
    place = max(first)  # a piece that the text becomes
    if change == "score":
        found[place] = replace(found[place], score=-1e6)
    elif change == "text":
        found[place] = replace(found[place], text="ZZZ")
    elif change == "type":
        found[place] = replace(found[place], type=PieceType.CONTROL)
    else:
        found[place], found[-1] = found[-1], found[place]
    other = from_pieces(
        "kept",
        found,
        algorithm=vocabulary.algorithm,
        normalizer=vocabulary.normalizer,
        byte_fallback=vocabulary.byte_fallback,
        file_format="test",
        source_path=None,
    )
    assert ids_of(name, other) == anew(name, other, monkeypatch)
    assert ids_of(name, vocabulary) == first


def test_names_are_told_apart_by_all_that_tables_are_made_of():
    one, other = variants.SENTENCEPIECE, variants.LLAMA_CPP
    vocabulary = pieces(Algorithm.BPE)
    found = vocabulary.pieces
    made_of = [
        (found, one, True),
        (found, one, False),
        (found, other, True),
        (found, replace(one, merged_types=one.known_types), True),
        (found[1:], one, True),
        (vocabulary, one, True),
    ]
    names = [digest_of(values) for values in made_of]
    assert len(set(names)) == len(names)
    # The order in which a set gives its members is no part of a name.
    sets = [frozenset([0, 8]), frozenset([8, 0])]  # these two have one place in a table
    assert repr(sets[0]) != repr(sets[1])
    assert digest_of(sets[:1]) == digest_of(sets[1:])
