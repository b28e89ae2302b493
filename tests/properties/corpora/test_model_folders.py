"""A model's folder, and files that are a part of a tokenizer, are read as transformers does."""

import json
import random

import pytest
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from tokenizers.processors import RobertaProcessing

from corpora.vocabularies import sources
from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.remarks import remarks
from impls import registry
from impls.interface import Mode
from tests.doubles.merging import merged
from tests.properties.corpora.files import refusal

TEXTS = ["the quick brown fox's 12 345 naïve café\n\n it's <|endoftext|> x"] * 9 + ["東京 a\tB"]
ASKED = ["The  fox's 345 cafés\n\n x", "e\u0301\u212b <|endoftext|> [MASK]", "東京\t!= A B", ""]


def folder(path, config, **files):
    for name, content in {"tokenizer_config.json": config, **files}.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (path / name.replace("__", ".")).write_text(text)
    return str(path)


def byte_level(path):
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(TEXTS, vocab_size=330, special_tokens=["<|endoftext|>"])
    trained.save_model(str(path))
    return trained


def words(path):
    trained = BertWordPieceTokenizer(lowercase=False)
    trained.train_from_iterator(TEXTS, vocab_size=160)
    trained.save_model(str(path))
    return trained


def encoded(name, vocabulary, mode):
    encoder = registry.resolve(name).load(vocabulary)
    return [list(encoder.encode(text.encode(), mode)) for text in ASKED]


@pytest.mark.parametrize(
    ("made", "config"),
    [
        (byte_level, {"tokenizer_class": "GPT2Tokenizer"}),
        (byte_level, {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True}),
        (byte_level, {"tokenizer_class": "Qwen2Tokenizer", "pad_token": "<|endoftext|>"}),
        (words, {"tokenizer_class": "BertTokenizer"}),
        (words, {"tokenizer_class": "BertTokenizer", "do_lower_case": False}),
        (words, {"tokenizer_class": "BertTokenizer", "strip_accents": False}),
    ],
)
def test_parts_give_the_ids_of_the_class_that_the_config_names(tmp_path, made, config):
    pytest.importorskip("transformers")
    made(tmp_path)
    vocabulary = sources.resolve(folder(tmp_path, config))
    assert vocabulary.id == tmp_path.name
    for mode in (Mode(), Mode(special="all")):
        ours = encoded("tokenizers", vocabulary, mode)
        assert ours == encoded("transformers", vocabulary, mode)
        assert sum(map(len, ours)) > 15


def test_parts_give_the_ids_of_the_tokenizer_that_wrote_them(tmp_path):
    trained = byte_level(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert "GPT2" in refusal(sources.resolve, str(tmp_path))
    vocabulary = sources.resolve(f"{tmp_path}#pattern=gpt2")
    assert encoded("tokenizers", vocabulary, Mode(special="all")) == [
        trained.encode(text).ids for text in ASKED
    ]


def test_a_whole_file_comes_first_and_what_others_say_otherwise_is_told(tmp_path):
    byte_level(tmp_path).save(str(tmp_path / "tokenizer.json"))
    token = {"content": "<x>", "special": True}
    config = {"tokenizer_class": "LlamaTokenizer", "added_tokens_decoder": {"7": token}}
    files = {"added_tokens__json": {"<|endoftext|>": 0}, "chat_template__jinja": "{{ messages }}"}
    vocabulary = sources.resolve(folder(tmp_path, config, **files))
    assert dict(vocabulary.native.beside).keys() == {
        *("tokenizer_config.json", "added_tokens.json", "chat_template.jinja")
    }
    (told,) = remarks(vocabulary)
    assert told.startswith('tokenizer_config.json has "<x>" as 7, not a token')


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_a_config_that_adds_other_ends_than_the_file_is_told(tmp_path, first, last):
    trained = byte_level(tmp_path)
    end, keys = "<|endoftext|>", ["add_bos_token", "add_eos_token"]
    config = {"bos_token": end, "eos_token": {"content": end}} | dict.fromkeys(keys, first)
    if last:
        trained.post_processor = RobertaProcessing((end, 0), (end, 0))
    trained.save(str(tmp_path / "tokenizer.json"))
    told = remarks(sources.resolve(folder(tmp_path, config)))
    says = f"{str(first).lower()}, but tokenizer.json {'adds' if last else 'adds no'} "
    assert len(told) == 2 * (first != last)
    assert all(f"{key}: {says}" in one for key, one in zip(keys, told, strict=False))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "without a tokenizer"),
        ({"tokenizer_config__json": "[1]"}, "expected `object`"),
        ({"chat_template__json": "[1]"}, "chat_template.json: expected `object`"),
        ({"tokenizer_config__json": {"tokenizer_class": 3}}, "tokenizer_class is 3"),
        ({"vocab__txt": "[UNK]\na"}, "names no class, which vocab.txt needs"),
        ({"vocab__json": '{"a": "b"}', "merges__txt": "a b"}, "names no class"),
        (
            {"tokenizer_config__json": {"tokenizer_class": "GPT2Tokenizer"},
             "vocab__json": {"a": 0, "b": 1}, "merges__txt": "#version: 0.2\na b\na b c"},
            "merges.txt: line 3: 'a b c' is not a pair",
        ),
        (
            {"tokenizer_config__json": {"tokenizer_class": "GPT2Tokenizer"},
             "vocab__json": {"a": 0, "b": 1}, "merges__txt": "a b"},
            "needs the missing token 'ab'",
        ),
        (
            {"tokenizer_config__json": {"tokenizer_class": "BertTokenizer", "do_lower_case": 1},
             "vocab__txt": "[UNK]\na"},
            "do_lower_case is 1",
        ),
    ],
)  # fmt: skip
def test_folders_that_cannot_be_read_are_refused_in_a_line(tmp_path, files, said):
    config = files.pop("tokenizer_config__json", {})
    error = refusal(sources.resolve, folder(tmp_path, config, **files))
    assert said in error


