"""Random unigram vocabularies with what separates variants, and inputs for them."""

from dataclasses import replace
from functools import partial

from corpora.generators.characters import BROKEN_UTF8
from corpora.vocabularies.drawn import pieces as drawn
from corpora.vocabularies.model import Algorithm, PieceType
from tests.properties.impls.spm_definition import spm

unigram = partial(spm, algorithm=Algorithm.UNIGRAM)
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


def random_vocabulary(rng, *, gguf=False):
    """One of :mod:`corpora.vocabularies.drawn`; gguf: that GGUF can say, too."""
    made = drawn.unigram(rng)
    if not gguf:  # with some of the bytes alone, SentencePiece refuses it
        spelled = sum(piece.type is PieceType.BYTE for piece in made.pieces)
        return made if spelled in (0, 256) else random_vocabulary(rng)
    pieces = [piece for piece in made.pieces[1:] if piece.type is not PieceType.BYTE]
    spaces = replace(made.normalizer, escape_whitespaces=True, treat_whitespace_as_suffix=False)
    return unigram(pieces, spaces)


def random_inputs(vocabulary, rng, count):
    """Texts of pieces, odd characters and broken bytes, and now and then a long run."""
    texts = [p.text.replace("▁", " ") for p in vocabulary.pieces if p.type is not PieceType.BYTE]
    atoms = [text.encode() for text in (*texts, *ODD, "z", "▁", "▁▁", "<unk>", "<s>", "<0x41>")]
    inputs = [b""]
    while len(inputs) < count:
        few = rng.sample(atoms, k=min(len(atoms), rng.randint(1, 8)))
        if rng.random() < 0.15:
            few.append(rng.choice(BROKEN_UTF8))
        size = rng.randrange(14) if rng.random() < 0.98 else rng.randrange(600)
        inputs.append(b"".join(rng.choices(few, k=size)))
    return inputs
