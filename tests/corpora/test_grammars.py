"""Finite languages, regular expressions and the unrestricted language, against other ways."""

from __future__ import annotations

import itertools
import random
import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from corpora.grammars.base import GrammarError
from corpora.grammars.finite import FiniteLanguage
from corpora.grammars.regular import regular
from corpora.grammars.regular_syntax import utf8
from corpora.grammars.unrestricted import Unrestricted
from tests.corpora.grammar_laws import check_finite, check_state, check_walk

LANGUAGES = st.sets(st.text("abé😀", max_size=5).map(str.encode), max_size=8)


@given(LANGUAGES)
def test_a_finite_language_is_its_sentences(sentences: set[bytes]) -> None:
    check_finite(FiniteLanguage(sentences), sentences)


def test_a_language_without_sentences() -> None:
    empty = FiniteLanguage([])
    assert not empty.viable(b"") and not empty.complete
    assert empty.forced() == b"" and empty.next_bytes() == () and empty.sentences(0) == ()
    with pytest.raises(ValueError):
        empty.after(b"")


def test_states_with_equal_rests_are_equal() -> None:
    language = FiniteLanguage([b"ab1", b"ab2", b"cd1", b"cd2", b"ce"])
    assert language.after(b"ab") == language.after(b"cd") == FiniteLanguage([b"1", b"2"])
    assert hash(language.after(b"ab")) == hash(FiniteLanguage([b"1", b"2"]))
    assert language.after(b"c") != language.after(b"a")


def test_the_unrestricted_language() -> None:
    anything = Unrestricted()
    assert anything.complete and anything.forced() == b"" and anything.sentences(10**9) is None
    assert len(anything.next_bytes()) == 256
    check_state(anything.after(b"\xff\x00"))


def patterns(alphabet: list[str]) -> st.SearchStrategy[str]:
    """Patterns over the letters given, classes and ``.``, of all that the parser knows.

    Classes are in groups: ``regex`` 2026.11 does not find ``a`` in ``[^a]|[^b]``.
    """
    inside = st.lists(st.sampled_from(alphabet), min_size=1, max_size=3).map("".join)
    atoms = st.one_of(
        st.sampled_from([*alphabet, ".", r"\w", r"\D", r"\x61"]),
        inside.map(lambda letters: f"([{letters}])"),
        inside.map(lambda letters: f"([^{letters}])"),
    )
    signs = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,2}", "{,1}", "{2,}", "*?"])

    def larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(smaller, smaller).map("".join),
            st.tuples(smaller, smaller).map("|".join),
            smaller.map(lambda inner: f"({inner})"),
            st.tuples(smaller, signs).map(lambda both: f"(?:{both[0]}){both[1]}"),
        )

    return st.recursive(atoms, larger, max_leaves=6)


def greedy(pattern: str) -> str:
    """The same language for ``regex``: its partial matches of lazy quantifiers are too many.

    ``regex`` 2026.11 says that ``((?:a)*?a)`` could match something that begins with ``ab``.
    """
    return pattern.replace("*?", "*")


@given(patterns(["a", "b", "\\n"]))
def test_an_expression_over_bytes_is_that_of_re(pattern: str) -> None:
    """Membership by ``re``; what may follow by the partial matches of ``regex``."""
    raw = pattern.encode()
    grammar = regular(raw)
    by_re, by_regex = re.compile(raw, re.ASCII), regex.compile(greedy(pattern).encode())
    for length in range(4):
        for letters in itertools.product(b"ab\n\xff", repeat=length):
            text = bytes(letters)
            viable = by_regex.fullmatch(text, partial=True) is not None
            assert grammar.viable(text) == viable
            if not viable:
                continue
            state = grammar.after(text)
            assert state.complete == (by_re.fullmatch(text) is not None)
            for byte in b"\x00\n 0a`b_z\x80\xff":
                follows = by_regex.fullmatch(text + bytes([byte]), partial=True) is not None
                assert follows == (byte in state.next_bytes())
    check_walk(grammar, random.Random(pattern), 6)


