"""Finite languages and the unrestricted language, against their definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.grammars.finite import FiniteLanguage, Unrestricted
from tests.corpora.grammar_laws import check_finite, check_state

LANGUAGES = st.sets(st.text("abé😀", max_size=5).map(str.encode), max_size=8)


@given(LANGUAGES)
def test_a_finite_language_is_its_sentences(sentences):
    check_finite(FiniteLanguage(sentences), sentences)


def test_a_language_without_sentences():
    empty = FiniteLanguage([])
    assert not empty.viable(b"") and not empty.complete
    assert empty.forced() == b"" and empty.next_bytes() == () and empty.sentences(0) == ()
    with pytest.raises(ValueError):
        empty.after(b"")


def test_states_with_equal_rests_are_equal():
    language = FiniteLanguage([b"ab1", b"ab2", b"cd1", b"cd2", b"ce"])
    assert language.after(b"ab") == language.after(b"cd") == FiniteLanguage([b"1", b"2"])
    assert hash(language.after(b"ab")) == hash(FiniteLanguage([b"1", b"2"]))
    assert language.after(b"c") != language.after(b"a")


def test_the_unrestricted_language():
    anything = Unrestricted()
    assert anything.complete and anything.forced() == b"" and anything.sentences(10**9) is None
    assert len(anything.next_bytes()) == 256
    check_state(anything.after(b"\xff\x00"))
