"""From names to vocabularies: embedded ones, tiktoken's, the hub's, paths and their mistakes."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.embedded import ALIKE, embedded
from corpora.vocabularies.model import Algorithm, Vocabulary, VocabularyError
from corpora.vocabularies.patterns import PATTERNS, special_tokens_of
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.engine.selection import vocabularies
from tests.data import data_path

HERE = Path(sources.__file__).parent / "data"


@pytest.mark.parametrize("name", sorted(embedded()))
def test_embedded_vocabularies_load_under_their_name(name):
    vocabulary = resolve(name)
    assert vocabulary.id == name
    assert len(vocabulary) > 5
    if vocabulary.algorithm is Algorithm.BPE:
        assert len(vocabulary.merges)
    else:
        assert vocabulary.unk_id is not None


def test_resolving_embedded_names_does_not_import_mistral_common():
    code = (
        "import sys; from corpora.vocabularies.sources import resolve; resolve('mistral_v1');"
        "sys.exit('mistral_common' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(autouse=True)
def nothing_remembered():
    """Encodings of tiktoken are loaded once; what a test stands in for them is for it alone."""
    sources._from_tiktoken.cache_clear()
    yield
    sources._from_tiktoken.cache_clear()


def refusal(name):
    with pytest.raises(VocabularyError) as caught:
        resolve(name)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "empty"),
        ("tekken_24091", "tekken_240911"),
        ("toy_acb", "toy_acbb"),
        ("o200k_base", "tiktoken:o200k_base was meant"),
        ("nothing-like-it", "an embedded name"),
        ("tiktoken:o200k", "o200k_base"),
        ("no/such/file.tiktoken", "no such file"),
        ("no/such/file.tiktoken#pattern=gpt2", "no such file"),
        ("x.tiktoken#patern=gpt2", "#pattern=NAME"),
        ("x.tiktoken#pattern=", "#pattern=NAME"),
        (str(HERE), "is a directory"),
        (f"{HERE}/unigram_bytes.model#pattern=gpt2", "does not apply"),
        (f"{HERE}/README.md", "format not recognised"),
        (f"{HERE}/README.md", "vocab.txt, and vocab.json with merges.txt"),
        ("hf:org/name@", "revision"),
    ],
)
def test_mistaken_names(name, fault):
    assert fault in refusal(name)


def test_a_path_with_a_pattern(tmp_path):
    path = tmp_path / "ranks.gz"
    path.write_bytes(gzip.compress(b"YQ== 0\nYWE= 1\n"))
    assert resolve(f"{path}#pattern=cl100k_base").splits == PATTERNS["cl100k_base"]
    assert resolve(str(path)).splits == ()
    assert "cl100k_base was meant" in refusal(f"{path}#pattern=cl100k_bas")


def test_content_tells_the_format_where_the_name_does_not(tmp_path):
    shutil.copy(HERE / "unigram_bytes.model", tmp_path / "spiece")
    assert resolve(str(tmp_path / "spiece")).format == "sentencepiece"
    (tmp_path / "t").write_text(to_tokenizer_json(resolve("toy_bytes"), True), encoding="utf-8")
    assert resolve(str(tmp_path / "t")).format == "tokenizer.json"


def test_tiktoken_encodings_come_with_their_special_tokens(monkeypatch):
    import tiktoken

    encoding = tiktoken.Encoding(
        "o200k_base", pat_str="x++", mergeable_ranks={b"a": 0, b"aa": 3}, special_tokens={"<e>": 5}
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: encoding)
    vocabulary = resolve("tiktoken:o200k_base")
    assert vocabulary.tokens == (b"a", None, None, b"aa", None, None)
    assert vocabulary.special_tokens == {"<e>": 5}
    assert vocabulary.splits == PATTERNS["o200k_base"]


def test_tiktoken_without_a_network(monkeypatch):
    import tiktoken

    def fail(name):
        raise OSError("no route\nto host")

    monkeypatch.setattr(tiktoken, "get_encoding", fail)
    assert "check the network" in refusal("tiktoken:o200k_base")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder that stands for the hub: hf:org/name reads tmp_path/org/name."""
    hub_module = pytest.importorskip("huggingface_hub")
    errors = pytest.importorskip("huggingface_hub.errors")

    def download(repository, file, revision=None):
        if repository == "down/down":
            raise ConnectionError("offline")
        path = tmp_path / repository / file
        if not path.exists():
            raise errors.EntryNotFoundError(f"404\n{file}")
        return str(path)

    monkeypatch.setattr(hub_module, "hf_hub_download", download)
    (tmp_path / "org/name").mkdir(parents=True)
    return tmp_path / "org/name"


