"""From ids to text, as the engines do it: words parted by spaces, and some spaces taken away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from corpora.vocabularies.wordpiece_file import WORD_START, gguf_texts, texts_of
from impls.bpe.spelling import Spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.wordpiece.variants import Variant

    Decoder = Callable[[Sequence[int]], bytes]

_CLEANED = (
    *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't")),
    *((" 'm", "'m"), (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
)
"""What English spells without a space, in the order in which tokenizers mends it."""


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
        parts = words((text.decode() for text in known if text is not None), prefix)
        return "".join(map(cleaned, parts)).encode()

    return decode


def _spellings(texts: Mapping[int, str]) -> Spellings:
    """The texts by id in UTF-8, without an object of Python's each."""
    of = range(max(texts, default=-1) + 1)
    return Spellings([texts[i].encode() if i in texts else None for i in of])


def words(tokens: Iterable[str], prefix: str) -> list[str]:
    """The tokens, each but the first with a space before it in place of the prefix, if it has none.

    The decoder ``WordPiece`` of tokenizers, before its clean-up.
    """
    return [
        text if not place else text.removeprefix(prefix) if text.startswith(prefix) else f" {text}"
        for place, text in enumerate(tokens)
    ]


def cleaned(token: str) -> str:
    """The clean-up of tokenizers, within a single token."""
    for apart, together in _CLEANED:
        token = token.replace(apart, together)
    return token


def without_spaces(text: bytes) -> bytes:
    """``clean_spaces`` of llama.cpp's ``detokenize``: three passes over the bytes.

    No space before ``? ! . ,``; none around an apostrophe that stands alone, where a space serves
    one apostrophe only; none before ``'s 'm 're 've``.
    """
    text = re.sub(rb" ([?!.,])", rb"\1", text)
    return re.sub(rb" (?='(?:[sm]|[rv]e))", b"", text.replace(b" ' ", b"'"))
