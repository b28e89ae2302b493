"""Loaders: what a file says arrives in the plain model; what it cannot say is left to readers."""

import gzip
import hashlib
import json
import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from corpora.vocabularies import drawn, tokenizer_json
from corpora.vocabularies.byte_alphabet import CHARACTERS, spell, unspell
from corpora.vocabularies.model import (
    Algorithm,
    NativeFile,
    Normalizer,
    RankOrder,
    VocabularyError,
)
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.remarks import remarks
from corpora.vocabularies.sources import load_path, resolve
from corpora.vocabularies.tokenizer_json_out import given as given_file
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from corpora.vocabularies.tokenizer_json_steps import PUNCTUATION
from harness.events import VocabularyLoaded
from tests.properties.corpora.files import (
    BYTES,
    GGUF_BPE,
    GGUF_PIECES,
    byte_bpe,
    character_bpe,
    encoding,
    gguf,
    proto,
    ranks,
    read,
    says,
    tekken,
    unigram,
    wordpiece,
    written,
)
from tests.properties.impls.pipeline_documents import PARTS, normalizers, splitters

# Ranks


def test_a_rank_file_with_gaps_packed_under_any_name(tmp_path):
    path = written(tmp_path / "ranks.txt", gzip.compress(b"YQ== 0\nYg== 2\nYWI= 5\n"))
    says(
        load_path(path, pattern="gpt2"),
        id="ranks.txt",
        source_path=str(path),
        format="tiktoken",
        tokens=(b"a", None, b"b", None, None, b"ab"),
        merges=[(0, 2, 5)],
        splits=PATTERNS["gpt2"],
        special_tokens={},
        ignore_merges=True,
        rank_order=RankOrder.IDS,
    )


def test_an_empty_token_is_a_hole_that_counts(tmp_path):
    """Whisper's multilingual.tiktoken ends in such a line, so that its special ids begin later."""
    path = written(tmp_path / "x.tiktoken", ranks(*BYTES) + b"= 256\n")
    assert load_path(path).tokens == (*BYTES, None)
    # GPT-2's file has 50,256 tokens; with an empty one besides it is another, Whisper's.
    many = ranks(*(b"%d" % i for i in range(50256)))
    assert load_path(written(path, many), "gpt2").special_tokens == {"<|endoftext|>": 50256}
    assert not load_path(written(path, many + b"= 50256"), "gpt2").special_tokens


