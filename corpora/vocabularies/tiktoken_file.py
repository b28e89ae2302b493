"""tiktoken rank files: a line a token, ``base64 rank``; optionally gzipped.

The format has neither pattern nor special tokens: the pattern's name comes from the user, and
with it the special tokens where the file is the encoding of that name.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, Vocabulary, VocabularyError
from corpora.vocabularies.patterns import special_tokens_of, splits_of
from corpora.vocabularies.reading import read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MAX_RANK = 1 << 24
"""Ranks are ids, and ids index arrays: a rank beyond this is a damaged line, not a vocabulary."""


def load(path: Path, *, pattern: str | None = None, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a rank file; ``pattern`` names one of :data:`patterns.PATTERNS`.

    Without a pattern a text is one piece. Ranks need not be contiguous: gaps are None tokens.
    """
    tokens = parse(read_bytes(path), str(path))
    return from_ranks(
        vocabulary_id or path.name,
        tokens,
        splits=splits_of(pattern, str(path)) if pattern else (),
        special_tokens=special_tokens_of(pattern, sum(token is not None for token in tokens)),
        source_path=str(path),
    )


def from_ranks(
    vocabulary_id: str,
    tokens: Sequence[bytes | None],
    *,
    splits: tuple[str, ...],
    special_tokens: Mapping[str, int],
    source_path: str | None,
    file_format: str = "tiktoken",
) -> Vocabulary:
    """A vocabulary as tiktoken means it: ranks are ids, and a pre-token that is a token is it."""
    size = max([len(tokens), *(i + 1 for i in special_tokens.values())])
    padded = (*tokens, *([None] * (size - len(tokens))))
    from corpora.vocabularies.merges import merges_from_ranks  # noqa: PLC0415 (Numba takes a second)

    return Vocabulary(
        id=vocabulary_id,
        algorithm=Algorithm.BPE,
        format=file_format,
        tokens=padded,
        merges=merges_from_ranks(padded),
        splits=splits,
        special_tokens=dict(special_tokens),
        ignore_merges=True,
        source_path=source_path,
    )


def parse(content: bytes, source: str) -> list[bytes | None]:
    """Tokens by rank, None for gaps. VocabularyError with the line at fault."""
    ranks: dict[int, bytes] = {}
    first_line: dict[bytes, int] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{source}: line {number}"
        fields = line.split()
        if len(fields) != 2:
            raise VocabularyError(
                where, f"{len(fields)} fields instead of 2", "each line is base64, space, rank"
            )
        try:
            token = base64.b64decode(fields[0], validate=True)
        except binascii.Error as error:
            raise VocabularyError(
                where, f"the token is not base64 ({error})", "get a complete copy of the file"
            ) from None
        if not fields[1].isdigit():
            raise VocabularyError(
                where,
                f"the rank {fields[1].decode('ascii', 'backslashreplace')!r} is not an integer",
                "each line is base64, space, rank",
            )
        rank = int(fields[1][:20])
        if rank > MAX_RANK:
            raise VocabularyError(
                where, f"the rank {rank} is out of range", f"ranks go up to {MAX_RANK}"
            )
        if not token:
            raise VocabularyError(where, "the token is empty", "remove the line")
        if rank in ranks:
            raise VocabularyError(
                where, f"the rank {rank} stands twice", "give each token its own rank"
            )
        if token in first_line:
            raise VocabularyError(
                where, f"the token stands in line {first_line[token]} already", "remove one of them"
            )
        ranks[rank] = token
        first_line[token] = number
    if not ranks:
        raise VocabularyError(source, "no tokens", "give a tiktoken rank file")
    return [ranks.get(rank) for rank in range(max(ranks) + 1)]
