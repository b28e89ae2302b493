from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from corpora.vocabularies.model import Normalizer, Piece, PieceType, VocabularyError
from corpora.vocabularies.sources import resolve
from impls.interface import Mode, Rejected
from impls.spm import variants
from impls.spm.encoder import LLAMA_CPP, SENTENCEPIECE, SpmEncoder
from tests.properties.impls.spm_definition import BYTES, by_llama_cpp, spm, vocabularies

TEXT = Mode()
SPECIAL = Mode(special="all")


def normal(text, score=-1.0):
    return Piece(text, score, PieceType.NORMAL)


def unused(text, score=-1.0):
    return Piece(text, score, PieceType.UNUSED)


def user_defined(text, score=0.0):
    return Piece(text, score, PieceType.USER_DEFINED)


def control(text, score=0.0):
    return Piece(text, score, PieceType.CONTROL)


def spelled(vocabulary, text, implementation=SENTENCEPIECE, mode=TEXT):
    data = text if isinstance(text, bytes) else text.encode()
    ids = implementation.load(vocabulary).encode(data, mode)
    return [vocabulary.pieces[i].text for i in ids]


def letters(*merged, characters="abc"):
    return [*(normal(c, -100.0) for c in characters), *merged]


def test_resegmentation_ends_at_its_depth():
    chain = [unused("a" * n, float(n)) for n in range(2, 150)]
    vocabulary = spm([normal("a"), *chain])

    assert spelled(vocabulary, "a" * 102) == ["a"] * 102
    assert spelled(vocabulary, "a" * 110) == ["a" * 9, *["a"] * 101]


def test_llama_cpp_reads_control_tokens_only_when_asked():
    pieces = [*letters(), control("<s>")]
    vocabulary = spm(pieces, Normalizer(escape_whitespaces=True), byte_fallback=True)

    assert spelled(vocabulary, "a<s>", LLAMA_CPP, SPECIAL) == ["a", "<s>"]
    assert spelled(vocabulary, "a<s>", LLAMA_CPP) == ["a", "<0x3C>", "<0x73>", "<0x3E>"]


def test_invalid_bytes():
    """llama.cpp takes as many bytes as the first announces."""
    vocabulary = spm(letters(), Normalizer(escape_whitespaces=True), byte_fallback=True)

    assert spelled(vocabulary, b"\xc3aa\xe2\x96", LLAMA_CPP) == [
        "<0xC3>",
        "<0x61>",
        "a",
        "<0xE2>",
        "<0x96>",
    ]


def test_llama_cpp_has_no_order_for_nan():
    vocabulary = spm(letters(normal("ab", float("nan"))), byte_fallback=True)

    with pytest.raises(VocabularyError, match="'ab' is NaN"):
        LLAMA_CPP.load(vocabulary)


@pytest.mark.parametrize(
    ("pieces", "fallback", "fault"),
    [
        ([normal("a"), control("a")], False, "'a' stands more than once"),
        ([normal("")], False, "is empty"),
        ([normal("a\0")], False, "NUL"),
        ([normal("a" * 8000)], False, "8000 bytes"),
        ([Piece("?", 0.0, PieceType.UNKNOWN)], False, "2 pieces of type UNKNOWN"),
        ([BYTES[0]], False, "without byte_fallback"),
    ],
)
def test_what_sentencepiece_refuses_is_one_line(pieces, fallback, fault):
    with pytest.raises(VocabularyError, match=fault):
        SENTENCEPIECE.load(spm(pieces, byte_fallback=fallback))


def test_byte_fallback_without_byte_pieces():
    complete = spm([normal("a")], Normalizer(escape_whitespaces=True), byte_fallback=True)
    pieces = tuple(piece for piece in complete.pieces if piece.text != "<0xFF>")
    lacking = replace(complete, pieces=pieces)

    with pytest.raises(VocabularyError, match="255 byte pieces"):
        SENTENCEPIECE.load(lacking)
    encoder = LLAMA_CPP.load(lacking)
    assert encoder.encode(b"a\xfe", TEXT) == [256, 255]
    with pytest.raises(Rejected, match="0xff has no token"):
        encoder.encode(b"a\xff", TEXT)


