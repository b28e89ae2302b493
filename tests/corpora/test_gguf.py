"""GGUF files: read as llama.cpp reads them, and written so that the same vocabulary comes back."""

import gzip
import random
from dataclasses import replace

import numpy as np
import pytest

from corpora.vocabularies import gguf_metadata, sources
from corpora.vocabularies.gguf_file import pre_name, to_gguf, trouble, written
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Merges,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.patterns import GGUF_IGNORE_MERGES, GGUF_PRE, PATTERNS
from corpora.vocabularies.sentencepiece_model import from_pieces
from corpora.vocabularies.sources import load_path, resolve
from corpora.vocabularies.tiktoken_file import from_ranks
from tests.breadth import thorough
from tests.data import data_path


def by_the_package(path, model, fields):
    """The file of metadata alone as the package ``gguf`` writes it."""
    from gguf import GGUFWriter

    writer = GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(model)
    adders = {bool: writer.add_bool, int: writer.add_uint32, str: writer.add_string}
    for name, value in fields.items():
        adders.get(type(value), writer.add_array)(f"tokenizer.ggml.{name}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


BPE = {
    "pre": "qwen2",
    "tokens": ["a", "b", "Ġ", "ab", "Ġab", "<s>", "x y", "[PAD6]"],
    "token_type": [1, 1, 1, 1, 1, 3, 4, 5],
    "merges": ["a b", "Ġ ab"],
}
PIECES = {
    "tokens": ["<unk>", "<s>", "a", "b", "ab", "▁"],
    "scores": [0.0, 0.0, -1.0, -2.0, -0.5, -3.0],
    "token_type": [2, 3, 1, 1, 1, 1],
    "unknown_token_id": 0,
}


def read(folder, model, fields):
    """The vocabulary of a file with these fields; None takes one out."""
    given = {name: value for name, value in fields.items() if value is not None}
    return load_path(by_the_package(folder / "x.gguf", model, given))


# Reading


def test_byte_level(tmp_path):
    vocabulary = read(tmp_path, "gpt2", BPE)
    assert vocabulary.tokens == (b"a", b"b", b" ", b"ab", b" ab", None, b"x y", None)
    assert vocabulary.merges.merged.tolist() == [3, 4]
    assert vocabulary.rank_order is RankOrder.MERGES
    assert vocabulary.splits == PATTERNS["qwen2"]
    assert vocabulary.special_tokens == {"<s>": 5}
    added = [(token.text, token.special) for token in vocabulary.added_tokens]
    assert added == [("<s>", True), ("x y", False)]
    assert not vocabulary.ignore_merges
    assert read(tmp_path, "gpt2", BPE | {"pre": "llama-bpe"}).ignore_merges


def test_gzipped_and_with_another_pattern(tmp_path):
    packed = tmp_path / "x.gguf.gz"
    fingerprint = read(tmp_path, "gpt2", BPE).fingerprint
    packed.write_bytes(gzip.compress((tmp_path / "x.gguf").read_bytes()))
    assert load_path(packed).fingerprint == fingerprint
    assert load_path(packed, "gpt2").splits == PATTERNS["gpt2"]


def test_pieces(tmp_path):
    spm = read(tmp_path, "llama", PIECES | {"add_space_prefix": False})
    assert (spm.algorithm, spm.byte_fallback, spm.unk_id) == (Algorithm.BPE, True, 0)
    assert spm.merges.merged.tolist() == [4]
    assert spm.normalizer == Normalizer(escape_whitespaces=True)

    flags = {"add_space_prefix": True, "remove_extra_whitespaces": True}
    fields = PIECES | flags | {"precompiled_charsmap": b"\x04\x00\x80\xff"}
    unigram = read(tmp_path, "t5", fields | {"unknown_token_id": None})
    assert (unigram.algorithm, len(unigram.merges)) == (Algorithm.UNIGRAM, 0)
    assert unigram.normalizer == Normalizer(b"\x04\x00\x80\xff", None, True, True, True)
    assert unigram.pieces[4].score == -0.5
    assert unigram.unk_id == 2, "llama.cpp's own, where a file says none"


def test_another_model_is_for_llama_cpp_alone(tmp_path):
    tokens = ["<unk>", "<s>", "<0xE6>", "b", "ab", "▁", ""]
    fields = {"tokens": tokens, "token_type": [2, 3, 6, 1, 4, 1, 1], "unknown_token_id": 0}
    vocabulary = read(tmp_path, "gemma4", fields)
    assert vocabulary.tokens == (None, None, b"\xe6", b"b", b"ab", "▁".encode(), None)
    assert vocabulary.special_tokens == {"<unk>": 0, "<s>": 1}
    assert vocabulary.unk_id == 0
    assert vocabulary.normalizer.escape_whitespaces
    assert vocabulary.unexpressed == ('tokenizer.ggml.model "gemma4", which is not known here',)


@pytest.mark.parametrize(
    ("model", "fields", "fault"),
    [
        ("rwkv", {"merges": ["a b"]}, "no tokenizer.ggml.tokens"),
        ("gpt2", BPE | {"merges": ["a "]}, "tokenizer.ggml.merges[0]"),
        ("gpt2", {"pre": "qwen2"}, "no tokenizer.ggml.tokens"),
        ("gpt2", BPE | {"token_type": [1]}, "tokenizer.ggml.token_type has 1"),
        ("gpt2", BPE | {"tokens": ["a", "a", *BPE["tokens"][2:]]}, "repeats token 0"),
        ("llama", PIECES | {"scores": [0.0]}, "tokenizer.ggml.scores"),
        ("llama", PIECES | {"unknown_token_id": 77}, "unknown_token_id"),
    ],
)
def test_what_a_file_may_not_say(tmp_path, model, fields, fault):
    with pytest.raises(VocabularyError) as caught:
        read(tmp_path, model, fields)
    assert str(tmp_path / "x.gguf") in str(caught.value)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "fields", "step"),
    [
        ("gpt2", BPE | {"merges": ["a x"]}, "needs a token that is not there"),
        ("gpt2", BPE | {"tokens": ["日", *BPE["tokens"][1:]]}, 'the token "日" beyond the byte'),
        ("gpt2", BPE | {"token_type": [9] * 8}, "token_type[0] 9, which is no type"),
        ("llama", PIECES | {"scores": None}, "without tokenizer"),
        ("gpt2", BPE | {"pre": "martian"}, 'pre "martian", whose pattern is not known here'),
    ],
)
def test_what_llama_cpp_reads_all_the_same_is_left_to_it(tmp_path, model, fields, step):
    assert any(step in one for one in read(tmp_path, model, fields).unexpressed)
    if fields.get("pre") == "martian":
        assert resolve(f"{tmp_path / 'x.gguf'}#pattern=gpt2").unexpressed == ()


