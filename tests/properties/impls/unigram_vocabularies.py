"""Random unigram vocabularies with what separates variants, and inputs for them."""

from functools import partial

import numpy as np

from corpora.vocabularies.model import Algorithm, Normalizer, Piece, PieceType
from corpora.vocabularies.sources import resolve
from tests.properties.impls.spm_definition import spm

unigram = partial(spm, algorithm=Algorithm.UNIGRAM)
LETTERS = ("ab▁", "aé😀▁", "abc▁ﬁ½", "ｶﾞカガ▁", "a\u0301e\u0301▁", "日本語▁。")
ODD = [
    "  ",
    " ",
    "\u3000",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u0301",
    "\u200d",
    "한",
    "ᄒ",
    "\ufdfa",
    "㌀",
]
BROKEN = [b"\xff", b"\xc3", b"\xe2\x96", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe6"]


def random_vocabulary(rng, *, gguf=False):
    """Few letters and few scores, so that sums tie all the time; sometimes extreme scores.

    gguf: one that GGUF can say, too.
    """
    letters = rng.choice(LETTERS)
    drawn = {"".join(rng.choices(letters, k=rng.randint(1, 5))) for _ in range(rng.randint(1, 25))}
    drawn |= {"q", "qq"}  # llama.cpp looks its default EOS up, which has the id 2
    scores = rng.choice(
        [
            [-0.1, -1.0, -1.1, -2.2, -3.3, 0.5],
            [-rng.random() * 12 for _ in range(6)],
            [-1e4, -3.3e4, -1.0, -7.7e4],
            # Below what overflows: a sum beyond float32 is no number that a text can come to.
            [-1e30, -1.0, 2.0],
            [12.0, 30.0, 7.5],
        ]
    )
    kinds = [PieceType.NORMAL] * rng.choice((4, 30)) + [PieceType.USER_DEFINED, PieceType.UNUSED]
    pieces = [
        Piece(text, float(np.float32(rng.choice(scores))), rng.choice(kinds))
        for text in sorted(drawn)
    ]
    charsmap = resolve("unigram_nfkc").normalizer.charsmap if rng.random() < 0.6 else None
    flags = [rng.random() < 0.7, rng.random() < 0.7, gguf or rng.random() < 0.8]
    suffix = not gguf and rng.random() < 0.15
    byte_fallback = not gguf and rng.random() < 0.3
    return unigram(pieces, Normalizer(charsmap, None, *flags, suffix), byte_fallback)


def random_inputs(vocabulary, rng, count):
    """Texts of pieces, odd characters and broken bytes, and now and then a long run."""
    texts = [p.text.replace("▁", " ") for p in vocabulary.pieces if p.type is not PieceType.BYTE]
    atoms = [text.encode() for text in (*texts, *ODD, "z", "▁", "▁▁", "<unk>", "<s>", "<0x41>")]
    inputs = [b""]
    while len(inputs) < count:
        few = rng.sample(atoms, k=min(len(atoms), rng.randint(1, 8)))
        if rng.random() < 0.15:
            few.append(rng.choice(BROKEN))
        size = rng.randrange(14) if rng.random() < 0.98 else rng.randrange(600)
        inputs.append(b"".join(rng.choices(few, k=size)))
    return inputs


def is_text(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