def test_an_encoding_of_tiktoken_for_javascript(tmp_path):
    says(
        load_path(written(tmp_path / "x.json", encoding())),
        tokens=(b"a", b"b", None, b"ab"),
        special_tokens={"<s>": 2},
        splits=(r"\s+|\S+",),
        own_pattern=r"\s+|\S+",
        format="tiktoken",
        ignore_merges=True,
        merges=[(0, 1, 3)],
    )
    document = byte_bpe(vocab={"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "bpe_ranks": 5})
    assert load_path(written(tmp_path / "x.json", document)).format == "tokenizer.json"


def test_tekken_puts_special_tokens_first_and_fills_them_up(tmp_path):
    vocabulary = load_path(written(tmp_path / "tekken.json", tekken()))
    specials = vocabulary.special_tokens
    says(vocabulary, tokens=(*[None] * 10, *BYTES, b"ab", b"abab"), splits=(".+",), format="tekken")
    assert (len(specials), specials["<unk>"], specials["[TOOL_CALLS]"]) == (10, 0, 9)
    named = [{"rank": i, "token_str": text, "is_control": True} for i, text in enumerate("xyz")]
    path = written(tmp_path / "any.json", tekken(special_tokens=named))
    fillers = {f"<SPECIAL_{i}>": i for i in range(3, 10)}
    assert load_path(path).special_tokens == {"x": 0, "y": 1, "z": 2, **fillers}


# SentencePiece


def model(folder, made):
    return load_path(written(folder / "x.model.v3", made.SerializeToString()))


def test_a_sentencepiece_model(tmp_path):
    vocabulary = model(tmp_path, proto(2, add_dummy_prefix=False, escape_whitespaces=True))
    says(vocabulary, tokens=(None, None, b"a", b"b", b"ab", b"A"), merges=[(2, 3, 4)])
    flags = {"remove_extra_whitespaces": True, "escape_whitespaces": True}
    says(vocabulary, unk_id=0, special_tokens={"<s>": 1}, normalizer=Normalizer(**flags))
    odd = model(tmp_path, proto(1, {3: ("b", math.nan, 1)}))
    assert math.isnan(odd.pieces[3].score)
    assert (odd.algorithm, len(odd.merges)) == (Algorithm.UNIGRAM, 0)


def test_models_that_are_for_their_readers(tmp_path):
    words = model(tmp_path, proto(3))
    says(words, algorithm=Algorithm.WORDLEVEL, unexpressed=("trainer_spec.model_type word",))
    decoding = proto()
    decoding.denormalizer_spec.precompiled_charsmap = b"some"
    says(model(tmp_path, decoding), unexpressed=("denormalizer_spec.precompiled_charsmap",))
    # Characters are BPE without a merge, unless there are longer pieces that BPE would build.
    characters = model(tmp_path, proto(4))
    says(characters, algorithm=Algorithm.BPE)
    assert "the piece 'ab'" in characters.unexpressed[0]
    says(model(tmp_path, proto(4, {4: ("ab", 0.0, 4)})), unexpressed=())  # cut out before


# tokenizer.json


def test_the_byte_alphabet():
    assert len(set(CHARACTERS)) == 256
    assert spell(b" a\n\x00\xad\xff") == "ĠaĊĀŃÿ"
    assert unspell("日") is unspell(" ") is None
    assert unspell("".join(CHARACTERS)) == bytes(range(256))


def test_pieces_have_the_types_that_the_file_tells():
    types = ["UNKNOWN", "CONTROL", "NORMAL", "USER_DEFINED", "CONTROL"]
    says(read(unigram()), tokens=(None, None, b"a", b"b", None), types=types)
    types = ["UNKNOWN", "CONTROL", "BYTE", "NORMAL", "NORMAL", "NORMAL"]
    says(read(character_bpe()), types=types, byte_fallback=True)


def test_empty_texts_are_holes_and_no_tokens():
    empty = byte_bpe(vocab={"a": 0, "": 1, "b": 2, "ab": 3}, merges=["a b"], added_tokens=[])
    assert read(empty).tokens == (b"a", None, b"b", b"ab")
    assert read(wordpiece(vocab={"[UNK]": 0, "": 1, "a": 2})).tokens == (None, None, b"a")
    assert read(wordpiece(vocab={"[UNK]": 0})).max_token_bytes == 0


SPLIT = {"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated", "invert": False}
DIGITS = {"type": "Digits", "individual_digits": True}


def byte_level(use_regex):
    flags = {"add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": [*steps]}


def test_pre_tokenizers_of_several_steps():
    nested = sequence(SPLIT | {"pattern": {"String": "a.b"}}, DIGITS)
    for behavior, expression in (("Isolated", PUNCTUATION), ("Contiguous", f"{PUNCTUATION}+")):
        marks = {"type": "Punctuation", "behavior": behavior}
        vocabulary = read(byte_bpe(pre_tokenizer=sequence(SPLIT, nested, marks, byte_level(False))))
        says(vocabulary, splits=("x+", r"a\.b", r"\p{N}", expression), unexpressed=())


QUOTES = {"type": "Replace", "pattern": {"Regex": "'"}, "content": '"'}
TWICE = [{"id": 6, "content": "x"}, {"id": 6, "content": "x", "special": True}]
EOS = [{"id": 0, "content": "<s>", "special": True}]
BAD_BYTE = [{"id": 2, "content": "<0x41>"}]
ORDINARY = [{"id": 0, "content": "[UNK]", "special": False}]


@pytest.mark.parametrize(
    ("document", "step"),
    [
        (byte_bpe(type="WordLevel"), "model WordLevel"),
        (byte_bpe(vocab={"日": 0}, added_tokens=[]), 'the token "日" beyond the byte alphabet'),
        (byte_bpe(vocab={}, merges=[], added_tokens=EOS), "model.vocab without a token"),
        (byte_bpe(vocab={"a": 0, "b": 0}, added_tokens=[]), 'the id 0 of two tokens, "a" and "b"'),
        (
            byte_bpe(normalizer=QUOTES),
            'normalizer Replace {"pattern": {"Regex": "\'"}, "content": "\\""}',
        ),
        (byte_bpe(normalizer={"type": "\n\x1b[31m", "deep": [["\x1b"]]}), "normalizer \\n"),
        (
            byte_bpe(pre_tokenizer=sequence(byte_level(True), DIGITS)),
            ', then pre_tokenizer.pretokenizers[1] Digits {"individual_digits": true}',
        ),
        (byte_bpe(added_tokens=TWICE), "which appears twice, with different flags"),
        (character_bpe(ignore_merges=True), "model.ignore_merges of a BPE over characters"),
        (character_bpe(unk_token="<no>"), 'model.unk_token "<no>", which is not a token'),
        (character_bpe(added_tokens=BAD_BYTE), "a byte piece, too"),
        (unigram(unk_id=None), "model.unk_id null"),
        (wordpiece(unk_token="<no>"), 'model.unk_token "<no>", which is not a token'),
        (wordpiece(added_tokens=ORDINARY), "that is not special, of a WordPiece model"),
    ],
)
def test_what_the_plain_model_cannot_express(document, step):
    """Named as in the file; of steps the property below tells what may not be expressed."""
    vocabulary = read(document)
    assert any(step in told for told in vocabulary.unexpressed)
    assert all(told.isprintable() for told in vocabulary.unexpressed)
    assert json.loads(vocabulary.native.content) == document
    assert vocabulary.can_encode(b"\0")
    assert vocabulary.normalizes


ODD = {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}}


@pytest.mark.parametrize(
    ("model", "unknown"),
    [
        ({"type": "WordPiece", "vocab": {"[SEP]": 0, "[UNK]": 1}}, 1),
        ({"type": "WordLevel", "unk_token": "[X]", "vocab": {"[X]": 0, "[SEP]": 1}}, 0),
        ({"type": "BPE", "vocab": {"[SEP]": 0, "[X]": 1}, "merges": []}, None),
        ({"type": "Unigram", "unk_id": 1, "vocab": [["[SEP]", 0.0], ["[X]", 0.0]]}, 1),
    ],
)
def test_the_unknown_token_is_known_of_files_that_the_model_does_not_express(model, unknown):
    vocabulary = read({"model": model, **ODD})
    assert vocabulary.unexpressed
    assert vocabulary.unk_id == unknown


@pytest.mark.parametrize("dropout", [None, 0.0, 0.25])
@pytest.mark.parametrize("steps", [{}, {"normalizer": {"type": "Lowercase"}}])
def test_a_file_with_dropout_is_read_as_one_without(dropout, steps):
    content = json.dumps(byte_bpe(**steps, dropout=dropout)).encode()
    vocabulary = tokenizer_json.from_bytes(content, "x", None)
    told = VocabularyLoaded.of(vocabulary, "x")
    assert told.sha256 == hashlib.sha256(content).hexdigest()
    assert vocabulary.dropout == (dropout or 0)
    lines = [line for line in told.remarks if "dropout" in line]
    assert len(lines) == bool(dropout)
    if dropout:
        assert json.loads(vocabulary.native.content) == byte_bpe(**steps, dropout=None)
        assert json.loads(given_file(vocabulary))["model"]["dropout"] is None
        assert ("does not apply" in lines[0]) == bool(steps)
    else:
        assert vocabulary.native == NativeFile(content, unexpressed=vocabulary.unexpressed)
        assert vocabulary.as_tokenizer_json() == content


@pytest.mark.parametrize("many", [1, 8, 9, 20])
def test_of_many_steps_that_are_not_expressed_eight_are_named(many):
    native = NativeFile(b"", unexpressed=("a step",) * many)
    [line] = remarks(replace(read(byte_bpe()), native=native))
    assert line.count("a step") == min(many, 8)
    assert line.endswith(f"; and {many - 8} more") == (many > 8)


# What the plain model is said to express, it expresses: the library is the judge.

FIELDS = (
    ("normalizer", "normalizers", normalizers()),
    ("pre_tokenizer", "pretokenizers", splitters()),
)
FLAGS = ("fuse_unk", "byte_fallback", "ignore_merges")
AFFIXES = {"continuing_subword_prefix": "##", "end_of_word_suffix": "b"}


def edited(draw, document):
    """Turn one flag of the model, or take steps out, put some in, or put them elsewhere."""
    if document["model"]["type"] == "BPE" and draw(st.booleans()):
        name = draw(st.sampled_from([*FLAGS, *AFFIXES]))
        document["model"][name] = AFFIXES.get(name, not document["model"].get(name))
        return
    for field, children, choices in FIELDS:
        step = document[field]
        steps = list((step or {children: []}).get(children, [step]))
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(steps)))
            if draw(st.booleans()):
                steps.insert(at, draw(choices))
            elif at < len(steps):
                taken = steps.pop(at)
                if draw(st.booleans()):
                    steps.append(taken)
        document[field] = {"type": "Sequence", children: steps} if steps else None


