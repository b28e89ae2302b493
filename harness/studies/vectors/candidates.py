"""Texts from which vectors are chosen, and what each of them covers.

Everything here depends on the vocabulary alone, so that the same vectors are made everywhere.
"""

from __future__ import annotations

import random
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from corpora.generators.catalog import generators
from harness.core.pretokens import piece_ends
from impls.pretokenize.character_classes import class_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

GENERATORS = ("edge", "tokens", "concatenations", "repeats", "whitespace", "boundaries", "special")
"""Generators that take everything from the vocabulary, and nothing from this machine."""

EACH = 150
"""Texts of each generator."""

WALKS = 1500
"""Texts in which characters of all classes follow one another at random."""

LONGEST = 160
"""Bytes of a text: vectors are read by people."""

CLASSES = (
    "A\u00c9\u01c5a\u00e9\u00aa\u02b0\u65e5\u0301"
    "1\u0663\u00b2\t\u00a0\u2003 \n\r!_\u20ac\U0001f642'/"
)
"""Some characters of each class that patterns tell apart (``character_classes``)."""

ENDINGS = ("'s", "'T", "'re", "'LL", "'\u017f", "\r\n", "  ", "12")
"""What patterns read as a whole."""

NAMES = [
    "capital",
    "small letter",
    "uncased letter",
    "mark",
    "number",
    "white space",
    "space",
    "line end",
    "other",
    "apostrophe",
    "slash",
]
"""The classes in words, by their number."""


def texts(vocabulary: Vocabulary) -> Iterator[bytes]:
    """The candidates, without duplicates."""
    known = generators()
    made = (islice(known[name].cases(vocabulary, 0), EACH) for name in GENERATORS)
    found = dict.fromkeys(text for each in made for text in each if len(text) <= LONGEST)
    found |= dict.fromkeys(_walks())
    found |= dict.fromkeys(bytes([byte]) for byte in range(256))
    return (text for text in found if vocabulary.can_encode(text))


def _walks() -> Iterator[bytes]:
    rng = random.Random("vectors")
    for _ in range(WALKS):
        kinds = rng.choices((CLASSES, ENDINGS), weights=(6, 1), k=rng.randint(3, 14))
        yield "".join(rng.choice(kind) for kind in kinds).encode()


def covered(vocabulary: Vocabulary, text: bytes, ids: Iterable[int], mode: Mode) -> Iterator[str]:
    """What a text covers: edges of the pattern, lengths of tokens, bytes.

    An edge is three characters in a row by their classes, with the cuts between them.
    """
    tokens = vocabulary.tokens
    for token_id in ids:
        token = tokens[token_id] if token_id < len(tokens) else None
        yield f"a token of {len(token or b'')} bytes"
    if not mode.pretokenize:
        yield from (f"the byte {byte:02x}" for byte in text)
        return
    try:
        characters = text.decode()
    except UnicodeDecodeError:
        return
    ends = piece_ends(vocabulary, text) if vocabulary.splits else set()
    at = [0, *accumulate(len(one.encode()) for one in characters)]
    names = ["start", *(NAMES[class_table()[ord(one)]] for one in characters), "end"]
    for index in range(len(names) - 2):
        first, second, third = names[index : index + 3]
        cuts = ["|" * (at[place] in ends) for place in (index, index + 1)]
        yield f"{first} {cuts[0]}{second} {cuts[1]}{third}"
