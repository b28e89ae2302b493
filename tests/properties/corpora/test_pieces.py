"""Pieces in columns: they are to everybody what a tuple of pieces is."""

import hashlib
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.model import Piece, PieceType
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.sources import resolve

LISTS = st.lists(
    st.builds(
        Piece,
        st.text("ab▁é日😀\0\ud800", max_size=4),
        st.floats(allow_nan=False),
        st.sampled_from(PieceType),
    ),
    max_size=12,
)


@given(LISTS)
def test_columns_are_the_pieces(pieces):
    expected = tuple(pieces)
    for columns in (Pieces.of(pieces), pickle.loads(pickle.dumps(Pieces.of(pieces)))):
        assert len(columns) == len(expected)
        # One by one, before all of them are made, and from either end.
        assert [columns[i] for i in range(len(columns))] == pieces
        assert [columns[i] for i in range(-len(columns), 0)] == pieces
        assert columns == expected
        assert columns[1:3] == expected[1:3]
        assert repr(columns) == repr(expected)
        assert columns.texts == [piece.text for piece in pieces]
        for index in (len(columns), -len(columns) - 1):
            with pytest.raises(IndexError):
                columns[index]
            with pytest.raises(IndexError):
                Pieces.of(pieces)[index]
    assert Pieces.of(columns) is columns


@given(LISTS)
def test_pieces_are_found_by_text_and_type(pieces):
    columns = Pieces.of(pieces)
    for text in {piece.text for piece in pieces} | {"a", "ab", "é"}:
        if text:
            assert columns.find(text) == [i for i, p in enumerate(pieces) if p.text == text]
    for types in (tuple(PieceType), (PieceType.BYTE, PieceType.NORMAL), ()):
        assert columns.of_types(*types) == [i for i, p in enumerate(pieces) if p.type in types]


@given(LISTS, LISTS)
def test_a_digest_tells_pieces_apart(one, other):
    def digest(pieces):
        made = hashlib.sha256()
        Pieces.of(pieces).update(made.update)
        return made.hexdigest()

    assert (digest(one) == digest(other)) is (repr(one) == repr(other))


def test_a_vocabulary_of_columns_is_that_of_a_tuple():
    vocabulary = resolve("toy_characters")
    assert isinstance(vocabulary.pieces, Pieces)
    assert replace(vocabulary, pieces=tuple(vocabulary.pieces)).fingerprint == (
        vocabulary.fingerprint
    )
    bare = vocabulary.pieces.bare()
    assert bare == vocabulary.pieces
    assert bare is not vocabulary.pieces  # whose objects may have been made
