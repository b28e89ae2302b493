"""Files as users have them: patterns in every spelling, Whisper's ranks, what a step is called."""

import base64
import gzip
import json

import pytest

from corpora.vocabularies import tiktoken_file
from corpora.vocabularies.gguf_file import pre_name
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.patterns import PATTERNS, splits_of
from corpora.vocabularies.preflight import preflight
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json

RANKS = b"".join(b"%s %d\n" % (base64.b64encode(bytes([byte])), byte) for byte in range(256))


def ranks(folder, content=RANKS):
    path = folder / "ranks.tiktoken"
    path.write_bytes(content)
    return str(path)


def refusal(source):
    with pytest.raises(VocabularyError) as raised:
        resolve(source)
    return str(raised.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"[\r\n]", "[\r\n]"),
        (r"[!\"#]", '[!"#]'),
        (r"\"a\/", '"a/'),
        (r"\u4e00-\x41\x{1F600}", "一-A😀"),
        (r"a\-b\ c", "a-b c"),
        (r"[\'\,]", "[',]"),
    ],
)
def test_spellings_that_are_one(one, other):
    assert plain_spelling(one) == plain_spelling(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"a\.b", "a.b"),
        (r"[a\-b]", "[a-b]"),
        (r"\\n", "\n"),
        (r"\s", "s"),
        (r"\p{L}", "p{L}"),
        (r"\x2e", "."),
        (r"\<a", "<a"),
        (r"(?x)a\ b", "(?x)a b"),
        (r"[[]\.]", r"[[].]"),
        (r"\d", r"\D"),
    ],
)
def test_spellings_that_are_two(one, other):
    assert plain_spelling(one) != plain_spelling(other)


def test_a_plain_spelling_means_the_same():
    import regex

    text = 'It\'s a\r\n test_ [x] \\ "q" 12345 日本語, a.b/c-d\t~ |&^ $!? \u00a0\n\n  '
    for steps in PATTERNS.values():
        for pattern in steps:
            assert regex.findall(plain_spelling(pattern), text) == regex.findall(pattern, text)


def test_a_known_pre_tokenizer_is_known_however_it_is_spelled():
    """DeepSeek's own file has quotes without backslashes, and line ends as they are."""
    document = json.loads(to_tokenizer_json(resolve("toy_bytes"), pretokenize=True))
    spelled = [plain_spelling(one) for one in PATTERNS["deepseek_v3"]]
    assert spelled[2] != PATTERNS["deepseek_v3"][2]
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    steps = [{**split, "pattern": {"Regex": one}} for one in spelled]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*steps, byte_level]}
    vocabulary = from_document(document, "deepseek", None)
    assert vocabulary.splits == PATTERNS["deepseek_v3"]
    assert pre_name(vocabulary) == "deepseek-v3"


def test_a_regular_expression_of_ones_own(tmp_path):
    path = ranks(tmp_path)
    assert resolve(rf"{path}#pattern=/[a-z]+#|\p{{N}}/").splits == (r"[a-z]+#|\p{N}",)
    assert "no regular expression" in refusal(f"{path}#pattern=/[a/")


def test_a_file_with_a_pattern(tmp_path):
    path = ranks(tmp_path)
    own = tmp_path / "pattern.txt"
    own.write_text("a\nb+\n", encoding="utf-8")
    assert resolve(f"{path}#pattern={own}").splits == ("a\nb+",)
    several = tmp_path / "steps.json"
    several.write_text(json.dumps(list(PATTERNS["deepseek_v3"])), encoding="utf-8")
    assert resolve(f"{path}#pattern={several}").splits == PATTERNS["deepseek_v3"]
    several.write_text('{"a": 1}', encoding="utf-8")
    assert "no JSON list" in refusal(f"{path}#pattern={several}")
    several.write_text('["a", "("]', encoding="utf-8")
    assert "[1] is no regular expression" in refusal(f"{path}#pattern={several}")


@pytest.mark.parametrize("name", ["gpt4", "llama", "llama2", "qwen", "qwen3", "phi", "deepseek"])
def test_no_other_tokenizers_pattern_is_suggested(name):
    with pytest.raises(VocabularyError) as raised:
        splits_of(name, "here")
    assert "was meant" not in str(raised.value)
    assert "/REGEX/" in str(raised.value)
    assert all(known in str(raised.value) for known in PATTERNS)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("cl100k", "cl100k_base"), ("o200k_bsae", "o200k_base"), ("teken", "tekken")],
)
def test_a_slip_of_the_finger_is_seen(name, meant):
    with pytest.raises(VocabularyError, match=f"; {meant} was meant"):
        splits_of(name, "here")


def test_an_empty_token_is_a_hole_that_counts(tmp_path):
    """Whisper's multilingual.tiktoken ends in such a line, so that its special ids begin later."""
    vocabulary = resolve(ranks(tmp_path, RANKS + b"= 256\n"))
    assert len(vocabulary) == 257
    assert vocabulary.tokens[256] is None
    assert tiktoken_file.parse(RANKS + b"= 300\n", "here")[300] == b""
    with pytest.raises(VocabularyError, match="no tokens"):
        tiktoken_file.parse(b"= 0\n", "here")
    # GPT-2's file has 50,256 tokens; with an empty one besides it is another, Whisper's.
    many = b"".join(b"%s %d\n" % (base64.b64encode(b"%d" % i), i) for i in range(50256))
    assert resolve(f"{ranks(tmp_path, many)}#pattern=gpt2").special_tokens
    assert not resolve(f"{ranks(tmp_path, many + b'= 50256')}#pattern=gpt2").special_tokens


