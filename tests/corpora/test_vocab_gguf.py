"""GGUF files: made here with the gguf package, and llama.cpp's own with its golden vectors."""

from __future__ import annotations

import gzip
import itertools
from typing import TYPE_CHECKING, Any

import pytest
import regex

from corpora.vocabularies.gguf_file import load
from corpora.vocabularies.model import Algorithm, Normalizer, RankOrder, VocabularyError
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.sources import load_path, resolve
from tests.breadth import thorough_from
from tests.data import data_path

if TYPE_CHECKING:
    from pathlib import Path

    from corpora.vocabularies.model import Vocabulary


def gguf(path: Path, model: str, **fields: Any) -> Path:
    """A vocabulary-only GGUF file with ``tokenizer.ggml.<field>`` for each of ``fields``."""
    from gguf import GGUFWriter

    writer = GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(model)
    for name, value in fields.items():
        key = f"tokenizer.ggml.{name}"
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


BPE: dict[str, Any] = {
    "pre": "qwen2",
    "tokens": ["a", "b", "Ġ", "ab", "Ġab", "<s>", "x y", "[PAD6]"],
    "token_type": [1, 1, 1, 1, 1, 3, 4, 5],
    "merges": ["a b", "Ġ ab"],
}
PIECES: dict[str, Any] = {
    "tokens": ["<unk>", "<s>", "a", "b", "ab", "▁"],
    "scores": [0.0, 0.0, -1.0, -2.0, -0.5, -3.0],
    "token_type": [2, 3, 1, 1, 1, 1],
    "unknown_token_id": 0,
}


def test_byte_level(tmp_path: Path) -> None:
    vocabulary = load(gguf(tmp_path / "x.gguf", "gpt2", **BPE))
    assert vocabulary.tokens == (b"a", b"b", b" ", b"ab", b" ab", None, b"x y", None)
    assert vocabulary.merges.merged.tolist() == [3, 4]
    assert vocabulary.rank_order is RankOrder.MERGES
    assert vocabulary.splits == PATTERNS["qwen2"]
    assert vocabulary.special_tokens == {"<s>": 5}
    assert [(token.text, token.special) for token in vocabulary.added_tokens] == [
        ("<s>", True),
        ("x y", False),
    ]
    assert not vocabulary.ignore_merges


def test_gzipped_and_with_another_pattern(tmp_path: Path) -> None:
    path = gguf(tmp_path / "x.gguf", "gpt2", **BPE)
    packed = tmp_path / "x.gguf.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load(packed).fingerprint == load(path).fingerprint
    assert load_path(packed, "gpt2").splits == PATTERNS["gpt2"]


def test_llama3_emits_whole_pre_tokens(tmp_path: Path) -> None:
    assert load(gguf(tmp_path / "x.gguf", "gpt2", **BPE | {"pre": "llama-bpe"})).ignore_merges


def test_sentencepiece_bpe(tmp_path: Path) -> None:
    vocabulary = load(gguf(tmp_path / "x.gguf", "llama", **PIECES, add_space_prefix=False))
    assert vocabulary.algorithm is Algorithm.BPE
    assert vocabulary.byte_fallback
    assert vocabulary.merges.merged.tolist() == [4]
    assert vocabulary.normalizer == Normalizer(escape_whitespaces=True)
    assert vocabulary.unk_id == 0


def test_unigram(tmp_path: Path) -> None:
    vocabulary = load(
        gguf(
            tmp_path / "x.gguf",
            "t5",
            **PIECES,
            add_space_prefix=True,
            remove_extra_whitespaces=True,
            precompiled_charsmap=b"\x04\x00\x80\xff",
        )
    )
    assert vocabulary.algorithm is Algorithm.UNIGRAM
    assert not len(vocabulary.merges)
    assert vocabulary.normalizer == Normalizer(
        charsmap=b"\x04\x00\x80\xff",
        add_dummy_prefix=True,
        remove_extra_whitespaces=True,
        escape_whitespaces=True,
    )
    assert vocabulary.pieces[4].score == -0.5


def test_tokens_beyond_the_byte_alphabet_are_for_llama_cpp_alone(tmp_path: Path) -> None:
    tokens = {"tokens": ["a", "b", "Ġ", "ab", "Ġab", "<s>", "x y", "\u200d"], "token_type": None}
    fields = BPE | tokens | {"token_type": [1, 1, 1, 1, 1, 3, 4, 1]}
    vocabulary = load(gguf(tmp_path / "x.gguf", "gpt2", **fields))
    assert vocabulary.tokens[7] == "\u200d".encode()
    assert vocabulary.unexpressed == ('the token "\\u200d" beyond the byte alphabet',)


