"""Pre-tokenizers: known however they are spelled, split as the originals, given by users."""

import random

import pytest
import regex
import tiktoken
import tiktoken_ext.openai_public as own
from tokenizers import Regex

from corpora.vocabularies.gguf_file import pre_name
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.patterns import PATTERNS, splits_of
from corpora.vocabularies.preflight import preflight
from corpora.vocabularies.sources import resolve
from tests.data import data_path
from tests.properties.corpora.files import BYTES, byte_bpe, ranks, read, refusal, written


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (r"[\r\n]", "[\r\n]", True),
        (r"[!\"#]", '[!"#]', True),
        (r"\"a\/", '"a/', True),
        (r"\u4e00-\x41\x{1F600}", "一-A😀", True),
        (r"a\-b\ c", "a-b c", True),
        (r"[\'\,]", "[',]", True),
        (r"a\.b", "a.b", False),
        (r"[a\-b]", "[a-b]", False),
        (r"\\n", "\n", False),
        (r"\s", "s", False),
        (r"\x2e", ".", False),
        (r"\ud800", "\ud800", False),
        (r"\<a", "<a", False),
        (r"(?x)a\ b", "(?x)a b", False),
        (r"[[]\.]", r"[[].]", False),
    ],
)
def test_spellings(one, other, alike):
    assert (plain_spelling(one) == plain_spelling(other)) is alike


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_a_plain_spelling_means_the_same_in_all_engines(name):
    text = 'It\'s a\r\n test_ [x] \\ "q" 12345 日本語, a.b/c-d\t~ |&^ $!? \u00a0\n\n  '
    for pattern in PATTERNS[name]:
        assert regex.findall(plain_spelling(pattern), text) == regex.findall(pattern, text)
        Regex(pattern)
        tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks={b"a": 0}, special_tokens={})


def test_a_known_pre_tokenizer_is_known_however_it_is_spelled():
    """DeepSeek's own file has quotes without backslashes, and line ends as they are."""
    spelled = [plain_spelling(one) for one in PATTERNS["deepseek_v3"]]
    assert spelled[2] != PATTERNS["deepseek_v3"][2]
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    steps = [{**split, "pattern": {"Regex": one}} for one in spelled]
    steps.append({"type": "ByteLevel", "add_prefix_space": False, "use_regex": False})
    vocabulary = read(byte_bpe(pre_tokenizer={"type": "Sequence", "pretokenizers": steps}))
    assert vocabulary.splits == PATTERNS["deepseek_v3"]
    assert pre_name(vocabulary) == "deepseek-v3"


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_patterns_split_as_tiktokens_own(name):
    """Without possessive quantifiers, but alike on what makes them differ."""
    theirs = {
        "gpt2": own.r50k_pat_str,
        "cl100k_base": r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"""
        r"""| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
        "o200k_base": PATTERNS["o200k_base"][0].replace(r"\p{N}{1,3}", r"\p{N}{1,3}+"),
    }[name]
    rng = random.Random(name)
    for _ in range(2000):
        text = "".join(rng.choices("aA1٣½ \t\r\n\u3000'sſ!/é\u0301日ǅʰ", k=rng.randint(0, 14)))
        if name == "cl100k_base":
            text += "x"  # at the end of a text tiktoken's pieces differ, though not the ids
        ours = regex.findall(PATTERNS[name][0], text)
        assert ours == regex.findall(theirs, text), repr(text)
        assert "".join(ours) == text


@pytest.mark.data
def test_cl100k_gives_tiktokens_ids_where_white_space_ends_the_text(monkeypatch):
    """tiktoken makes one piece of it, our pattern two: no token tells the difference."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(data_path("tiktoken-cache")))
    theirs = tiktoken.get_encoding("cl100k_base")
    pattern, known = PATTERNS["cl100k_base"][0], theirs._mergeable_ranks
    ours = tiktoken.Encoding("ours", pat_str=pattern, mergeable_ranks=known, special_tokens={})
    rng = random.Random(1)
    for _ in range(5000):
        text = "a" + "".join(rng.choices(" \n\r\t\u3000\xa0", k=rng.randint(1, 8)))
        assert ours.encode(text) == theirs.encode(text), repr(text)


def test_a_pattern_of_ones_own(tmp_path):
    path = written(tmp_path / "ranks.tiktoken", ranks(*BYTES))
    assert resolve(rf"{path}#pattern=/[a-z]+#|\p{{N}}/").splits == (r"[a-z]+#|\p{N}",)
    for name, content, splits in (
        ("pattern.txt", "a\nb+\n", ("a\nb+",)),
        ("steps.json", list(PATTERNS["deepseek_v3"]), PATTERNS["deepseek_v3"]),
    ):
        assert resolve(f"{path}#pattern={written(tmp_path / name, content)}").splits == splits
    for content, fault in (
        ({"a": 1}, "not a JSON list"),
        (["a", "("], "[1] is not a regular expression"),
        (["a"] * 17, "has 17 regular expressions, more than 16"),
        (b"\xff", "is not a text of regular expressions"),
    ):
        own = written(tmp_path / "steps.json", content)
        line = refusal(resolve, f"{path}#pattern={own}")
        assert line.startswith(str(own)) and fault in line
    assert "not a regular expression" in refusal(resolve, f"{path}#pattern=/[a/")
    # A rank file without a pattern is told of, as it is compared as one piece.
    assert [problem.kind for problem in preflight(resolve(str(path)))] == ["limits-comparison"]
    assert preflight(resolve(f"{path}#pattern=gpt2")) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("cl100k", "cl100k_base"), ("o200k_bsae", "o200k_base"), ("teken", "tekken")),
        *((name, None) for name in ("gpt4", "llama", "llama2", "qwen3", "phi", "deepseek")),
    ],
)
def test_a_slip_of_the_finger_is_seen_and_no_other_tokenizers_pattern_suggested(name, meant):
    with pytest.raises(VocabularyError) as raised:
        splits_of(name, "here")
    assert (f"; did you mean {meant}?" if meant else "/REGEX/") in str(raised.value)
    assert ("did you mean" in str(raised.value)) == bool(meant)
    assert meant or all(known in str(raised.value) for known in PATTERNS)
