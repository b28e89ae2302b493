"""Inputs of the conformance test, drawn from a vocabulary and a seed.

A few hundred small ones: enough for a slip of the author, while ``tokgate run`` is for the rest.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

MANY_TOKENS = 300
"""So many tokens are drawn of a larger vocabulary; of a smaller one all are taken."""

SPACE = "\u2581".encode()

WORKED = {"toy_acbb": (b"abacbb", b"abacb")}
"""The worked examples of byte-pair encoding (docs/algorithms.md), by vocabulary. They come first,
so that a breach shows them."""

TEXTS = (
    "Hello, world! 123",
    "  two  spaces\tand\r\nlines\n\n ",
    "na\u00efve e\u0301 \u65e5\u672c\u8a9e \U0001f642\u200d",
    "<|endoftext|><b>&amp;</b>",
    "\x00\x01\x7f\ufffd\ufeff",
)

BROKEN = (
    b"\xff",
    b"\xc3",
    b"a\xe2\x96",
    b"\x80abc",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\x80",
)
"""Not UTF-8: a lone byte, cut characters, a surrogate, beyond Unicode, overlong."""


def inputs_for(vocabulary: Vocabulary, seed: int, longest: int | None) -> list[bytes]:
    """Distinct inputs of at most ``longest`` bytes, the same for the same seed.

    All can be encoded, as in a run: what else to do with a byte that has no token is nobody's law.
    """
    draw = random.Random(f"conformance/{seed}/{vocabulary.fingerprint}")
    tokens = [token.replace(SPACE, b" ") for token in vocabulary.ids]
    some = tokens if len(tokens) <= MANY_TOKENS else draw.sample(tokens, MANY_TOKENS)
    letters = [token for token in tokens if len(token) == 1] or tokens
    found = [b"", *WORKED.get(vocabulary.id, ()), *some]
    found += [b"".join(draw.choices(tokens, k=draw.randint(2, 12))) for _ in range(120)]
    for _ in range(60):  # ties and stale entries show on repetitions of very few letters
        few = draw.sample(letters, min(len(letters), draw.randint(1, 3)))
        found.append(b"".join(draw.choices(few, k=draw.randint(2, 60))))
    for size in (127, 128, 129, 500, 501, 513, 600, 1000, 1025):  # where buffers end
        few = draw.sample(tokens, min(len(tokens), 4))
        found.append(b"".join(draw.choices(few, k=size))[:size])
        found.append((draw.choice(letters) * size)[:size])
    found += [draw.randbytes(draw.randint(1, 16)) for _ in range(30)]
    found += [text.encode() for text in TEXTS]
    found += BROKEN
    return [
        data
        for data in dict.fromkeys(found)
        if (longest is None or len(data) <= longest) and vocabulary.can_encode(data)
    ]


def is_text(data: bytes) -> bool:
    """Whether it is valid UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