def test_the_hub_prefers_tokenizer_json(hub):
    shutil.copy(HERE / "unigram_bytes.model", hub / "tokenizer.model")
    vocabulary = resolve("hf:org/name")
    assert (vocabulary.id, vocabulary.format) == ("org/name", "sentencepiece")
    document = to_tokenizer_json(resolve("toy_bytes"), True)
    (hub / "tokenizer.json").write_text(document, encoding="utf-8")
    assert resolve("hf:org/name@main").format == "tokenizer.json"


def test_hub_failures_are_one_line(hub):
    assert "has none of tokenizer.json" in refusal("hf:org/name")
    assert "cannot be fetched (offline)" in refusal("hf:down/down")


def test_the_hub_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "tokgate[hub]" in refusal("hf:org/name")


# Patterns


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_patterns_compile_in_all_three_engines(name):
    import regex
    import tiktoken
    from tokenizers import Regex

    for pattern in PATTERNS[name]:
        regex.compile(pattern)
        Regex(pattern)
        tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks={b"a": 0}, special_tokens={})


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_patterns_split_as_tiktokens_own(name):
    """Without possessive quantifiers, but alike on what makes them differ."""
    import random

    import regex
    import tiktoken_ext.openai_public as own

    theirs = {
        "gpt2": own.r50k_pat_str,
        "cl100k_base": r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"""
        r"""| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
        "o200k_base": PATTERNS["o200k_base"][0].replace(r"\p{N}{1,3}", r"\p{N}{1,3}+"),
    }[name]
    rng = random.Random(name)
    for _ in range(3000):
        text = "".join(rng.choices("aA1٣½ \t\r\n\u3000'sſ!/é\u0301日ǅʰ", k=rng.randint(0, 14)))
        if name == "cl100k_base":
            text += "x"  # at the end of a text tiktoken's pieces differ, though not the ids
        ours = regex.findall(PATTERNS[name][0], text)
        assert ours == regex.findall(theirs, text), repr(text)
        assert "".join(ours) == text


@pytest.mark.data
def test_cl100k_gives_tiktokens_ids_where_white_space_ends_the_text(
    monkeypatch,
):
    """tiktoken makes one piece of it, our pattern two: no token tells the difference."""
    import random

    import tiktoken

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(data_path("tiktoken-cache")))
    theirs = tiktoken.get_encoding("cl100k_base")
    ours = tiktoken.Encoding(
        "ours",
        pat_str=PATTERNS["cl100k_base"][0],
        mergeable_ranks=theirs._mergeable_ranks,
        special_tokens={},
    )
    rng = random.Random(1)
    for _ in range(5000):
        text = "a" + "".join(rng.choices(" \n\r\t\u3000\xa0", k=rng.randint(1, 8)))
        assert ours.encode(text) == theirs.encode(text), repr(text)


def test_special_tokens_go_with_the_encoding_not_with_the_pattern():
    assert special_tokens_of("o200k_base", 199998)["<|endofprompt|>"] == 200018
    assert special_tokens_of("cl100k_base", 100256)["<|endoftext|>"] == 100257
    llama = special_tokens_of("llama3", 128000)
    assert llama["<|eot_id|>"] == 128009
    assert sorted(llama.values()) == list(range(128000, 128256))
    assert not special_tokens_of("o200k_base", 300)
    assert not special_tokens_of(None, 199998)


@pytest.mark.data
def test_a_rank_file_with_its_pattern_is_the_encoding():
    path = data_path("vocabs/o200k_base.tiktoken.gz")
    vocabulary = resolve(f"{path}#pattern=o200k_base")
    assert isinstance(vocabulary, Vocabulary)
    assert vocabulary.id == "o200k_base.tiktoken.gz"
    assert len(vocabulary) == 200019
    assert vocabulary.special_tokens == {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
    assert vocabulary.tokens[199998] is None
    assert vocabulary.can_encode(bytes(range(256)))


# The trained models


def test_what_the_trained_models_are_for():
    nfkc, fallback = resolve("unigram_nfkc"), resolve("unigram_bytes")
    assert nfkc.normalizer.charsmap
    assert any(piece.type == 4 and piece.text == "日本" for piece in nfkc.pieces)
    assert "<mask>" in nfkc.special_tokens
    assert fallback.byte_fallback
    assert fallback.normalizer.charsmap is None
    assert sum(piece.type == 6 for piece in fallback.pieces) == 256


@pytest.mark.parametrize(("name", "other"), ALIKE.items())
def test_what_a_run_leaves_out_is_checked_under_another_name(name, other):
    assert resolve(name).fingerprint == resolve(other).fingerprint
    assert other in vocabularies([])
    assert name not in vocabularies([])
