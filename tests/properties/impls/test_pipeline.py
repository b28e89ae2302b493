"""The definitions of a tokenizer.json's steps against the library whose files these are."""

import json
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_bytes, from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.core.standing import definitions_of
from impls.interface import Mode, Unsupported
from impls.pipeline.characters import UNSETTLED
from impls.pipeline.encoder import IMPLEMENTATION, NAME, Encoder, read
from impls.pipeline.errors import Undefined
from impls.pretokenize.unicode_version import versioned
from tests.breadth import thorough
from tests.properties.impls.pipeline_documents import (
    EMPTY,
    PARTS,
    TEXTS,
    charsmap,
    content,
    documents,
)

Json = dict[str, Any]
TEXT, SPECIAL = Mode(), Mode(special="all")

METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}


def words(vocab=(), **changes):
    """A file whose model says nothing of the steps before it."""
    texts = dict.fromkeys(("<unk>", *vocab))
    model = {
        "type": "WordLevel",
        "vocab": {text: i for i, text in enumerate(texts)},
        "unk_token": "<unk>",
    }
    return {**EMPTY, "model": model, **changes}


def agree(document, texts, mode):
    """How many of the texts have defined ids, which are those of the library."""
    told = content(document)
    try:
        ours = Encoder(told)
    except Undefined:
        return 0
    library = Tokenizer.from_str(told.decode())
    library.encode_special_tokens = mode.special == "none"
    compared = 0
    for text in texts:
        try:
            ids = ours.encode(text.encode(), mode)
        except Unsupported:
            continue
        assert ids == library.encode(text, add_special_tokens=False).ids, text
        compared += 1
    return compared


@pytest.mark.parametrize(
    ("examples", "beginning"), [(20, False), thorough((150, False)), thorough((150, True))]
)
def test_the_ids_of_drawn_files_are_those_of_the_library(examples, beginning):
    compared = 0
    several = st.lists(TEXTS, min_size=4, max_size=12)

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(documents(beginning=beginning), several, st.sampled_from([TEXT, SPECIAL]))
    def differs(document, texts, mode):
        nonlocal compared
        compared += agree(document, texts, mode)

    differs()
    assert compared > 2 * examples


@pytest.mark.parametrize(
    ("pattern", "content", "text", "beginning"),
    [
        ("a", "", "ba", True),
        ("a", "b", "ab", True),
        ("a", "", "ab", None),
        ("ab", "b", "abb", None),
        (" ", "\u2581", " b", True),
    ],
)
def test_where_the_beginning_of_a_text_goes(pattern, content, text, beginning):
    replace = {"type": "Replace", "pattern": {"String": pattern}, "content": content}
    document = words(("\u2581b", "b", "\u2581bb"), normalizer=replace, pre_tokenizer=METASPACE)
    assert agree(document, [text], TEXT) == (0 if beginning is None else 1)


NORMALIZERS = [
    *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")),
    {"type": "Nmt"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    {"type": "Precompiled"},
]
SPLITTERS = [
    *({"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")),
    {"type": "UnicodeScripts"},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": False},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    *(
        {"type": "Split", "pattern": {"Regex": one}, "behavior": "Isolated", "invert": False}
        for one in (r"\s+", r"\d", r"\p{L}+|\p{N}", r"\p{P}|\p{Lu}", r"\p{M}+|\p{Z}|\p{Han}")
    ),
]


def named(step):
    return str(step.get("pattern", {}).get("Regex", step["type"]))


CHARACTERS = [
    *map(chr, range(0xD800)),
    *map(chr, range(0xE000, 0x33500)),
    *map(chr, range(0xE0000, 0xE0200)),
    *map(chr, range(0x33500, sys.maxunicode, 997)),
]
"""All where anything is assigned, and some of the others."""

TOGETHER = 256
"""Characters that are asked about in one text, each in a line of its own."""


def in_context(context):
    """Each character in a context, some together."""
    for start in range(0, len(CHARACTERS), TOGETHER):
        yield [context.format(one) for one in CHARACTERS[start : start + TOGETHER]]


