"""What generators and strategies draw from a vocabulary: its spellings and its telling letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from corpora.vocabularies.model import PieceType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from corpora.vocabularies.model import Vocabulary

_SPACE = "\u2581".encode()

# Vocabularies kept: a campaign has a handful, and their tables take some 30 MB each.
_KEPT = 8

# Alphabets of each size; enough for variety, few enough that each is met in a short run.
_ALPHABETS_A_SIZE = 64
# Letters that are combined freely: 8 give 92 alphabets of one to three.
_LETTERS = 8

_CLASSES = {"Lu": "U", "Ll": "l", "Lt": "T", "Lm": "m", "Lo": "o", "M": "M", "N": "N", "Z": " "}
_CONTROLS = {"\n": "n", "\r": "n", "\t": " ", "'": "'"}

# A unit is a character, or a byte where the bytes are no text.
Units = tuple[bytes, ...]


def is_text(data: bytes) -> bool:
    """Whether ``data`` is valid UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def units_of(data: bytes) -> list[bytes]:
    """The characters of ``data``, or its bytes where it is not valid UTF-8."""
    if data.isascii() or not is_text(data):
        return [data[i : i + 1] for i in range(len(data))]
    return [character.encode() for character in data.decode()]


def shape(text: str) -> str:
    """The classes that split patterns tell apart, in the order in which they come up.

    Few tokens have the odd shapes, and those are what a pattern cuts in the middle.
    """
    return _AGAIN.sub(r"\1", text.translate(_CLASS_OF))


class _ClassOf(dict[int, str]):
    """The class of each character as ``str.translate`` takes it, looked up once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        found = _CONTROLS.get(character) or _CLASSES.get(category)
        self[code] = found or _CLASSES.get(category[0], category[0])
        return self[code]


_CLASS_OF = _ClassOf()
_AGAIN = re.compile(r"(.)\1+")


@dataclass(frozen=True, eq=False)
class Material:
    """What a vocabulary offers to generators; computed on first use, then kept.

    surfaces: the distinct non-empty spellings of the tokens that ordinary text can yield, in the
        order of their ids; SentencePiece's U+2581 is a space again, and WordPiece's that continue
        a word have lost their prefix.
    """

    vocabulary: Vocabulary
    surfaces: tuple[bytes, ...]

    @cached_property
    def text(self) -> tuple[bytes, ...]:
        """The surfaces that are valid UTF-8; all of them where there are none."""
        return tuple(s for s in self.surfaces if s.isascii() or is_text(s)) or self.surfaces

    @cached_property
    def ordered(self) -> tuple[bytes, ...]:
        """The surfaces from short to long, for strategies: they shrink towards the first."""
        return tuple(sorted(self.surfaces, key=_simplicity))

    @cached_property
    def ordered_text(self) -> tuple[bytes, ...]:
        """Like :attr:`ordered`, of the surfaces that are valid UTF-8."""
        return tuple(sorted(self.text, key=_simplicity))

    @cached_property
    def by_first_byte(self) -> Mapping[bytes, list[bytes]]:
        """Text surfaces of two bytes and more by their first byte."""
        return _by_prefix(self.text, 1)

    @cached_property
    def by_first_two(self) -> Mapping[bytes, list[bytes]]:
        """Text surfaces of three bytes and more by their first two bytes."""
        return _by_prefix(self.text, 2)

    @cached_property
    def by_shape(self) -> Mapping[str, list[bytes]]:
        """Text surfaces by :func:`shape`."""
        found: dict[str, list[bytes]] = {}
        for surface in self.text:
            found.setdefault(shape(surface.decode(errors="replace")), []).append(surface)
        return found

    @cached_property
    def alphabets(self) -> tuple[Units, ...]:
        """Alphabets of one to three units in which many tokens of this vocabulary can be spelt.

        Repetitions over these meet many merges of like rank at overlapping places. First the
        alphabets that most tokens use exactly (``ha`` of ``haha``), then combinations of the
        most frequent units. Never empty.
        """
        exact: Counter[Units] = Counter()
        frequent: Counter[bytes] = Counter()
        for surface in self.surfaces:
            units = set(units_of(surface))
            frequent.update(units)
            if len(units) <= 3:
                # Sorted, for the order of a set differs from process to process.
                exact[tuple(sorted(units))] += 1
        found: dict[Units, None] = {}
        for size in (1, 2, 3):
            found.update(dict.fromkeys(_top((u for u in exact if len(u) == size), exact)))
        most = sorted(frequent, key=lambda unit: (-frequent[unit], unit))[:_LETTERS]
        for size in (1, 2, 3):
            found.update(dict.fromkeys(combinations(sorted(most), size)))
        return tuple(found) or ((b"a",),)

    @cached_property
    def letters(self) -> tuple[bytes, ...]:
        """The units of one-letter alphabets, most telling first."""
        return tuple(units[0] for units in self.alphabets if len(units) == 1)

    @cached_property
    def special_texts(self) -> tuple[str, ...]:
        """Texts that mean more than themselves: special, added, control, user-defined, byte."""
        vocabulary = self.vocabulary
        odd = (PieceType.UNKNOWN, PieceType.CONTROL, PieceType.USER_DEFINED)
        texts = [
            *vocabulary.special_tokens,
            *(token.text for token in vocabulary.added_tokens),
            *(piece.text for piece in vocabulary.pieces if piece.type in odd),
            # A byte piece's name in a text is only text, which is easily forgotten.
            *[piece.text for piece in vocabulary.pieces if piece.type is PieceType.BYTE][::32],
        ]
        return tuple(dict.fromkeys(text for text in texts if text))


def _simplicity(surface: bytes) -> tuple[int, bool, bytes]:
    """Short before long, printable ASCII before other bytes."""
    return len(surface), not (surface.isascii() and surface.decode().isprintable()), surface


def _top(candidates: Iterable[Units], counts: Counter[Units]) -> list[Units]:
    return sorted(candidates, key=lambda units: (-counts[units], units))[:_ALPHABETS_A_SIZE]


def _by_prefix(surfaces: tuple[bytes, ...], length: int) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for surface in surfaces:
        if len(surface) > length:
            found.setdefault(surface[:length], []).append(surface)
    return found


@lru_cache(maxsize=_KEPT)
def material(vocabulary: Vocabulary) -> Material:
    """The material of ``vocabulary``, made once."""
    tokens: Iterable[bytes | None] = vocabulary.tokens
    if vocabulary.pieces:
        usual = (PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.BYTE, PieceType.UNUSED)
        kinds = [piece.type for piece in vocabulary.pieces]
        tokens = [t for t, kind in zip(vocabulary.tokens, kinds, strict=False) if kind in usual]
    spelt = (token for token in tokens if token)
    if vocabulary.pieces or vocabulary.normalizer.escape_whitespaces:
        spelt = (token.replace(_SPACE, b" ") for token in spelt)
    if vocabulary.wordpiece is not None:
        prefix = vocabulary.wordpiece.prefix.encode()
        spelt = (token.removeprefix(prefix) or token for token in spelt)
    return Material(vocabulary, tuple(dict.fromkeys(spelt)) or (b"a",))
