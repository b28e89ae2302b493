"""Texts for measuring speed: a kind, a vocabulary, a size and a seed decide every byte.

Unlike the generators' cases, which are to hit what is rare, these are to be like what tokenizers
are used for, but for the last two kinds. Another seed gives another text of the same kind, so that
an encoder that remembers pieces knows the language and not the text.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, count
from typing import TYPE_CHECKING

from corpora.families.recipes import whole
from corpora.generators.locales import LOCALES
from corpora.generators.material import material
from corpora.generators.prose import sentences
from corpora.generators.source import source_files
from corpora.texts import messages
from corpora.texts.messages import filled
from corpora.vocabularies.reading import bounded_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from corpora.vocabularies.model import Vocabulary

LANGUAGES = (
    *("en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "uk", "tr", "vi"),
    *("id", "ar", "fa", "he", "hi", "bn", "ta", "el", "ko", "ja", "zh", "sv"),
)
"""The languages whose lists are taken of wordfreq, which follow subtitles, Wikipedia, news, books
and the web: the most spoken ones, and each script that the package has."""

UNSPACED = frozenset({"ja", "zh"})
"""Written without spaces between words."""

FULL_STOPS = {"ja": "\u3002", "zh": "\u3002", "hi": "\u0964", "bn": "\u0964"}

CASED = frozenset(LANGUAGES) - {"ar", "fa", "he", "hi", "bn", "ta", "ko", "ja", "zh"}
"""Sentences begin with a capital."""

MAX_TEXT_BYTES = 1 << 28
"""Bytes of a user's own text, which is held in memory whole; a measurement takes parts of it."""


DRAWN = 256
"""Tokens that are drawn at a time."""


@dataclass(frozen=True, slots=True)
class Text:
    """A kind of text. ``summary`` ends the sentence "speed on ...".

    digest: of the content of a user's own file, by which it is known again; empty otherwise.
    """

    name: str
    summary: str
    make: Callable[[Vocabulary, int, int], bytes]
    digest: str = ""

    def of(self, vocabulary: Vocabulary, size: int, seed: int) -> bytes:
        """``size`` bytes of UTF-8, up to three less where the last character does not fit."""
        data = self.make(vocabulary, size, seed)
        if not vocabulary.can_encode(data):
            data = _spellable(data, vocabulary.byte_alphabet or b"", size)
        return whole(data[:size])