@pytest.mark.parametrize("kind", drawn.KINDS)
def test_what_is_expressed_encodes_as_the_file(kind):
    """What is not expressed is given as it is, and said in lines that name what it is."""
    expressed = 0

    @settings(max_examples=100, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 999), st.data())
    def differs(seed, data):
        nonlocal expressed
        try:
            document = json.loads(to_tokenizer_json(drawn.draw(kind, seed), True))
        except VocabularyError:
            return
        edited(data.draw, document)
        vocabulary = read(document)
        if vocabulary.unexpressed:
            assert all(told.isprintable() for told in vocabulary.unexpressed)
            assert json.loads(vocabulary.native.content) == document
            return
        expressed += 1
        theirs = Tokenizer.from_str(json.dumps(document))
        ours = Tokenizer.from_str(to_tokenizer_json(vocabulary, True))
        tokens = [spelled.decode(errors="ignore") for spelled in vocabulary.tokens if spelled]
        texts = st.lists(st.sampled_from([*PARTS, *tokens])).map("".join)
        for text in data.draw(st.lists(texts, max_size=6)):
            assert ours.encode(text).ids == theirs.encode(text).ids, (document, text)

    differs()
    assert expressed > 15


# GGUF


def test_what_gguf_does_not_say_is_as_llama_cpp_has_it(tmp_path):
    vocabulary = gguf(tmp_path, "gpt2", GGUF_BPE)
    added_tokens = [("<s>", 5, True), ("x y", 6, False)]
    says(vocabulary, added=added_tokens, special_tokens={"<s>": 5}, ignore_merges=False)
    says(vocabulary, tokens=(b"a", b"b", b" ", b"ab", b" ab", None, b"x y", None), unexpressed=())
    packed = written(tmp_path / "y.gguf.gz", gzip.compress((tmp_path / "x.gguf").read_bytes()))
    assert load_path(packed).fingerprint == vocabulary.fingerprint
    assert load_path(packed, "gpt2").splits == PATTERNS["gpt2"]
    assert gguf(tmp_path, "gpt2", GGUF_BPE, pre="llama-bpe").ignore_merges
    # llama.cpp looks at no more types than there are tokens either.
    more = gguf(tmp_path, "gpt2", GGUF_BPE, token_type=[*GGUF_BPE["token_type"], 9])
    assert more.fingerprint == vocabulary.fingerprint

    spm, t5 = (gguf(tmp_path, name, GGUF_PIECES, unknown_token_id=None) for name in ("llama", "t5"))
    says(spm, normalizer=Normalizer(add_dummy_prefix=True, escape_whitespaces=True), unk_id=0)
    says(spm, byte_fallback=True, merges=[(2, 3, 4)])
    says(t5, normalizer=Normalizer(escape_whitespaces=True), unk_id=2, byte_fallback=False)