def test_entries_past_the_tokens_are_passed_over(tmp_path):
    types = [1] * len(BPE["tokens"])
    more, as_many = (read(tmp_path, "gpt2", BPE | {"token_type": t}) for t in ([*types, 9], types))
    assert (more.unexpressed, more.tokens) == (as_many.unexpressed, as_many.tokens)


def test_a_truncated_file(tmp_path):
    path = by_the_package(tmp_path / "x.gguf", "gpt2", BPE)
    content = path.read_bytes()
    for size in range(4, len(content) - 1, 7):
        path.write_bytes(content[:size])
        with pytest.raises(VocabularyError) as caught:
            load_path(path)
        assert "\n" not in str(caught.value)


# Writing


def read_back(vocabulary, folder):
    path = folder / "written.gguf"
    path.write_bytes(to_gguf(vocabulary))
    return load_path(path)


def random_bpe(rng):
    """All bytes in any order, merges, a special and a user-defined token, a hole."""
    spelled = rng.sample([bytes([byte]) for byte in range(256)], 256)
    merges = []
    for _ in range(rng.randrange(1, 60)):
        left, right = rng.randrange(len(spelled)), rng.randrange(len(spelled))
        text = spelled[left] + spelled[right]
        if text not in spelled:
            merges.append((left, right, len(spelled)))
            spelled.append(text)
    size = len(spelled) + 3
    pattern = rng.choice(list(GGUF_PRE))
    return Vocabulary(
        "random",
        Algorithm.BPE,
        "gguf",
        (*spelled, None, None, b"<user token>"),
        Merges.of(merges),
        rank_order=RankOrder.MERGES,
        splits=PATTERNS[GGUF_PRE[pattern]],
        special_tokens={"<s>": size - 3},
        added_tokens=(
            AddedToken("<s>", size - 3, special=True),
            AddedToken("<user token>", size - 1),
        ),
        ignore_merges=pattern in GGUF_IGNORE_MERGES,
    )


def random_pieces(rng):
    unigram = rng.random() < 0.5
    texts = {"".join(rng.choices("ab▁é日", k=rng.randint(1, 4))) for _ in range(40)}
    kinds = [PieceType.NORMAL, PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED]
    scored = [(text, float(np.float32(-10 * rng.random()))) for text in sorted(texts)]
    return from_pieces(
        "random",
        [
            Piece("<s>", 0.0, PieceType.CONTROL),
            Piece("<unk>", 0.0, PieceType.UNKNOWN),
            *(Piece(text, score, rng.choice(kinds)) for text, score in scored),
        ],
        algorithm=Algorithm.UNIGRAM if unigram else Algorithm.BPE,
        normalizer=Normalizer(
            charsmap=rng.choice([None, rng.randbytes(40)]) if unigram else None,
            add_dummy_prefix=rng.random() < 0.5,
            remove_extra_whitespaces=unigram and rng.random() < 0.5,
            escape_whitespaces=True,
        ),
        byte_fallback=not unigram,
        file_format="random",
        source_path=None,
    )


