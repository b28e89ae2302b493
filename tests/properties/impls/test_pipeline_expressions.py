"""Expressions that are taken for ones that Oniguruma and the `regex` package read alike."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from impls.interface import Unsupported
from impls.pipeline.errors import Undefined
from impls.pipeline.expressions import compiled, matches
from tests.breadth import thorough
from tests.properties.impls.pipeline_documents import PARTS

CHARACTERS = "sStTlLvVeEſ²½ab1 -'é日.,/\n\r\t\u0301A9zΩ_~&#$[]\\"

ESCAPES = st.sampled_from(
    [
        *(r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\n", r"\r", r"\t", r"\u00e9", r"\u65e5"),
        *(r"\p{L}", r"\P{L}", r"\p{N}", r"\p{Lu}", r"\p{M}", r"\p{P}", r"\p{S}", r"\p{Han}"),
        *(r"\.", r"\-", r"\[", r"\\", r"\/", r"\$", r"\_", r"\!", r"\#", r"\~", r"\&"),
    ]
)
LITERALS = st.sampled_from([*"ab1 -'é日.,/#~&=:<>!@_\n%;sv", "\u0301"])
RANGES = st.sampled_from(["a-c", "0-9", r"\u0800-\u4e00", "A-Za-z", "!-/", r"\t-\r", " -~"])
ITEMS = st.one_of(ESCAPES, RANGES, st.sampled_from([*"ab1 'é日.,/#=:<>!@_$+*?(){}"]))
CLASSES = st.builds(
    lambda negated, items, end: f"[{negated}{''.join(items)}{end}]",
    st.sampled_from(["", "^"]),
    st.lists(ITEMS, min_size=1, max_size=4),
    st.sampled_from(["", "-"]),
)
TIMES = st.sampled_from(["", "", "*", "+", "?", "*?", "+?", "??", "{1,3}", "{2}", "{2,}", "{0,2}"])
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
ATOMS = st.one_of(
    *(st.builds(str.__add__, st.one_of(ESCAPES, LITERALS, CLASSES, st.just(".")), TIMES),) * 3,
    st.builds("({}{})".format, st.sampled_from(["?<=", "?<!"]), st.one_of(ESCAPES, CLASSES)),
    st.sampled_from([CONTRACTIONS, f"{CONTRACTIONS}?"]),
)
SEQUENCES = st.lists(ATOMS, min_size=1, max_size=4).map("".join)
EXPRESSIONS = st.recursive(
    st.lists(SEQUENCES, min_size=1, max_size=3).map("|".join),
    lambda inner: st.builds(
        "{}({}{}){}".format, SEQUENCES, st.sampled_from(["?:", "?!", "?=", ""]), inner, SEQUENCES
    ),
    max_leaves=4,
)
TEXTS = st.lists(
    st.one_of(
        st.lists(st.sampled_from(PARTS), max_size=10).map("".join),
        st.text(st.sampled_from(CHARACTERS), max_size=20),
    ),
    min_size=5,
    max_size=20,
)


@pytest.mark.parametrize("examples", [60, thorough(250)])
def test_what_is_taken_matches_alike(examples):
    compared = 0

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(EXPRESSIONS, TEXTS)
    def differs(expression, texts):
        nonlocal compared
        try:
            ours = compiled(expression)
        except Undefined:
            return
        library = pre_tokenizers.Split(Regex(expression), "removed")
        for text in texts:
            try:
                spans = matches(ours, text)
            except Unsupported:
                continue
            compared += 1
            ends, starts = [0, *(end for _, end in spans)], [*(at for at, _ in spans), len(text)]
            gaps = [text[end:at] for end, at in zip(ends, starts, strict=True) if end < at]
            assert gaps == [one for one, _ in library.pre_tokenize_str(text)], text

    differs()
    assert compared > examples


def test_words_of_which_engines_disagree_are_left_alone():
    assert matches(compiled(r"\w+"), "ab é日1") == [(0, 2), (3, 6)]
    for text in ("m²", "a\u200db"):
        with pytest.raises(Unsupported, match="engines disagree"):
            matches(compiled(r"[^\w]+"), text)