def test_a_part_alone_is_refused_and_the_folder_asked_for(tmp_path):
    byte_level(tmp_path)
    words(tmp_path)
    for name in ("vocab.json", "merges.txt", "vocab.txt"):
        assert "give the folder" in refusal(sources.resolve, str(tmp_path / name))


def clip_ids(text, merges):
    """CLIP's own algorithm: words of the pattern, the last symbol with its mark, lowest rank."""
    order = [spell(bytes([b])) for b in range(256)]
    order = sorted(order, key=lambda one: (ord(one) >= 256, ord(one)))
    tokens = [*order, *(f"{one}</w>" for one in order), *map("".join, merges)]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = []
    for word in text.split():
        symbols = [spell(bytes([b])) for b in word.encode()]
        symbols[-1] += "</w>"
        ids += map(tokens.index, merged(symbols, lambda *pair: ranks.get(pair), str.__add__))
    return ids


def test_clips_list_of_merges_gives_the_ids_of_its_own_algorithm(tmp_path):
    merges = [("a", "b"), ("b", "a</w>"), ("ab", "a</w>"), ("b", "b</w>"), ("ab", "b"), ("a", "a")]
    path = tmp_path / "bpe_simple_vocab_16e6.txt"
    lines = ['"bpe_simple_vocab_16e6.txt#version: 0.2', *map(" ".join, merges)]
    path.write_text("\n".join(lines) + "\n")
    vocabulary = sources.resolve(str(path))
    encoder = registry.resolve("tokenizers").load(vocabulary)
    rng = random.Random(0)
    for _ in range(200):
        text = "".join(rng.choice("aabb é") for _ in range(12))
        ids = list(encoder.encode(text.upper().encode(), Mode()))
        assert ids == clip_ids(text, merges), text
    path.write_text("\n".join([*lines, "a b c"]))
    assert "line 8: 'a b c' is not a pair" in refusal(sources.resolve, str(path))


def file_of(tmp_path, **changes):
    byte_level(tmp_path).save(str(tmp_path / "tokenizer.json"))
    path = tmp_path / "changed.json"
    document = json.loads((tmp_path / "tokenizer.json").read_text())
    document["model"] |= changes.pop("model", {})
    path.write_text(json.dumps(document | changes))
    return path


def test_of_merges_that_stand_twice_the_last_one_counts(tmp_path):
    plain = json.loads(file_of(tmp_path).read_text())["model"]["merges"]
    path = file_of(tmp_path, model={"merges": [*plain, *plain[:9], plain[20]]})
    vocabulary = sources.resolve(str(path))
    assert len(vocabulary.merges) == len(plain)
    texts = [text * 2 for text in (*TEXTS[-2:], "thethequickickfox")]
    encoders = [registry.resolve(n).load(vocabulary) for n in ("tokenizers", "bpe.naive")]
    for text in texts:
        theirs, ours = (list(one.encode(text.encode(), Mode())) for one in encoders)
        assert theirs == ours, text


TRUNCATION = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
PADDING = {"strategy": {"Fixed": 8}, "direction": "Left", "pad_id": 0, "pad_type_id": 0,
           "pad_token": "!", "pad_to_multiple_of": None}  # fmt: skip


def test_truncation_and_padding_of_a_file_are_told_and_left_out(tmp_path):
    vocabulary = sources.resolve(str(file_of(tmp_path, truncation=TRUNCATION, padding=PADDING)))
    assert remarks(vocabulary) == [
        "without the file's truncation and padding, whole texts are compared"
    ]
    encoder = registry.resolve("tokenizers").load(vocabulary)
    assert len(encoder.encode(TEXTS[0].encode(), Mode())) > 8


@pytest.mark.parametrize(
    "wrong",
    [
        {"truncation": TRUNCATION | {"direction": "Up"}},
        {"truncation": TRUNCATION | {"max_length": -1}},
        {"truncation": {"max_length": 4}},
        {"padding": PADDING | {"strategy": "Longest"}},
        {"padding": PADDING | {"pad_token": None}},
        {"padding": []},
    ],
)
def test_damaged_truncation_and_padding_are_refused(tmp_path, wrong):
    (block,) = wrong
    assert block in refusal(sources.resolve, str(file_of(tmp_path, **wrong)))