@given(patterns(["a", "é", "😀", "ß-ü"]), st.lists(st.text("aéèß0😀\n_", max_size=4), max_size=30))
def test_an_expression_over_text_is_that_of_re(pattern: str, texts: list[str]) -> None:
    grammar = regular(pattern)
    by_re, by_regex = re.compile(pattern, re.ASCII), regex.compile(greedy(pattern), regex.ASCII)
    for text in texts:
        data = text.encode()
        viable = by_regex.fullmatch(text, partial=True) is not None
        assert grammar.viable(data) == viable
        if viable:
            assert grammar.after(data).complete == (by_re.fullmatch(text) is not None)
            # Inside a character: every one that begins so may come, or none does.
            inside = any(
                by_regex.fullmatch(text + chr(code), partial=True) is not None
                for code in range(0xC0, 0x100)
            )
            assert grammar.viable(data + b"\xc3") == inside
    check_walk(grammar, random.Random(pattern), 6)


@given(patterns(["a", "b", "ab"]).filter(lambda p: not re.search(r"[*+.^\\]|,}", p)))
def test_the_sentences_of_a_finite_expression(pattern: str) -> None:
    found = regular(pattern).sentences(3000)
    if found is None:
        return
    longest = max(map(len, found))
    assert all(re.fullmatch(pattern, text.decode()) for text in found)
    if longest <= 8:
        letters = itertools.chain.from_iterable(
            itertools.product("ab-", repeat=length) for length in range(longest + 2)
        )
        assert {s for s in map("".join, letters) if re.fullmatch(pattern, s)} == {
            text.decode() for text in found
        }
    if len(found) <= 40:
        check_finite(regular(pattern), set(found))


@pytest.mark.parametrize("pattern", ["a*", "(a|b)+c", "(ab{2,})?", "[^a]{3}", "x(yz)*"])
def test_too_many_sentences_are_noticed(pattern: str) -> None:
    assert regular(pattern).sentences(1000) is None


def test_a_long_expression() -> None:
    grammar = regular("(?:[a-c]x){2000}!?")
    assert grammar.after(b"ax" * 1999 + b"b").forced() == b"x"
    assert grammar.after(b"ax" * 2000).sentences(2) == [b"", b"!"]
    # The classical one with 2^12 states: made as they are used.
    assert regular("(a|b)*a(a|b){12}").after(b"ab" * 5000).viable(b"a" * 14)


def test_utf8_forms_are_the_characters() -> None:
    """Each character of some ranges by exactly one form; neighbours by none."""
    edges = [0, 0x7F, 0x80, 0xE9, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF]
    for low, high in itertools.combinations_with_replacement(edges, 2):
        if low <= 0xD7FF < high:
            continue
        forms = utf8(low, high)
        near = {c for edge in edges for c in range(edge - 2, edge + 3)}
        for code in sorted(near):
            if 0 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
                data = chr(code).encode()
                hits = sum(
                    len(form) == len(data) and all(map(range.__contains__, form, data))
                    for form in forms
                )
                assert hits == (low <= code <= high), (low, high, code)


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("a(b", "missing ) for the group at 1"),
        ("ab)", "unbalanced ) at 2"),
        ("[ab", "missing ] for the class at 0"),
        ("*a", "nothing to repeat at 0"),
        ("a**", "a second quantifier at 2"),
        ("a{2,3}+", "a second quantifier at 6"),
        ("a{3,2}", "bounds in the wrong order at 1"),
        ("^a", "no anchors, ^ at 0"),
        ("a(?=b)", "only plain, (?:..) and (?P<name>..) groups are regular at 1"),
        (r"(a)\1", r"no escape \1 at 3"),
        (r"\u00g0", "an incomplete escape at 0"),
        (rb"\u0061", r"no escape \u at 0"),
        ("[b-a]", "a range in the wrong order at 4"),
        ("[a-\\d]", "a range between classes at 5"),
        ("a\\", "a backslash at the end at 1"),
        (r"[^\x00-\U0010FFFF]", "a class of no characters at 0"),
        ("(a{1000}){1000}", "more than 50000 bytes"),
    ],
)
def test_what_is_no_regular_expression_is_refused_in_one_line(
    pattern: str | bytes, fault: str
) -> None:
    with pytest.raises(GrammarError) as caught:
        regular(pattern)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)