def _spellable(data: bytes, alphabet: bytes, size: int) -> bytes:
    """The ASCII characters of ``data`` that the vocabulary has, over and over; toys lack most."""
    kept = data.translate(None, bytes(set(range(256)) - {b for b in alphabet if b < 128}))
    kept = kept or bytes(b for b in alphabet if b < 128)
    return kept * (size // len(kept) + 1) if kept else b""


@cache
def _starts() -> tuple[int, ...]:
    """The bytes before each file of the library, and of all of them."""
    return tuple(accumulate((path.stat().st_size for path in source_files()), initial=0))


def _source(vocabulary: Vocabulary, size: int, seed: int) -> bytes:
    files, starts = source_files(), _starts()
    # As many bytes on for each seed that texts of neighbouring seeds have nothing in common; from
    # the beginning of a line, as a file may be longer than a text.
    begin = seed * (size + (1 << 16)) % starts[-1]
    first = bisect_right(starts, begin) - 1

    def texts() -> Iterator[bytes]:
        for place in count(first):
            data = files[place % len(files)].read_bytes()
            if place == first and begin > starts[first]:
                data = data[begin - starts[first] :].partition(b"\n")[2]
            yield data.decode("utf-8", "ignore").encode()

    return filled(size, texts())


@cache
def _frequencies() -> dict[str, tuple[list[str], list[float]]] | None:
    """Words and cumulated frequencies by language; None where wordfreq is not installed."""
    try:
        from wordfreq import get_frequency_dict  # noqa: PLC0415 (the extra `bench`)
    except ImportError:
        return None
    tables = {}
    for language in LANGUAGES:
        words = get_frequency_dict(language, "small")
        tables[language] = list(words), list(accumulate(words.values()))
    return tables


def _multilingual(vocabulary: Vocabulary, size: int, seed: int) -> bytes:
    rng = random.Random(f"multilingual {seed}")
    tables = _frequencies()
    paragraph = _made_up(rng) if tables is None else _of_words(rng, tables)
    return filled(size, (paragraph().encode() for _ in count()))


def _of_words(
    rng: random.Random, tables: dict[str, tuple[list[str], list[float]]]
) -> Callable[[], str]:
    def paragraph() -> str:
        language = rng.choice(LANGUAGES)
        words, weights = tables[language]
        joiner = "" if language in UNSPACED else " "
        made = []
        for _ in range(rng.randint(2, 6)):
            drawn = rng.choices(words, cum_weights=weights, k=rng.randint(4, 24))
            clause = rng.randrange(len(drawn))
            drawn[clause] += "\u3001" if language in UNSPACED else ","
            text = joiner.join(drawn)
            if language in CASED:
                text = text[0].upper() + text[1:]
            made.append(text + FULL_STOPS.get(language, "."))
        return joiner.join(made) + "\n"

    return paragraph


def _made_up(rng: random.Random) -> Callable[[], str]:
    makers = [sentences(locale, rng) for locale in LOCALES]
    return lambda: f"{rng.choice(makers)(rng.randint(8, 60))}\n"


def _tokens(vocabulary: Vocabulary, size: int, seed: int) -> bytes:
    rng = random.Random(f"tokens {seed}")
    # As a text spells them: of SentencePiece's escaped spaces, spaces.
    tokens = [t.replace("\u2581".encode(), b" ") for t in material(vocabulary).text] or [b"a"]
    return filled(size, (b"".join(rng.choices(tokens, k=DRAWN)) for _ in count()))


@cache
def _telling_letters(fingerprint: str, tokens: tuple[bytes | None, ...]) -> str:
    """The four lower-case letters of which most tokens are made, counted pair by pair."""
    counts: dict[str, int] = {}
    for token in tokens:
        if token is not None and token.isalpha() and token.islower() and len(token) >= 2:
            for letter in set(token.decode()):
                counts[letter] = counts.get(letter, 0) + 1
    ordered = sorted(counts, key=lambda letter: (-counts[letter], letter))
    return "".join(ordered[:4]) or "a"


def _one_piece(vocabulary: Vocabulary, size: int, seed: int) -> bytes:
    rng = random.Random(f"one-piece {seed}")
    letters = _telling_letters(vocabulary.fingerprint, vocabulary.tokens)
    return "".join(rng.choices(letters, k=size)).encode()


TEXTS = {
    text.name: text
    for text in (
        Text("source", "the source of Python's standard library, file after file", _source),
        Text(
            "messages",
            "messages that people translated: Django's, in about a hundred languages",
            lambda vocabulary, size, seed: messages.text(size, seed),
        ),
        Text("multilingual", f"words of {len(LANGUAGES)} languages by frequency", _multilingual),
        Text("tokens", "random tokens of the vocabulary, valid UTF-8 ones", _tokens),
        Text("one-piece", "four letters at random: one pre-token, merges that overlap", _one_piece),
    )
}
"""All kinds by name, what tokenizers are used for first."""


def trouble(name: str) -> str | None:
    """Why a kind cannot be made on this machine; None if it can."""
    if name == "messages" and messages.folder() is None:
        return "they are Django's: pip install 'tokgate[bench]'"
    return None


def summary(name: str) -> str:
    """What a kind is, as it can be made on this machine."""
    if name == "multilingual" and _frequencies() is None:
        return f"made-up words of {len(LOCALES)} scripts (for real ones: pip install wordfreq)"
    return TEXTS[name].summary


def of_file(path: Path) -> Text:
    """The text of a file; another part of it for each seed. Raises OSError, ValueError.

    A size that it does not reach gives what there is.
    """
    whole = bounded_bytes(path, MAX_TEXT_BYTES)
    try:
        whole.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"no UTF-8 at byte {error.start}") from error

    def make(vocabulary: Vocabulary, size: int, seed: int) -> bytes:
        room = max(1, len(whole) - size)
        at = seed * size % room if seed else 0
        while at and whole[at] & 0xC0 == 0x80:
            at -= 1
        return whole[at : at + size + 1]

    digest = hashlib.sha256(whole).hexdigest()
    return Text(str(path), f"the file {path.name}", make, digest)
