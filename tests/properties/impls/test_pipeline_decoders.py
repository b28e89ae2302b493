"""The definitions of decoders and post-processors against the library whose files these are."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from corpora.vocabularies.tokenizer_json import from_document
from impls import registry
from impls.interface import Capability, Mode, Unsupported
from impls.pipeline.encoder import IMPLEMENTATION, Encoder
from tests.properties.impls.pipeline_documents import (
    EMPTY,
    PATTERNS,
    added_token,
    content,
    sequence,
    typed,
)

Json = dict[str, Any]

TOKENS = [
    *("<unk>", "[C]", "[S]", "a", "##b", "b</w>", "\u2581a", "\u2581", "\u2581\u2581a", "a\u2581b"),
    *("<0xE6>", "<0x97>", "<0xA5>", "<0x61>", "<0xFF>", "<0x+A>", "<0xg1>", "<0xé>", "<pad>", "|"),
    *(
        "Ġa",
        "Ã",
        "©",
        "æĹ",
        "¥",
        "ð",
        "Ł",
        "日",
        "'s",
        "n't",
        ".",
        "do not",
        "do",
        "not",
        "?",
        "  a",
    ),
]
SPECIAL = {"<s>": len(TOKENS)}
FLAG = st.booleans()
MARKS = st.sampled_from(["\u2581", "_"])

DECODERS = st.one_of(
    *(typed(kind) for kind in ("ByteFallback", "Fuse")),
    typed("ByteLevel", add_prefix_space=FLAG, trim_offsets=FLAG, use_regex=FLAG),
    typed("Replace", pattern=PATTERNS, content=st.sampled_from(["", " ", "\u2581"])),
    typed("Strip", content=st.sampled_from([" ", "a"]), start=st.integers(0, 3), stop=st.just(0)),
    typed(
        "Metaspace",
        replacement=MARKS,
        prepend_scheme=st.sampled_from(["always", "never", "first"]),
        split=FLAG,
    ),
    typed("WordPiece", prefix=st.just("##"), cleanup=FLAG),
    typed("BPEDecoder", suffix=st.just("</w>")),
    typed("CTC", pad_token=st.just("<pad>"), word_delimiter_token=st.just("|"), cleanup=FLAG),
)

ADDED = [{"SpecialToken": {"id": text, "type_id": 0}} for text in ("[C]", "[S]")]
ENDS = {"cls": st.just(["[C]", 1]), "sep": st.just(["[S]", 2])}


@st.composite
def templates(draw):
    """A TemplateProcessing with tokens anywhere, the texts of a pair in any order."""

    def around(*names):
        parts = draw(st.lists(st.sampled_from(ADDED), max_size=2))
        for name in names:
            parts.append({"Sequence": {"id": name, "type_id": 0}})
            parts += draw(st.lists(st.sampled_from(ADDED), max_size=2))
        return parts

    specials = {
        text: {"id": text, "ids": [number], "tokens": [text]}
        for number, text in enumerate(("[C]", "[S]"), 1)
    }
    return {
        "type": "TemplateProcessing",
        "single": around("A"),
        "pair": around(*draw(st.permutations(["A", "B"]))),
        "special_tokens": specials,
    }


POST_PROCESSORS = st.one_of(
    templates(),
    typed("BertProcessing", **ENDS),
    typed("RobertaProcessing", trim_offsets=FLAG, add_prefix_space=FLAG, **ENDS),
    typed("ByteLevel", add_prefix_space=FLAG, trim_offsets=FLAG, use_regex=FLAG),
)
SENTENCES = st.lists(st.sampled_from(TOKENS), max_size=4).map(" ".join)


def document(decoder, post_processor):
    return {
        **EMPTY,
        "added_tokens": [added_token(i, text, special=True) for text, i in SPECIAL.items()],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": post_processor,
        "decoder": decoder,
        "model": {
            "type": "WordLevel",
            "vocab": {text: number for number, text in enumerate(TOKENS)},
            "unk_token": "<unk>",
        },
    }


IDS = st.lists(st.integers(0, len(TOKENS) + 4), max_size=9)


@given(sequence("decoders", DECODERS), st.lists(IDS, min_size=1, max_size=15))
def test_tokens_are_decoded_as_by_the_library(decoder, several):
    told = content(document(decoder, None))
    ours, library = Encoder(told), Tokenizer.from_str(told.decode())
    for one in several:
        assert ours.decode(one).decode() == library.decode(one, skip_special_tokens=False), one


def test_tokens_are_added_as_by_the_library():
    added = 0

    @given(sequence("processors", POST_PROCESSORS, 2), SENTENCES, st.none() | SENTENCES)
    def differs(post_processor, first, second):
        nonlocal added
        told = content(document(None, post_processor))
        pair = None if second is None else second.encode()
        try:
            ids = Encoder(told).encode_with_added(first.encode(), pair, Mode())
        except Unsupported:
            assert post_processor is not None and post_processor["type"] == "Sequence"
            return
        added += 1
        assert ids == Tokenizer.from_str(told.decode()).encode(first, second).ids

    differs()
    assert added > settings().max_examples / 4


@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "Odd"},
        {"type": "Strip", "content": "a", "start": 0, "stop": 1},
        {"type": "Replace", "pattern": {"Regex": "(a)"}, "content": "$1"},
        {"type": "Replace", "pattern": {"Regex": "^a"}, "content": ""},
        {"type": "CTC"},
    ],
)
def test_what_is_not_defined_is_not_answered(decoder):
    encoder = Encoder(content(document(decoder, {"type": "Odd"})))
    assert encoder.encode(b"a", Mode()) == [3]
    with pytest.raises(Unsupported, match="no definition of"):
        encoder.decode([3])
    with pytest.raises(Unsupported, match="no definition of the post-processor Odd"):
        encoder.encode_with_added(b"a", None, Mode())


def test_it_decodes_files_of_other_steps():
    told = document({"type": "WordPiece", "prefix": "##", "cleanup": True}, None)
    vocabulary = from_document(json.loads(json.dumps(told)), "words", None)
    assert Capability.DECODE in IMPLEMENTATION.about.capabilities
    library = registry.resolve("tokenizers").load(vocabulary)
    ids = IMPLEMENTATION.load(vocabulary).encode("a ##b n't 日 .".encode(), Mode())
    text = IMPLEMENTATION.load(vocabulary).decode(ids)
    assert text == library.decode(ids) == "abn't 日.".encode()


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_an_added_token_comes_back_as_it_is_looked_for(special, normalized):
    told, number = document(None, None), len(TOKENS) + len(SPECIAL)
    one = added_token(number, "<X Y>", special=special, normalized=normalized)
    told["added_tokens"].append(one)
    told["normalizer"] = {"type": "Lowercase"}
    library, ids = Tokenizer.from_str(content(told).decode()), [3, number]
    text = library.decode(ids, skip_special_tokens=False)
    assert ("<x y>" in text) is normalized
    assert Encoder(content(told)).decode(ids).decode() == text
