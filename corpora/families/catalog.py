"""The families by name: inputs that took down one tokenizer or another, and a control.

Each shape depends on its variant in the part that a cache could remember: the letter of a run, or
the word in front of it whose length shifts the run's.
"""

from __future__ import annotations

from functools import lru_cache
from string import ascii_lowercase
from typing import TYPE_CHECKING

from corpora.families.base import Family, Shape
from corpora.generators.material import is_text, material
from corpora.generators.prose import english

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary

LETTERS = ascii_lowercase.encode()

COMBINING = "".join(map(chr, range(0x300, 0x34F)))
"""Marks of one script: without a limit on their number a grapheme never ends."""

HAN = (0x4E00, 0x9FA5)
"""The first and last of the unified ideographs of Unicode 1.1."""

LIGATURE = "\ufdfa"
"""Becomes 18 characters under NFKC: no character expands further."""

PREFIX_MIN = 3
"""Tokens of fewer bytes have no proper prefix worth following."""

SLACK = 4
"""Bytes kept beyond the size, so that the cut sees whether it falls within a character."""


def letters(vocabulary: Vocabulary) -> list[bytes]:
    """The lower-case letters that the vocabulary can spell; whatever bytes it has without any."""
    alphabet = vocabulary.byte_alphabet
    usable = [bytes([byte]) for byte in LETTERS if alphabet is None or byte in alphabet]
    return usable or [bytes([byte]) for byte in alphabet or LETTERS]


def of_letters(vocabulary: Vocabulary, count: int) -> list[bytes]:
    """Repeatable strings of ``count`` letters, those over which most tokens are spelt first."""
    usable = set(letters(vocabulary))
    telling = [
        b"".join(units)
        for units in material(vocabulary).alphabets
        if len(units) == count and usable.issuperset(units)
    ]
    return telling or [b"".join((letters(vocabulary) * count)[:count])]


def word(vocabulary: Vocabulary, rng: random.Random, length: int) -> bytes:
    """A word of random letters."""
    return b"".join(rng.choices(letters(vocabulary), k=length))


def letter_run(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """``aaaa``; another letter for each variant."""
    usable = letters(vocabulary)
    return Shape(b"", usable[variant % len(usable)])


def run_of(pump: str) -> Callable[[Vocabulary, random.Random, int, int], Shape]:
    """One character over and over, after a word whose length is the variant's own."""

    def shape(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
        return Shape(word(vocabulary, rng, 1 + variant), pump.encode())

    return shape


def spaces_before_words(
    vocabulary: Vocabulary, rng: random.Random, size: int, variant: int
) -> Shape:
    """Runs of some 128 spaces, each with a letter after it."""
    usable = letters(vocabulary)
    return Shape(b"", b" " * (127 - variant % 32) + usable[variant % len(usable)])


def digits(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """Random digits."""
    return Shape(b"", b"".join(rng.choices([b"%d" % digit for digit in range(10)], k=size)))


def long_word(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """Random letters."""
    return Shape(b"", word(vocabulary, rng, size))


def repeated(count: int) -> Callable[[Vocabulary, random.Random, int, int], Shape]:
    """A string of ``count`` letters over and over."""

    def shape(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
        pumps = of_letters(vocabulary, count)
        return Shape(b"", pumps[variant % len(pumps)])

    return shape


def combining_marks(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """One letter with marks without end."""
    marks = "".join(rng.choices(COMBINING, k=size // 2 + 1))
    return Shape(rng.choice(letters(vocabulary)), marks.encode())


def random_text(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """Random bytes, each that is no character replaced."""
    return Shape(b"", rng.randbytes(size).decode("utf-8", "replace").encode())


def cjk(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """Random Han characters."""
    return Shape(b"", "".join(map(chr, rng.choices(range(*HAN), k=size // 3 + 1))).encode())


def prose(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """English from another page for each variant."""
    text = english()
    at = rng.randrange(len(text))
    wanted = text[at : at + size] if at + size <= len(text) else text[at:] + text
    return Shape(b"", wanted.encode())


@lru_cache(maxsize=8)  # as many vocabularies as `material` keeps
def proper_prefixes(vocabulary: Vocabulary) -> tuple[bytes, ...]:
    """The longest proper prefix of each token that is text, where that is text as well."""
    tokens = [token for token in material(vocabulary).text if len(token) >= PREFIX_MIN]
    cut = tuple(token[:-1] for token in tokens if token.isascii() or is_text(token[:-1]))
    return cut or tuple(letters(vocabulary))


def token_prefixes(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """Random tokens, each without its last byte."""
    parts = rng.choices(proper_prefixes(vocabulary), k=size // (PREFIX_MIN - 1) + 1)
    return Shape(b"", b"".join(parts)[: size + SLACK])


def invalid_utf8(vocabulary: Vocabulary, rng: random.Random, size: int, variant: int) -> Shape:
    """Random bytes from 0x80 on: no character that begins ever ends."""
    return Shape(b"", rng.randbytes(size).translate(bytes(byte | 0x80 for byte in range(256))))


FAMILIES = (
    Family("prose", "the control: what everybody measures", prose),
    Family("letter-run", "one pre-token, one merge that fits everywhere: ties", letter_run),
    Family("long-word", "one pre-token that no pattern splits, merges all over", long_word),
    Family("pair-run", "two letters in turn: two merges compete for each letter", repeated(2)),
    Family("triple-run", "three letters in turn: merges that overlap in chains", repeated(3)),
    Family("space-run", "one run of spaces: look-ahead for its end, removal, escapes", run_of(" ")),
    Family(
        "spaces-before-words",
        "runs of spaces, each to be given up but for one before the word: backtracking",
        spaces_before_words,
    ),
    Family("newlines", "one run of newlines: greedy classes of white space", run_of("\n")),
    Family("digits", "digits without end: groups of three, or one long pre-token", digits),
    Family("combining-marks", "one grapheme that never ends, reordered by NFC", combining_marks),
    Family("cjk", "ideographs without a space: one pre-token, many byte fallbacks", cjk),
    Family("normalizer-expansion", "U+FDFA, 18 characters under NFKC", run_of(LIGATURE)),
    Family(
        "random-text", "random characters: unknown tokens, fallbacks, rare classes", random_text
    ),
    Family(
        "token-prefixes",
        "each token's longest proper prefix: every longest match begins and fails",
        token_prefixes,
    ),
    Family(
        "invalid-utf8", "bytes that are no text: repair, or raw bytes", invalid_utf8, text=False
    ),
)


def families() -> dict[str, Family]:
    """All families by name, the control first, in the order in which they are measured."""
    return {family.name: family for family in FAMILIES}
