"""Written GGUF vocabularies: what is read back is what was written."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from corpora.vocabularies import gguf_out, sources
from corpora.vocabularies.gguf_file import load
from corpora.vocabularies.gguf_out import pre_name, to_gguf, trouble
from corpora.vocabularies.merges import merges_from_ranks
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
from tests.breadth import thorough
from tests.data import data_path

if TYPE_CHECKING:
    from pathlib import Path

BYTES = tuple(bytes([byte]) for byte in range(256))


def read_back(vocabulary: Vocabulary, folder: Path) -> Vocabulary:
    path = folder / "written.gguf"
    path.write_bytes(to_gguf(vocabulary))
    return load(path)


def random_bpe(rng: random.Random) -> Vocabulary:
    """All bytes in any order, merges, a special and a user-defined token, a hole."""
    tokens: list[bytes | None] = list(rng.sample(BYTES, 256))
    spelled = [token for token in tokens if token is not None]
    merges = []
    for _ in range(rng.randrange(1, 60)):
        left, right = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        text = spelled[left] + spelled[right]
        if text not in spelled:
            merges.append((left, right, len(tokens)))
            tokens.append(text)
            spelled.append(text)
    tokens += [None, None, b"<user token>"]
    size = len(tokens)
    pattern = rng.choice(list(GGUF_PRE))
    added = (AddedToken("<s>", size - 3, special=True), AddedToken("<user token>", size - 1))
    return Vocabulary(
        "random",
        Algorithm.BPE,
        "gguf",
        tuple(tokens),
        Merges.of(merges),
        rank_order=RankOrder.MERGES,
        splits=PATTERNS[GGUF_PRE[pattern]],
        special_tokens={"<s>": size - 3},
        added_tokens=added,
        ignore_merges=pattern in GGUF_IGNORE_MERGES,
    )


def random_pieces(rng: random.Random) -> Vocabulary:
    algorithm = rng.choice([Algorithm.BPE, Algorithm.UNIGRAM])
    texts = {"".join(rng.choices("ab▁é日", k=rng.randint(1, 4))) for _ in range(40)}
    kinds = [PieceType.NORMAL, PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED]
    pieces = [
        Piece("<s>", 0.0, PieceType.CONTROL),
        Piece("<unk>", 0.0, PieceType.UNKNOWN),
        *(
            Piece(text, float(np.float32(-10 * rng.random())), rng.choice(kinds))
            for text in sorted(texts)
        ),
    ]
    unigram = algorithm is Algorithm.UNIGRAM
    return from_pieces(
        "random",
        pieces,
        algorithm=algorithm,
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
def test_random_vocabularies_come_back(make: Any, tmp_path: Path) -> None:
    rng = random.Random(5)
    for _ in range(60):
        vocabulary = make(rng)
        assert read_back(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint


@pytest.mark.parametrize(
    "name",
    [thorough("mistral_v1"), "mistral_v7", "unigram_nfkc", "toy_unigram", "toy_characters"],
)
def test_sentencepiece_vocabularies_come_back(name: str, tmp_path: Path) -> None:
    vocabulary = sources.resolve(name)
    assert read_back(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint


@pytest.mark.parametrize("name", ["toy_bytes", "toy_wordpiece"])
def test_other_formats_come_back_with_what_gguf_says_otherwise(name: str, tmp_path: Path) -> None:
    vocabulary = sources.resolve(name)
    once = read_back(vocabulary, tmp_path)
    assert once.tokens == vocabulary.tokens
    assert once.splits == vocabulary.splits
    assert once.special_tokens == vocabulary.special_tokens
    assert once.merges.merged.tolist() == vocabulary.merges.merged.tolist()
    assert read_back(once, tmp_path).fingerprint == once.fingerprint


@pytest.mark.data
@pytest.mark.parametrize("name", [thorough("deepseek-coder"), "llama-spm", "bert-bge"])  # large
def test_llama_cpps_own_come_back(name: str, tmp_path: Path) -> None:
    vocabulary = load(data_path(f"gguf/ggml-vocab-{name}.gguf"))
    assert read_back(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint


@pytest.mark.data
def test_a_real_unigram_model_comes_back(tmp_path: Path) -> None:
    vocabulary = sources.resolve(str(data_path("vocabs/t5_base.model")))
    assert read_back(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint


def test_the_same_bytes_again() -> None:
    vocabulary = random_bpe(random.Random(1))
    assert to_gguf(vocabulary) == to_gguf(replace(vocabulary, id="other", source_path="/x"))


def test_all_splits_of_an_improper_vocabulary_by_rank(tmp_path: Path) -> None:
    tokens = (*BYTES, b"bc", b"ab", b"cd", b"abcd")
    vocabulary = Vocabulary(
        "ranks",
        Algorithm.BPE,
        "tiktoken",
        tokens,
        merges_from_ranks(tokens),
        splits=PATTERNS["llama3"],
        ignore_merges=True,
    )
    once = read_back(vocabulary, tmp_path)
    pairs = zip(once.merges.left.tolist(), once.merges.right.tolist(), strict=True)
    assert [tokens[a] + b"|" + tokens[b] for a, b in pairs] == [b"b|c", b"a|b", b"c|d", b"ab|cd"]
    assert once.ignore_merges


@pytest.mark.parametrize("name", GGUF_PRE)
def test_pre_tokenizers_keep_their_meaning(name: str) -> None:
    vocabulary = replace(
        random_bpe(random.Random(1)),
        splits=PATTERNS[GGUF_PRE[name]],
        ignore_merges=name in GGUF_IGNORE_MERGES,
    )
    chosen = pre_name(vocabulary)
    assert chosen is not None
    assert PATTERNS[GGUF_PRE[chosen]] == vocabulary.splits
    assert (chosen in GGUF_IGNORE_MERGES) == vocabulary.ignore_merges


def test_what_gguf_cannot_say() -> None:
    plain = random_bpe(random.Random(1))
    pieces = sources.resolve("toy_unigram")
    characters = sources.resolve("toy_characters")
    changes: list[tuple[Vocabulary, dict[str, Any], str]] = [
        (plain, {"splits": (r"\w",)}, "no name for its pre-tokenizer"),
        (plain, {"normalizer": Normalizer(form="NFC")}, "NFC"),
        (plain, {"merges": Merges.none()}, "needs merges"),
        (plain, {"tokens": (*plain.tokens, b"a")}, "two tokens have one text"),
        (plain, {"special_tokens": {"<s>": 0, "</s>": 0}}, "share an id"),
        (plain, {"added_tokens": (AddedToken("x", 900, lstrip=True),)}, "stripping"),
        (pieces, {"byte_fallback": True}, "no byte fallback"),
        (pieces, {"unk_id": None}, "unknown piece"),
        (pieces, {"normalizer": Normalizer()}, "white space escaped"),
        (pieces, {"pieces": (*pieces.pieces, pieces.pieces[5])}, "two pieces have one text"),
        (pieces, {"added_tokens": (AddedToken("x", 1),)}, "added tokens"),
        (characters, {"byte_fallback": False}, "byte fallback"),
        (characters, {"rank_order": RankOrder.MERGES}, "no scores"),
        (
            characters,
            {"normalizer": Normalizer(charsmap=b"x", escape_whitespaces=True)},
            "no normalization",
        ),
    ]
    for vocabulary, change, fault in changes:
        altered = replace(vocabulary, **change)
        assert trouble(vocabulary) is None
        assert fault in str(trouble(altered))
        with pytest.raises(VocabularyError):
            to_gguf(altered)


def by_the_package(model: str, fields: dict[str, Any], path: Path) -> bytes:
    """The file as the package ``gguf`` writes it."""
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(str(path), "llama")
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
    return path.read_bytes()


@pytest.mark.parametrize(
    "name", ["toy_bytes", "toy_unigram", "toy_characters", "toy_wordpiece", "unigram_nfkc"]
)
def test_the_bytes_are_those_of_the_package(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = sources.resolve(name)
    ours = to_gguf(vocabulary)
    monkeypatch.setattr(
        gguf_out, "_file", lambda model, fields: by_the_package(model, fields, tmp_path / "v.gguf")
    )
    assert ours == to_gguf(vocabulary)


def test_fields_of_each_kind_are_written_as_by_the_package(tmp_path: Path) -> None:
    fields = {
        "yes": True, "no": False, "count": 2**32 - 1, "text": "Ġé\0", "bytes": b"\0\xff",
        "none": [], "nothing": b"", "texts": ["", "a", "日本"], "numbers": [0, -1, 2**31 - 1],
        "scores": [-1.5, 0.1, float("inf"), 1e-45],
    }  # fmt: skip
    ours = gguf_out._file("gpt2", fields)
    assert ours == by_the_package("gpt2", fields, tmp_path / "v.gguf")