def answered(ours, lines):
    """The texts that ours answers, as many in one as can be; its pieces, and what it normalizes to.

    A text that it does not answer is left out.
    """
    try:
        text = "\n".join(lines)
        parts = ours.parts(text.encode(), TEXT)
    except Unsupported:
        if len(lines) > 1:
            yield from answered(ours, lines[: len(lines) // 2])
            yield from answered(ours, lines[len(lines) // 2 :])
        return
    yield text, [piece for _, found, _ in parts for piece in found], "".join(p for p, _, _ in parts)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("field", "step"),
    [*(("normalizer", step) for step in NORMALIZERS), *(("pre_tokenizer", s) for s in SPLITTERS)],
    ids=lambda value: value if isinstance(value, str) else named(value),
)
def test_every_character_is_treated_as_by_the_library(field, step):
    if step["type"] == "Precompiled":
        step = {**step, "precompiled_charsmap": charsmap()}
    told = content(words(**{field: step}))
    ours, library = Encoder(told), Tokenizer.from_str(told.decode())
    count = 0
    for lines in in_context("a\u0323{}\u0301b" if field == "normalizer" else "a{}"):
        for text, pieces, normalized in answered(ours, lines):
            if field == "normalizer":
                assert normalized == library.normalizer.normalize_str(text), ascii(text)
            else:
                parts = library.pre_tokenizer.pre_tokenize_str(text)
                assert pieces == [one for one, _ in parts], ascii(text)
            count += 1 + text.count("\n")
    undecided = 30_000 if step["type"] == "UnicodeScripts" else 2500
    assert count > len(CHARACTERS) - undecided


def test_white_space_at_the_edges_is_that_of_the_library():
    step = {"type": "Strip", "strip_left": True, "strip_right": True}
    told = content(words(normalizer=step))
    ours, library = Encoder(told), Tokenizer.from_str(told.decode()).normalizer
    for code in [*range(0x3100), 0xFEFF, 0xFFFD, 0xE0020]:
        text = f"{chr(code)}a{chr(code)}"
        [(part, _, _)] = ours.parts(text.encode(), TEXT)
        assert part == library.normalize_str(text), ascii(text)


@pytest.mark.parametrize("character", ["\u32ff", "\u0898", "\U0001e95e", "\ua7da"])
def test_what_depends_on_the_version_of_unicode_is_not_answered(character):
    bert = next(step for step in NORMALIZERS if step["type"] == "BertNormalizer")
    assert character in UNSETTLED or versioned().search(character)
    with pytest.raises(Unsupported, match="version of Unicode"):
        Encoder(content(words(normalizer=bert))).encode(character.encode(), TEXT)


def old_t5():
    """Our unigram vocabulary with the steps of T5's first file."""
    document = json.loads(to_tokenizer_json(resolve("unigram_nfkc"), pretokenize=True))
    steps = document["normalizer"]["normalizers"]
    document["normalizer"] = next(step for step in steps if step["type"] == "Precompiled")
    document["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [{"type": "WhitespaceSplit"}, document["pre_tokenizer"]],
    }
    return document


@pytest.mark.parametrize("scheme", ["always", thorough("never"), "first"])
def test_a_file_as_t5_had_it(scheme):
    document = old_t5()
    document["pre_tokenizer"]["pretokenizers"][1]["prepend_scheme"] = scheme
    texts = [*PARTS, "の" * 5, "の" * 7, " x  y\n z", "ﬁ né ｱﾞ ①", "naïve café"]
    assert agree(document, texts, TEXT) == (0 if scheme == "first" else len(texts))


def test_who_defines_a_file_of_other_steps():
    vocabulary = from_bytes(content(old_t5()), "t5", None)
    assert vocabulary.unexpressed
    assert definitions_of(vocabulary, "unigram") == (NAME,)
    assert IMPLEMENTATION.supports(vocabulary, TEXT) is None
    assert IMPLEMENTATION.supports(vocabulary, SPECIAL) is None
    assert IMPLEMENTATION.supports(vocabulary, Mode(pretokenize=False)) is not None
    shown = IMPLEMENTATION.steps(vocabulary, "né  x".encode(), TEXT)
    ids = IMPLEMENTATION.load(vocabulary).encode("né  x".encode(), TEXT)
    assert [step.name for step in shown] == ["normalization", "pre-tokens", "ids"]
    assert shown[1].value == "'▁né' '▁x'"
    assert shown[2].value == " ".join(map(str, ids))


@pytest.mark.parametrize("source", ["unigram_nfkc", "toy_acbb", None])
def test_who_does_not(source):
    if source is None:
        told = json.loads(to_tokenizer_json(resolve("unigram_nfkc"), pretokenize=True))
        vocabulary, why = from_document(told, "t5", None), "the plain model says all of the file"
    else:
        vocabulary, why = resolve(source), "reads a tokenizer.json"
    assert IMPLEMENTATION.supports(vocabulary, TEXT) == why
    assert NAME not in definitions_of(vocabulary, vocabulary.algorithm.value)


def split(regex, **changes):
    step = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    return {"pre_tokenizer": {**step, **changes}}


@pytest.mark.parametrize(
    "changes",
    [
        *(
            split(one)
            for one in (
                r"[^\s\S]",
                r"(?<=ab)c",
                r"^a",
                "a$",
                r"\bx",
                "a++",
                "(?:a*)*",
                "(?i)ß",
                r"\x41",
            )
        ),
        *(split(one) for one in ("[a&&b]", "[[:alpha:]]", "[[a]]", "(?<=a|b)c", r"(a)\1", "a{2}+")),
        *(split(one) for one in ("(a", "a)", "*", r"\p{Greek}", "(?>a)", "a**", r"\X")),
        split("a", behavior="Odd"),
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "(a)"}, "content": "$1"}},
        {"normalizer": {"type": "Odd"}},
        {"pre_tokenizer": {"type": "Odd"}},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}, METASPACE]}},
        {
            "pre_tokenizer": METASPACE,
            "normalizer": {"type": "Lowercase"},
            "added_tokens": [{"id": 1, "content": "<a>", "normalized": True}],
        },
        {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "b"}},
        {"model": {"type": "Unigram", "unk_id": None, "vocab": [["a", -1.0]]}},
        {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a" * 1001, -1.0]]}},
        {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a"]]}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a"]]}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["aa"]}},
        {"model": {"type": "Odd", "vocab": {"a": 0}}},
        {"model": {"type": "WordPiece"}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA!"}},
        {"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": "a"}},
        {"pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": "ab"}},
        {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
        {"added_tokens": [{"id": 7, "content": "<a>"}]},
        {
            "normalizer": {"type": "Lowercase"},
            "added_tokens": [
                {"id": place, "content": text, "normalized": True}
                for place, text in enumerate(("<a>", "<A>"), 1)
            ],
        },
    ],
)
def test_what_is_not_defined_says_so(changes):
    assert isinstance(read(content(words(**changes))), str)


def test_a_match_of_nothing_is_not_answered():
    encoder = Encoder(content(words(**split("a*"))))
    with pytest.raises(Unsupported, match="nothing"):
        encoder.encode(b"xax", TEXT)


def test_long_runs_take_a_moment():
    for encoder in (Encoder(content(old_t5())), Encoder(content(words(**split(r"\s+"))))):
        assert len(encoder.encode(b"ab " * 5_000, TEXT)) > 0
