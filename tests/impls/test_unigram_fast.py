"""The unigram that is there for its speed: the ids of the plain one, on all vocabularies."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.texts import benchmarks
from corpora.vocabularies.model import Normalizer, Piece, PieceType
from corpora.vocabularies.sources import resolve
from impls.fast.unigram.encoder import IMPLEMENTATION
from impls.fast.unigram.viterbi import make_pulling
from impls.interface import Mode
from impls.unigram import variants
from impls.unigram.encoder import SENTENCEPIECE
from impls.unigram.lexicon import make_lexicon
from tests.breadth import thorough_from
from tests.data import data_path
from tests.impls.unigram_vocabularies import random_inputs, random_vocabulary, unigram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

TEXT = Mode()


def assert_alike(vocabulary: Vocabulary, inputs: Sequence[bytes]) -> bool:
    """All in one batch, then each by itself; whether the plain encoder is not what runs."""
    plain, fast = SENTENCEPIECE.load(vocabulary), IMPLEMENTATION.load(vocabulary)
    data, ends = b"".join(inputs), np.cumsum([len(one) for one in inputs], dtype=np.int64)
    ids, id_ends = plain.encode_batch(data, ends, TEXT)
    found, found_ends = fast.encode_batch(data, ends, TEXT)
    assert np.array_equal(found, ids)
    assert np.array_equal(found_ends, id_ends)
    for one, wanted in zip(inputs, np.split(ids, id_ends[:-1]), strict=True):
        assert fast.encode(one, TEXT) == wanted.tolist(), one
    return fast.pulling is not None


def worded(rng: random.Random, *, byte_fallback: bool) -> Vocabulary:
    """A vocabulary whose pieces hold white space first, as those of training do."""
    letters = rng.choice(["abcd.(,", "abé日本.", "xy-_ab{}", "abжё日é𝄞"])
    drawn = {"".join(rng.choices(letters, k=rng.randint(1, 5))) for _ in range(rng.randint(5, 60))}
    drawn |= {"▁" + text for text in rng.sample(sorted(drawn), k=len(drawn) // 2)} | {
        "▁",
        "q",
        "qq",
    }
    if rng.random() < 0.3:
        drawn.add(rng.choice(["▁▁", "a▁b", "ab▁▁"]))
    scores = rng.choice(
        [
            [-1.0, -2.0, -3.0, -1.5],  # sums tie
            [-rng.random() * 14 for _ in range(60)],
            [-0.1 * n for n in range(1, 30)],
            [-900.0, -850.3, -950.1],  # SentencePiece's sums are brought back often
        ]
    )
    kinds = [PieceType.NORMAL] * 20 + [PieceType.USER_DEFINED, PieceType.UNUSED]
    pieces = [
        Piece(text, float(np.float32(rng.choice(scores))), rng.choice(kinds))
        for text in sorted(drawn)
    ]
    return unigram(pieces, Normalizer(None, None, True, rng.random() < 0.7, True), byte_fallback)


def texts_for(vocabulary: Vocabulary, rng: random.Random) -> list[bytes]:
    inputs = random_inputs(vocabulary, rng, 25)
    words = [p.text.replace("▁", " ") for p in vocabulary.pieces if p.type is PieceType.NORMAL]
    for size in (30, 400, 3000):
        made = "".join(rng.choice([" ", ""]) + rng.choice([*words, "ü", "7"]) for _ in range(size))
        inputs.append(made.encode())
    inputs.append("".join(rng.choices([*"abc", *words], k=9000)).replace(" ", "").encode())
    # Characters that no piece has, between others, and long runs of them.
    for size in (3, 30, 300):
        atoms = [*words, " ", "日本", "テキスト", "ü", "ж", "한국", "𝄞😀", "a。", "(", "\n"]
        inputs.append("".join(rng.choices(atoms, k=size)).encode())
    inputs.append(("a" + "ü" * 4000 + "テ" * 3000 + "b").encode())
    for size in (1, 10, 60):
        runs = ("".join(rng.choices("日テ。한ü𝄞", k=rng.randint(1, size))) for _ in range(40))
        inputs.append("".join(rng.choice(["a", "▁", " ", "b "]) + run for run in runs).encode())
    return [*inputs, b"", ("ab" * 2000).encode(), (" " + "é" * 90).encode() * 3, b"\xe2\x96"]


@pytest.mark.parametrize("part", thorough_from(2, range(4)))
def test_drawn_vocabularies(part: int) -> None:
    taken = 0
    for number in range(10 * part, 10 * part + 10):
        rng = random.Random(f"fast {number}")
        if number % 3:
            vocabulary = worded(rng, byte_fallback=number % 5 == 0)
        else:
            vocabulary = random_vocabulary(rng, gguf=True)
        taken += assert_alike(vocabulary, texts_for(vocabulary, rng))
    assert taken >= 4


def test_short_inputs() -> None:
    for number in range(4):
        rng = random.Random(f"short {number}")
        vocabulary = random_vocabulary(rng)
        assert_alike(vocabulary, random_inputs(vocabulary, rng, 15))
        vocabulary = worded(rng, byte_fallback=number == 0)
        assert_alike(vocabulary, random_inputs(vocabulary, rng, 15))


@pytest.mark.data
@pytest.mark.thorough  # large vocabularies
@pytest.mark.parametrize("name", ["t5_base", "albert_fixture", "sp_test_ja_model"])
def test_real_vocabularies_on_real_texts(name: str) -> None:
    vocabulary = resolve(str(data_path(f"vocabs/{name}.model")))
    kinds = [kind for kind in benchmarks.TEXTS if not benchmarks.trouble(kind)]
    texts = [benchmarks.TEXTS[kind].of(vocabulary, 1_000_000, 3) for kind in kinds]
    assert assert_alike(vocabulary, texts)


def test_what_cannot_be_pulled_is_left_to_the_plain_encoder() -> None:
    vocabulary = worded(random.Random(3), byte_fallback=False)
    lexicon = make_lexicon(vocabulary, variants.SENTENCEPIECE)
    assert make_pulling(vocabulary, lexicon) is not None
    # A rule that ends inside a character.
    broken = np.frombuffer(b"\xe2\x96\0", dtype=np.uint8)
    rules = lexicon.rules._replace(replacements=broken)
    assert make_pulling(vocabulary, lexicon._replace(rules=rules)) is None
    # Extreme scores; sums that would be brought back twice within a piece.
    for text, score, admitted in (("b", -1e30, False), ("a" * 200, -900.0, False),
                                  ("a" * 100, -900.0, True)):  # fmt: skip
        pieces = [Piece(text, score, PieceType.NORMAL), Piece("a", -1.0, PieceType.NORMAL)]
        drawn = unigram(pieces)
        made = make_pulling(drawn, make_lexicon(drawn, variants.SENTENCEPIECE))
        assert (made is not None) == admitted
