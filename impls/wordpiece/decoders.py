"""From ids to text, as the engines do it: words parted by spaces, and some spaces taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.wordpiece_file import WORD_START, gguf_texts, texts_of
from impls.bpe.spelling import Spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.wordpiece.variants import Variant

    Decoder = Callable[[Sequence[int]], bytes]

CLEANED = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)
"""The decoder of tokenizers replaces these, one after another, within single tokens."""


def make_decoder(vocabulary: Vocabulary, variant: Variant) -> Decoder:
    """The decoder of the variant's engine, special tokens written out, unknown ids left out."""
    if variant.marks_words:
        control = set(vocabulary.special_tokens.values())
        pieces = _spellings(
            {
                token_id: text if token_id in control else text.replace(WORD_START, " ")
                for token_id, text in gguf_texts(vocabulary).items()
            }
        )
        return lambda ids: without_spaces(b"".join(pieces.get(i) or b"" for i in ids))
    prefix = "##" if vocabulary.wordpiece is None else vocabulary.wordpiece.prefix
    texts = _spellings(texts_of(vocabulary))

    def decode(ids: Sequence[int]) -> bytes:
        known = (texts.get(token_id) for token_id in ids)
        return joined([text.decode() for text in known if text is not None], prefix).encode()

    return decode


def _spellings(texts: Mapping[int, str]) -> Spellings:
    """The texts by id in UTF-8, without an object of Python's each."""
    of = range(max(texts, default=-1) + 1)
    return Spellings([texts[i].encode() if i in texts else None for i in of])


def joined(texts: Sequence[str], prefix: str) -> str:
    """The decoder ``WordPiece`` of tokenizers, with its clean-up."""
    parts: list[str] = []
    for place, text in enumerate(texts):
        part = text
        if place:
            part = text.removeprefix(prefix) if text.startswith(prefix) else f" {text}"
        for found, put in CLEANED:
            part = part.replace(found, put)
        parts.append(part)
    return "".join(parts)


def without_spaces(text: bytes) -> bytes:
    """``clean_spaces`` of llama.cpp's ``detokenize``: three passes over the bytes."""
    return _before_contractions(_around_apostrophes(_before_marks(text)))


def _before_marks(text: bytes) -> bytes:
    """No space before ``? ! . ,``; as there, the mark overwrites it."""
    made = bytearray(text[:1])
    for place in range(1, len(text)):
        if text[place - 1] == 0x20 and text[place] in b"?!.,":
            made[-1] = text[place]
        else:
            made.append(text[place])
    return bytes(made)


def _around_apostrophes(text: bytes) -> bytes:
    """No spaces around an apostrophe that stands alone."""
    left = bytearray(text)
    made = left[:1]
    place = 1
    while place < len(left):
        if left[place - 1 : place + 2] == b" ' ":
            made.pop()
            made.append(left[place])
            left[place + 1] = 0  # a space serves one apostrophe only
            place += 2
            continue
        made.append(left[place])
        place += 1
    return bytes(made)


def _before_contractions(text: bytes) -> bytes:
    """No space before ``'s 'm 're 've``."""
    made = bytearray(text[:1])
    for place in range(1, len(text)):
        if text[place - 1] == 0x20 and text[place : place + 1] == b"'":
            after = text[place + 1 : place + 3]
            if after[:1] in (b"s", b"m") or after in (b"re", b"ve"):
                made.pop()
        made.append(text[place])
    return bytes(made)