def test_another_model_is_for_llama_cpp_alone(tmp_path: Path) -> None:
    tokens = ["<unk>", "<s>", "<0xE6>", "b", "ab", "▁", ""]
    fields = {"tokens": tokens, "token_type": [2, 3, 6, 1, 4, 1, 1], "unknown_token_id": 0}
    vocabulary = load(gguf(tmp_path / "x.gguf", "gemma4", **fields))
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
def test_what_a_gguf_file_may_not_say(
    tmp_path: Path, model: str, fields: dict[str, Any], fault: str
) -> None:
    path = gguf(tmp_path / "x.gguf", model, **fields)
    with pytest.raises(VocabularyError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "fields", "step"),
    [
        ("gpt2", BPE | {"merges": ["a x"]}, "needs a token that is not there"),
        ("gpt2", BPE | {"tokens": ["日", *BPE["tokens"][1:]]}, "needs a token that is not there"),
        ("gpt2", BPE | {"token_type": [9] * 8}, "token_type[0] 9, which is no type"),
        ("llama", {name: PIECES[name] for name in PIECES if name != "scores"}, "without tokenizer"),
    ],
)
def test_what_llama_cpp_reads_all_the_same_is_left_to_it(
    tmp_path: Path, model: str, fields: dict[str, Any], step: str
) -> None:
    vocabulary = load(gguf(tmp_path / "x.gguf", model, **fields))
    assert any(step in one for one in vocabulary.unexpressed)


def test_entries_past_the_tokens_are_passed_over(tmp_path: Path) -> None:
    size = len(BPE["tokens"])
    vocabulary = load(gguf(tmp_path / "x.gguf", "gpt2", **BPE | {"token_type": [1] * size + [9]}))
    as_many = load(gguf(tmp_path / "y.gguf", "gpt2", **BPE | {"token_type": [1] * size}))
    assert vocabulary.unexpressed == as_many.unexpressed
    assert vocabulary.tokens == as_many.tokens


def test_the_unknown_token_of_t5_is_that_of_llama_cpp(tmp_path: Path) -> None:
    fields = {name: PIECES[name] for name in PIECES if name != "unknown_token_id"}
    assert load(gguf(tmp_path / "x.gguf", "t5", **fields)).unk_id == 2


def test_a_truncated_gguf_file(tmp_path: Path) -> None:
    path = gguf(tmp_path / "x.gguf", "gpt2", **BPE)
    content = path.read_bytes()
    for size in (8, 40, len(content) // 2):
        path.write_bytes(content[:size])
        with pytest.raises(VocabularyError) as caught:
            load_path(path)
        assert "\n" not in str(caught.value)


# llama.cpp's golden vectors


def golden(name: str) -> list[tuple[str, list[int]]]:
    texts = data_path(f"gguf/{name}.gguf.inp").read_text(encoding="utf-8")
    lines = data_path(f"gguf/{name}.gguf.out").read_text(encoding="utf-8").splitlines()
    # `split` gives one text more than there are separators; the file ends with a separator.
    cases = texts.split("\n__ggml_vocab_test__\n")[: len(lines)]
    assert len(cases) == len(lines) > 30
    return [(text, [int(i) for i in line.split()]) for text, line in zip(cases, lines, strict=True)]


def encode(vocabulary: Vocabulary, text: str) -> list[int]:
    """The definition: split, then merge the earliest pair, leftmost first."""
    pieces = [text]
    for pattern in vocabulary.splits:
        parted: list[str] = []
        for piece in pieces:
            end = 0
            for match in regex.finditer(pattern, piece):
                parted += [piece[end : match.start()], match.group()]
                end = match.end()
            parted.append(piece[end:])
        pieces = [piece for piece in parted if piece]
    merges = vocabulary.merges
    columns = (merges.left.tolist(), merges.right.tolist(), merges.merged.tolist())
    table = {(a, b): (rank, c) for rank, (a, b, c) in enumerate(zip(*columns, strict=True))}
    ids: list[int] = []
    for piece in pieces:
        parts = [vocabulary.ids[bytes([byte])] for byte in piece.encode()]
        while len(parts) > 1:
            _, merged, at = min(
                (*table.get(pair, (1 << 40, -1)), k)
                for k, pair in enumerate(itertools.pairwise(parts))
            )
            if merged < 0:
                break
            parts[at : at + 2] = [merged]
        ids += parts
    return ids


@pytest.mark.data
@pytest.mark.parametrize("name", thorough_from(1, ["gpt-2", "falcon", "deepseek-coder"]))
def test_byte_level_vocabularies_encode_as_llama_cpp(name: str) -> None:
    cases = golden(f"ggml-vocab-{name}")
    vocabulary = resolve(str(data_path(f"gguf/ggml-vocab-{name}.gguf")))
    for text, expected in cases:
        assert encode(vocabulary, text) == expected, text


@pytest.mark.data
def test_llama_spm_encodes_as_llama_cpp() -> None:
    import sentencepiece

    from corpora.vocabularies.sentencepiece_proto import to_model_proto

    cases = golden("ggml-vocab-llama-spm")
    vocabulary = resolve(str(data_path("gguf/ggml-vocab-llama-spm.gguf")))
    processor = sentencepiece.SentencePieceProcessor(model_proto=to_model_proto(vocabulary))
    for text, expected in cases:
        assert processor.encode(text) == expected, text


def test_a_pre_tokenizer_that_llama_cpp_alone_may_know(tmp_path: Path) -> None:
    path = gguf(tmp_path / "x.gguf", "gpt2", **(BPE | {"pre": "martian"}))
    told = 'tokenizer.ggml.pre "martian", whose pattern is not known here'
    assert resolve(str(path)).unexpressed == (told,)
    assert resolve(f"{path}#pattern=gpt2").unexpressed == ()