def test_a_rank_file_without_a_pattern_is_told_of(tmp_path):
    path = tmp_path / "ranks.gz"
    path.write_bytes(gzip.compress(RANKS))
    problems = [problem.kind for problem in preflight(resolve(str(path)))]
    assert problems == ["limits-comparison"]
    assert preflight(resolve(f"{path}#pattern=gpt2")) == []


def test_a_step_is_called_as_in_its_file():
    document = json.loads(to_tokenizer_json(resolve("toy_bytes"), pretokenize=True))
    document["normalizer"] = {"type": "Replace", "pattern": {"Regex": "'"}, "content": '"'}
    told = 'normalizer Replace {"pattern": {"Regex": "\'"}, "content": "\\""}'
    assert from_document(document, "one", None).unexpressed == (told,)


def added(token_id, text):
    """A special token of a tokenizer.json."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": text, "special": True, **flags}


@pytest.mark.parametrize(
    ("model", "unknown"),
    [
        ({"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "[SEP]": 1}}, 0),
        ({"type": "WordPiece", "vocab": {"[SEP]": 0, "[UNK]": 1}}, 1),
        ({"type": "WordLevel", "unk_token": "[X]", "vocab": {"[X]": 0, "[SEP]": 1}}, 0),
        ({"type": "BPE", "unk_token": "[X]", "vocab": {"[SEP]": 0, "[X]": 1}, "merges": []}, 1),
        ({"type": "BPE", "vocab": {"[SEP]": 0, "[X]": 1}, "merges": []}, None),
        ({"type": "Unigram", "unk_id": 1, "vocab": [["[SEP]", 0.0], ["[X]", 0.0]]}, 1),
    ],
)
def test_the_unknown_token_is_known_of_files_that_the_model_does_not_express(model, unknown):
    entries = [added(i, text) for i, text in enumerate(dict(model["vocab"]))]
    document = {
        "model": model,
        "added_tokens": entries,
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
    }
    vocabulary = from_document(document, "file", None)

    assert vocabulary.unexpressed
    assert vocabulary.unk_id == unknown


def test_an_unknown_token_that_is_none_is_refused_there_too():
    model = {"type": "Unigram", "unk_id": 7, "vocab": [["a", 0.0]]}
    document = {"model": model, "normalizer": {"type": "Lowercase"}}
    with pytest.raises(VocabularyError, match="unk_id is 7"):
        from_document(document, "file", None)


def encoding(**changes):
    """An encoding as tiktoken's packages for JavaScript carry it, with a gap at 2."""
    ranks = "! 0 YQ== Yg==\n! 3 YWI=\n"
    return {"pat_str": r"\s+|\S+", "special_tokens": {"<s>": 2}, "bpe_ranks": ranks, **changes}


def written(folder, document):
    path = folder / "encoding.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_an_encoding_of_tiktoken_for_javascript(tmp_path):
    vocabulary = resolve(written(tmp_path, encoding()))
    assert vocabulary.tokens == (b"a", b"b", None, b"ab")
    assert dict(vocabulary.special_tokens) == {"<s>": 2}
    assert vocabulary.splits == (r"\s+|\S+",)
    assert vocabulary.own_pattern == r"\s+|\S+"
    assert (vocabulary.format, vocabulary.ignore_merges) == ("tiktoken", True)
    assert vocabulary.merges.merged.tolist() == [3]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"bpe_ranks": "! 0 YQ== Y"}, "'Y' is not base64"),
        ({"bpe_ranks": "! x YQ=="}, "line 1: begins with '! x YQ=='"),
        ({"bpe_ranks": "YQ=="}, "line 1: begins with 'YQ=='"),
        ({"bpe_ranks": "! 1048576 YQ=="}, "line 1: the rank 1048576 is out of range"),
        ({"bpe_ranks": "! 0 YQ== Yg==\n! 1 Yw=="}, "the rank 1 stands twice"),
        ({"bpe_ranks": "! 0 YQ== YQ=="}, "line 1: the token stands in line 1 already"),
        ({"bpe_ranks": "\n"}, "no tokens"),
        ({"special_tokens": {"<s>": 1}}, "which is a rank, too"),
        ({"special_tokens": {"<s>": 9, "<t>": 9}}, "two of them share an id"),
        ({"special_tokens": {"": 9}}, "no text"),
        ({"special_tokens": {"<s>": -1}}, "the id -1"),
        ({"pat_str": "("}, "pat_str is no regular expression"),
    ],
)
def test_what_is_wrong_with_one_is_said(tmp_path, changes, fault):
    assert fault in refusal(written(tmp_path, encoding(**changes)))


def test_a_token_may_be_spelled_like_its_field(tmp_path):
    document = json.loads(to_tokenizer_json(resolve("toy_bytes"), pretokenize=True))
    document["model"]["vocab"]["bpe_ranks"] = 600
    assert resolve(written(tmp_path, document)).format == "tokenizer.json"