def test_words_of_gguf_that_stand_in_brackets_have_no_prefix(tmp_path):
    texts = ["[UNK]", "[", "]", "[]", "[a", "a]", "[a]", "▁[b", "▁[b]", "a"]
    fields = {"tokens": texts, "token_type": [2] + [1] * 9, "unknown_token_id": 0}
    spelled = ["##[", "##]", "[]", "##[a", "##a]", "[a]", "[b", "[b]", "##a"]
    vocabulary = gguf(tmp_path, "bert", fields)
    assert vocabulary.tokens == (None, *(one.encode() for one in spelled))


def test_another_model_is_for_llama_cpp_alone(tmp_path):
    tokens = ["<unk>", "<s>", "<0xE6>", "b", "ab", "▁", ""]
    types = [2, 3, 6, 1, 4, 1, 1]
    fields = {"tokens": tokens, "token_type": types, "unknown_token_id": 0}
    vocabulary = gguf(tmp_path, "gemma4", fields)
    says(
        vocabulary,
        tokens=(None, None, b"\xe6", b"b", b"ab", "▁".encode(), None),
        special_tokens={"<unk>": 0, "<s>": 1},
        unk_id=0,
        unexpressed=('tokenizer.ggml.model "gemma4", which tokgate does not know',),
    )
    assert vocabulary.normalizer.escape_whitespaces


@pytest.mark.parametrize(
    ("model", "base", "changes", "step"),
    [
        ("gpt2", GGUF_BPE, {"merges": ["a x"]}, "needs a missing token"),
        ("gpt2", GGUF_BPE, {"tokens": ["日", *"bĠcdefg"]}, 'the token "日" beyond the byte'),
        ("gpt2", GGUF_BPE, {"token_type": [9] * 8}, "token_type[0] 9, which is not a type"),
        (
            "gpt2",
            GGUF_BPE,
            {"pre": "martian"},
            '"martian", whose pattern tokgate does not know',
        ),
        ("llama", GGUF_PIECES, {"scores": None}, "pieces without tokenizer.ggml.scores"),
        ("bert", GGUF_PIECES, {"token_type": [2, 9, 1, 1, 1, 1]}, "token_type[1] 9"),
    ],
)
def test_what_llama_cpp_reads_all_the_same_is_left_to_it(tmp_path, model, base, changes, step):
    assert any(step in one for one in gguf(tmp_path, model, base, **changes).unexpressed)
    if "pre" in changes:
        assert resolve(f"{tmp_path / 'x.gguf'}#pattern=gpt2").unexpressed == ()
