"""How much a file may hold: every limit of the readers, each with the reason for its number.

Together they keep the loading of any file below 1 GiB of memory and 20 seconds. All are far above
the largest vocabularies that are published; who has a larger one raises the number here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_FILE_BYTES = 128 << 20
"""Bytes of a vocabulary file after decompression. The largest published ``tokenizer.json`` files,
with a quarter of a million tokens and half a million merges, have about 35 MB; one of
:data:`MAX_IDS` tokens would have about 120. Of a GGUF file only so many bytes are read: the
metadata stands first, and the weights behind it are not needed."""

MAX_PROTO_BYTES = 32 << 20
"""Bytes of a SentencePiece model. Less than of other files, since two bytes of a protocol buffer
can become a message of about 60; the largest published ones have about 18 MB."""

MAX_JSON_COMMAS = 1 << 22
"""Commas in a JSON file: they bound the number of its values, each of which takes up to 120 bytes
of memory. The largest published files have about 1.4 million."""

MAX_IDS = 1 << 20
"""Ids of a vocabulary, so that the largest id is one less: ids index arrays, and a damaged one must
not become an array of gigabytes. The largest published vocabulary, of XLM-V, has 901,629."""

MAX_MERGES = 1 << 21
"""Merges of a vocabulary: two a token of the largest one. Gemma's, the longest published list, has
514,906."""

MAX_TOKEN_BYTES = 1 << 13
"""Bytes of a token. Published vocabularies stay below 1,024, as runs of spaces."""

MAX_SQUARED_LENGTHS = 1 << 30
"""The sum of the squares of all tokens' lengths, in bytes: the steps of byte-pair encoding a
vocabulary's own tokens by the definition. A vocabulary of 200,000 tokens has about 20 million; a
thousand million take some seconds."""

MAX_PIECE_CHARACTERS = 1 << 23
"""Characters of all pieces of a SentencePiece BPE together: each is a place at which a piece is
parted to find its merges, and a million places take half a second. Gemma's 256,000 pieces have
about 1.8 million."""

MAX_STEPS = 16
"""Sequences of normalizers and of pre-tokenizers may stand in one another so deep: published files
nest them once."""

MAX_PATTERN = 1 << 13
"""Characters of a pre-tokenizer's regular expression, which is compiled. The longest published ones
have about 500."""

MAX_METADATA = 1 << 16
"""Fields of a GGUF file. Published ones have fewer than a hundred."""

FETCHING_SECONDS = 600.0
"""The time limit of a download: packages have up to some hundred megabytes."""

COPY = "get a complete copy of the file"
"""The mend for damage."""

LARGER = "if the file is correct, raise the limit in corpora/vocabularies/limits.py"
"""The mend for what is too large."""


def check_count(number: int, most: int, what: str, source: str) -> None:
    """Raise VocabularyError if a file has more of something than it may."""
    if number > most:
        raise VocabularyError(source, f"has {number:,} {what}, more than {most:,}", LARGER)


def check_tokens(tokens: Sequence[bytes | None], source: str) -> None:
    """Raise VocabularyError for tokens too many, too long, or too costly to encode by definition.

    To be called before merges are derived from the tokens.
    """
    check_count(len(tokens), MAX_IDS, "ids", source)
    lengths = np.fromiter(map(len, [token or b"" for token in tokens]), np.int64, len(tokens))
    if not len(lengths):
        return
    longest = int(lengths.argmax())
    if lengths[longest] > MAX_TOKEN_BYTES:
        raise VocabularyError(
            source,
            f"the token of id {longest} has {lengths[longest]:,} bytes, "
            f"more than {MAX_TOKEN_BYTES:,}",
            LARGER,
        )
    if int(np.dot(lengths, lengths)) > MAX_SQUARED_LENGTHS:
        raise VocabularyError(
            source, f"its tokens have {int(lengths.sum()):,} bytes, and are too long", LARGER
        )
