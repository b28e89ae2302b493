"""SentencePiece BPE over bytes: the ids of the plain encoder, and which vocabularies it is for."""

import random
from collections import Counter
from functools import partial

import numpy as np
import pytest

from corpora.texts import benchmarks
from corpora.vocabularies.model import Normalizer, Piece, PieceType
from corpora.vocabularies.sources import resolve
from impls.fast.spm import over_bytes
from impls.fast.spm_encoder import FastEncoder
from impls.interface import Mode, Rejected
from impls.spm import variants
from impls.spm.encoder import SpmEncoder
from impls.spm.lexicon import make_lexicon
from impls.spm.reading import read_pieces
from tests.breadth import thorough_from
from tests.impls.spm_definition import spm

VARIANTS = (variants.SENTENCEPIECE, variants.LLAMA_CPP)
PLAIN = Normalizer(escape_whitespaces=True, add_dummy_prefix=True)
LETTERS = "ab▁éß日本😀."
UNKNOWN = "ü語😁\n\t"


def usable(vocabulary, variant=variants.SENTENCEPIECE):
    """Whether bytes can stand for it."""
    lexicon = make_lexicon(vocabulary, variant)
    reading = partial(read_pieces, vocabulary, variant)
    return over_bytes(vocabulary, variant, lexicon, reading) is not None


def trained(seed, *, byte_fallback):
    """A vocabulary as training makes it: each piece of two before it, worse than these."""
    rng = random.Random(f"trained {seed}")
    texts = list(dict.fromkeys([*rng.sample(LETTERS, k=rng.randint(3, len(LETTERS))), "▁"]))
    alike = rng.choice([0.0, 0.0, 0.05])
    pieces = [Piece(one, -100.0 - i, PieceType.NORMAL) for i, one in enumerate(texts)]
    score = 0.0
    for _ in range(rng.randint(1, 120)):
        made = rng.choice(texts) + rng.choice(texts)
        if made not in texts and not set(made) <= {"▁"}:
            score -= rng.random() >= alike  # now and then it has the score of the one before
            texts.append(made)
            kind = PieceType.USER_DEFINED if rng.random() < 0.02 else PieceType.NORMAL
            pieces.append(Piece(made, score, kind))
    if rng.random() < 0.5:
        lengths = rng.sample(range(2, 20), k=rng.randint(2, 12))
        pieces += [Piece("▁" * n, -1e9, PieceType.NORMAL) for n in lengths]
    # A character that only pieces have.
    if rng.random() < 0.3:
        pieces = [one for one in pieces if one.text != texts[0]]
    rng.shuffle(pieces)
    return spm(pieces, PLAIN, byte_fallback=byte_fallback)


def inputs(seed):
    """Texts of the letters, of runs, and of what is unknown."""
    rng = random.Random(f"inputs {seed}")
    spaced = LETTERS.replace("▁", " ")
    found = [b""]
    for _ in range(40):
        parts = [rng.choice([spaced, spaced[:3], UNKNOWN])[: rng.randint(1, 9)] for _ in range(3)]
        letters = "".join(parts)
        text = "".join(rng.choices(letters, k=rng.choice([1, 3, 12, 60])))
        if rng.random() < 0.4:
            text = text[:5] + rng.choice(letters) * rng.randint(1, 70) + text[5:]
        found.append(text.encode())
    return [*found, b"\xe2\x96", b"a\xffb ", b"  \xe2\x96\x81\xe2 a"]


def ids_of(encoder, data, mode):
    """All ids and where those of each input end, or how it was refused."""
    ends = np.cumsum([len(one) for one in data], dtype=np.int64)
    try:
        ids, id_ends = encoder.encode_batch(b"".join(data), ends, mode)
    except Rejected as error:
        return str(error)
    return ids.tolist(), id_ends.tolist()


@pytest.mark.parametrize("part", thorough_from(2, range(6)))
def test_it_is_the_plain_encoder(part):
    taken = Counter[str]()
    for seed in range(20 * part, 20 * part + 20):
        vocabulary = trained(seed, byte_fallback=bool(seed % 2))
        for variant in VARIANTS if seed % 2 else VARIANTS[:1]:
            plain = SpmEncoder(vocabulary, variant)
            fast = FastEncoder(vocabulary, variant)
            taken[variant.name] += usable(vocabulary, variant)
            data = inputs(seed)
            for mode in (Mode(), Mode(special="all"))[: 1 + (variant is variants.LLAMA_CPP)]:
                assert ids_of(fast, data, mode) == ids_of(plain, data, mode), (seed, variant.name)
                for one in data:
                    assert ids_of(fast, [one], mode) == ids_of(plain, [one], mode), (seed, one)
    # The rest has scores that are alike and may get in each other's way.
    assert min(taken.values()) >= 4, taken


@pytest.mark.parametrize("name", thorough_from(0, ["mistral_v1", "mistral_v3"]))
@pytest.mark.parametrize("variant", thorough_from(1, VARIANTS))
def test_real_vocabularies_on_real_texts(name, variant):
    vocabulary = resolve(name)
    assert usable(vocabulary, variant)
    plain, fast = SpmEncoder(vocabulary, variant), FastEncoder(vocabulary, variant)
    texts = [
        benchmarks.TEXTS[kind].of(vocabulary, 100_000, 1)
        for kind in benchmarks.TEXTS
        if not benchmarks.trouble(kind)
    ]
    runs = [b"a" + b" " * n + b"b" for n in range(60)]
    symbols = [b"[INST]a[/INST] b</s>", "\u2581\u2581[INST]\u2581\n\n\n".encode()]
    for data in ([*texts], runs, symbols):
        assert ids_of(fast, data, Mode()) == ids_of(plain, data, Mode())


def letters(*others):
    return [*(Piece(one, -100.0, PieceType.NORMAL) for one in "abc▁"), *others]


def normal(text, score):
    return Piece(text, score, PieceType.NORMAL)


@pytest.mark.parametrize(
    ("pieces", "fits"),
    [
        ([normal("ab", -1), normal("bc", -2)], True),
        # Both want the b, and the leftmost gets it.
        ([normal("ab", -1), normal("bc", -1)], False),
        # Of one score, but they never meet.
        ([normal("ab", -1), normal("cc", -1)], True),
        # One is a part of the other.
        ([normal("ab", -1), normal("abc", -1)], False),
        # Better than its part.
        ([normal("ab", -2), normal("abc", -1)], False),
        ([Piece("ab", -1, PieceType.UNUSED)], False),
        # Runs of spaces of the worst score.
        ([normal("▁▁", -9), normal("▁▁▁", -9), normal("▁a", -1)], True),
        # What takes a space is worse than the runs, or takes a run.
        ([normal("▁▁", -9), normal("▁▁▁", -9), normal("▁a", -10)], False),
        ([normal("▁▁", -9), normal("▁▁▁", -9), normal("▁▁a", -8)], False),
    ],
)
def test_which_vocabularies_it_is_for(pieces, fits):
    assert usable(spm(letters(*pieces), PLAIN)) is fits


def test_equals_that_may_get_in_each_others_way_would_show():
    vocabulary = spm(letters(normal("bc", -1), normal("ab", -1)), PLAIN)
    ids = FastEncoder(vocabulary, variants.SENTENCEPIECE).encode(b"abc", Mode())
    assert [vocabulary.pieces[i].text for i in ids] == ["▁", "ab", "c"]