@pytest.mark.parametrize("make", [random_bpe, random_pieces])
def test_random_vocabularies_come_back(make, tmp_path):
    rng = random.Random(5)
    for _ in range(60):
        vocabulary = make(rng)
        assert read_back(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint
    assert to_gguf(vocabulary) == to_gguf(replace(vocabulary, id="other", source_path="/x"))


@pytest.mark.parametrize(
    "name", ["mistral_v7", "unigram_nfkc", "toy_unigram", "toy_characters", "vocabs/t5_base.model"]
)
def test_sentencepiece_vocabularies_come_back(name, tmp_path):
    vocabulary = resolve(str(data_path(name)) if "/" in name else name)
    assert read_back(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint


@pytest.mark.parametrize("name", ["toy_bytes", "toy_wordpiece"])
def test_other_formats_come_back_with_what_gguf_says_otherwise(name, tmp_path):
    vocabulary = resolve(name)
    once = read_back(vocabulary, tmp_path)
    for field in ("tokens", "splits", "special_tokens"):
        assert getattr(once, field) == getattr(vocabulary, field)
    assert once.merges.merged.tolist() == vocabulary.merges.merged.tolist()
    assert read_back(once, tmp_path).fingerprint == once.fingerprint


@pytest.mark.data
@pytest.mark.parametrize("name", [thorough("deepseek-coder"), "llama-spm", "bert-bge"])  # large
def test_llama_cpps_own_come_back(name, tmp_path):
    vocabulary = load_path(data_path(f"gguf/ggml-vocab-{name}.gguf"))
    assert read_back(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint


def test_all_splits_of_an_improper_vocabulary_by_rank(tmp_path):
    tokens = (*(bytes([byte]) for byte in range(256)), b"bc", b"ab", b"cd", b"abcd")
    splits = PATTERNS["llama3"]
    vocabulary = from_ranks("x", tokens, splits=splits, special_tokens={}, source_path=None)
    once = read_back(vocabulary, tmp_path)
    pairs = zip(once.merges.left.tolist(), once.merges.right.tolist(), strict=True)
    assert [tokens[a] + b"|" + tokens[b] for a, b in pairs] == [b"b|c", b"a|b", b"c|d", b"ab|cd"]
    assert once.ignore_merges


@pytest.mark.parametrize("name", GGUF_PRE)
def test_pre_tokenizers_keep_their_meaning(name):
    whole = name in GGUF_IGNORE_MERGES
    vocabulary = resolve("toy_bytes")
    chosen = pre_name(replace(vocabulary, splits=PATTERNS[GGUF_PRE[name]], ignore_merges=whole))
    assert chosen is not None
    assert PATTERNS[GGUF_PRE[chosen]] == PATTERNS[GGUF_PRE[name]]
    assert (chosen in GGUF_IGNORE_MERGES) == whole


CHANGES = [
    ("plain", {"splits": (r"\w",)}, "no name for its pre-tokenizer"),
    ("plain", {"normalizer": Normalizer(form="NFC")}, "NFC"),
    ("plain", {"merges": Merges.none()}, "needs merges"),
    ("plain", {"tokens": [b"a", b"a"]}, "two tokens have one text"),
    ("plain", {"special_tokens": {"<s>": 0, "</s>": 0}}, "share an id"),
    ("plain", {"added_tokens": (AddedToken("x", 900, lstrip=True),)}, "stripping"),
    ("toy_unigram", {"byte_fallback": True}, "no byte fallback"),
    ("toy_unigram", {"unk_id": None}, "unknown piece"),
    ("toy_unigram", {"normalizer": Normalizer()}, "white space escaped"),
    ("toy_unigram", {"pieces": [Piece("a", 0.0, PieceType.NORMAL)] * 2}, "two pieces have one"),
    ("toy_unigram", {"added_tokens": (AddedToken("x", 1),)}, "added tokens"),
    ("toy_characters", {"byte_fallback": False}, "byte fallback"),
    ("toy_characters", {"rank_order": RankOrder.MERGES}, "no scores"),
    ("toy_characters", {"normalizer": Normalizer(b"x", None, False, False, True)}, "no normaliz"),
]


@pytest.mark.parametrize(("name", "change", "fault"), CHANGES)
def test_what_gguf_cannot_say(name, change, fault):
    vocabulary = random_bpe(random.Random(1)) if name == "plain" else resolve(name)
    assert trouble(vocabulary) is None
    with pytest.raises(VocabularyError, match=fault):
        to_gguf(replace(vocabulary, **change))


@pytest.mark.parametrize(
    "name", ["toy_bytes", "toy_unigram", "toy_characters", "toy_wordpiece", "unigram_nfkc"]
)
def test_the_bytes_are_those_of_the_package(name, tmp_path):
    vocabulary = sources.resolve(name)
    package = by_the_package(tmp_path / "v.gguf", *written(vocabulary))
    assert to_gguf(vocabulary) == package.read_bytes()


def test_fields_of_each_kind_are_written_as_by_the_package(tmp_path):
    fields = {
        "yes": True, "no": False, "count": 2**32 - 1, "text": "Ġé\0", "bytes": b"\0\xff",
        "none": [], "nothing": b"", "texts": ["", "a", "日本"], "numbers": [0, -1, 2**31 - 1],
        "scores": [-1.5, 0.1, float("inf"), 1e-45],
    }  # fmt: skip
    package = by_the_package(tmp_path / "v.gguf", "gpt2", fields)
    assert gguf_metadata.write("gpt2", fields) == package.read_bytes()