def test_an_empty_piece_has_a_name_in_llama_cpp():
    pieces = [*letters(), normal("")]
    vocabulary = spm(pieces, Normalizer(escape_whitespaces=True), byte_fallback=True)

    assert spelled(vocabulary, "ab", LLAMA_CPP) == ["a", "b"]


def test_supports():
    characters, bytes_, unigram = map(resolve, ("toy_characters", "toy_bytes", "toy_unigram"))

    for implementation in (SENTENCEPIECE, LLAMA_CPP):
        assert implementation.supports(characters, TEXT) is None
        assert implementation.supports(characters, Mode(pretokenize=False))
        assert implementation.supports(bytes_, TEXT)
        assert implementation.supports(unigram, TEXT)
    assert SENTENCEPIECE.supports(characters, SPECIAL)
    assert LLAMA_CPP.supports(characters, SPECIAL) is None
    suffix = Normalizer(add_dummy_prefix=True, treat_whitespace_as_suffix=True)
    assert LLAMA_CPP.supports(spm(letters(), suffix, byte_fallback=True), TEXT)
    assert LLAMA_CPP.supports(spm(letters(), Normalizer(escape_whitespaces=True)), TEXT)


def assert_batch(encoder, inputs, expected):
    ends = np.cumsum([len(data) for data in inputs], dtype=np.int64)
    ids, id_ends = encoder.encode_batch(b"".join(inputs), ends, TEXT)
    assert [part.tolist() for part in np.split(ids, id_ends[:-1])] == expected


@given(vocabularies(plain=True))
def test_llama_cpp_variant_is_the_definition(drawn):
    vocabulary, inputs = drawn

    assert_batch(
        LLAMA_CPP.load(vocabulary), inputs, [by_llama_cpp(vocabulary, data) for data in inputs]
    )


def test_a_long_run_of_one_character():
    vocabulary = spm(letters(normal("aa", -1.0), normal("aaaa", -2.0), normal("ab", -3.0)))
    for size in (1023, 70_000):
        assert spelled(vocabulary, "a" * size) == (
            ["aaaa"] * (size // 4) + ["aa"] * (size % 4 // 2) + ["a"] * (size % 2)
        )


@given(vocabularies(plain=True))
def test_stages_lead_to_the_ids(drawn):
    vocabulary, inputs = drawn
    for variant in (variants.SENTENCEPIECE, variants.LLAMA_CPP):
        encoder = SpmEncoder(vocabulary, variant)
        for data in inputs:
            found = encoder.stages(data, TEXT)
            assert list(found.ids) == encoder.encode(data, TEXT)
            for texts in (found.symbols, found.merged, found.resegmented):
                assert b"".join(texts) == found.normalized


def test_an_id_that_does_not_exist():
    for implementation in (SENTENCEPIECE, LLAMA_CPP):
        encoder = implementation.load(resolve("toy_characters"))
        with pytest.raises(IndexError, match="100000"):
            encoder.decode([100000])
        with pytest.raises(IndexError):
            encoder.decode([-1])


def test_decoding_by_llama_cpp():
    pieces = [normal("▁a"), unused("b"), user_defined("▁c"), control("</s>")]
    vocabulary = spm(pieces, Normalizer(None, None, True, False, True), byte_fallback=True)
    ids = {piece.text: i for i, piece in enumerate(vocabulary.pieces)}
    order = ["▁a", "b", "▁c", "▁a", "<0xE2>", "</s>"]

    decoded = LLAMA_CPP.load(vocabulary).decode([ids[text] for text in order])
    assert decoded == b"a" + "▁c".encode() + b" a\xe2</s>"
