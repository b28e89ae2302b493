"""What passes normalization in runs against normalizers that are told of nothing that passes."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.vocabularies.model import Piece, PieceType
from corpora.vocabularies.sources import resolve
from impls.unigram import variants
from impls.unigram.lexicon import make_lexicon
from impls.unigram.marks import CHANGES
from impls.unigram.normalizer import BLANK, SPACE
from impls.unigram.preparation import prepare
from tests.breadth import thorough_from

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.unigram.lexicon import Lexicon
    from impls.unigram.variants import Variant

VARIANTS = (variants.SENTENCEPIECE, variants.HUGGING_FACE, variants.LLAMA_CPP)

ATOMS = [
    *["word", "a", "(", "-", ".", '"', "<s", "\r", "\n", "\t", "\r\n", "\0", "\x01", "\x7f", " "],
    *["  ", "   ", "\n\n", "\u3000", "\u2581", "é", "e\u0301", "и", "и\u0306", "слово", "ﬁ", "½"],
    *["か", "か\u3099", "日本", "한", "\u1112", "क्ष", "😀", "\u200b", "\u0301", "ß"],
]


def rules_of(vocabulary: Vocabulary, variant: Variant) -> tuple[Lexicon, Lexicon]:
    """The tables, and the same with nothing in them that is known to pass."""
    lexicon = make_lexicon(vocabulary, variant)
    nothing = np.zeros_like(lexicon.rules.passes)
    changes = np.full(1 << 16, CHANGES, dtype=np.uint8)
    slow = lexicon.rules._replace(passes=nothing, settled=nothing, marks=changes)
    return lexicon, lexicon._replace(rules=slow)


def prepared(lexicon: Lexicon, inputs: list[bytes]) -> tuple[list[int], bytes]:
    """The segments and the text of a batch."""
    ends = np.cumsum([len(one) for one in inputs], dtype=np.int64)
    text, segments, segment_ends = prepare(
        lexicon, np.frombuffer(b"".join(inputs), dtype=np.uint8), ends
    )
    size = int(segments[-1, 0]) if len(segments) else 0
    return [*segments.reshape(-1).tolist(), *segment_ends.tolist()], text[:size].tobytes()


def spaced(vocabulary: Vocabulary, *, tidy: bool, escape: bool, prefix: bool) -> Vocabulary:
    """The vocabulary with other flags of its normalizer, and with symbols of one character."""
    spec = replace(
        vocabulary.normalizer,
        remove_extra_whitespaces=tidy,
        escape_whitespaces=escape,
        add_dummy_prefix=prefix,
    )
    symbols = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in ("(", "-", "-.", "\n-")]
    names = {piece.text for piece in symbols}
    others = [piece for piece in vocabulary.pieces if piece.text not in names]
    return replace(vocabulary, normalizer=spec, pieces=(*others, *symbols))


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
@pytest.mark.parametrize("part", thorough_from(1, range(2)))
def test_what_passes_is_what_would_become_of_it(part: int, variant: Variant) -> None:
    rng = random.Random(f"passing {part}")
    plain = resolve("unigram_nfkc")
    made = [plain]
    for tidy, escape, prefix in product((True, False), repeat=3):
        if escape or variant is not variants.LLAMA_CPP:
            made.append(spaced(plain, tidy=tidy, escape=escape, prefix=prefix))
    for vocabulary in made:
        lexicon, slow = rules_of(vocabulary, variant)
        inputs = ["".join(rng.choices(ATOMS, k=rng.choice([1, 2, 3, 9, 60]))) for _ in range(150)]
        batch = [b"", *(text.encode() for text in inputs), b" ", b"a"]
        if not variant.text_only:
            batch += [
                one + rng.choice([b"\xff", b"\xe3\x81", b"\xc0\x80", b"\xd0"]) for one in batch
            ]
        for one in [batch, *([single] for single in batch)]:
            assert prepared(lexicon, one) == prepared(slow, one), one


def test_line_breaks_pass_as_spaces() -> None:
    """The tables would be right, and useless, if they said nothing."""
    rules = make_lexicon(resolve("unigram_nfkc"), variants.SENTENCEPIECE).rules
    blanks = {chr(code) for code in np.flatnonzero(rules.passes[:256] & BLANK)}

    assert blanks == {" ", "\t", "\n", "\r", "\x0c"}
    assert all(rules.passes[code] for code in b"cZ09")
    assert rules.passes[ord("\n")] == rules.passes[SPACE]
    symbols = make_lexicon(
        spaced(resolve("unigram_nfkc"), tidy=True, escape=True, prefix=True),
        variants.SENTENCEPIECE,
    ).rules.passes
    assert symbols[ord("(")]
    assert not symbols[ord("-")]  # a longer one may begin there
