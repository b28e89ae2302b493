"""tiktoken rank files: a line a token, ``base64 rank``; optionally gzipped.

The format has neither pattern nor special tokens: the pattern comes from the user, and where it
is told by its name, and the file is the encoding of that name, the special tokens with it.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.limits import COPY, MAX_IDS, check_count, check_tokens
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, NativeFile, Vocabulary, VocabularyError
from corpora.vocabularies.patterns import special_tokens_of, splits_and_own_spelling
from corpora.vocabularies.reading import read_bytes, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


NO_PATTERN = (
    "no pre-tokenizer, as rank files carry none: whole texts are compared as one piece each; "
    "give it as FILE#pattern=NAME, #pattern=/REGEX/ or #pattern=FILE"
)
"""The preflight and the end of a run say this of a rank file that was given without a pattern."""


def load(path: Path, *, pattern: str | None = None, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a rank file; ``pattern``: see :func:`patterns.splits_of`.

    Without a pattern a text is one piece. Ranks need not be contiguous: gaps are None tokens.
    """
    return from_bytes(read_bytes(path), vocabulary_id or path.name, str(path), pattern=pattern)


def from_bytes(
    content: bytes, vocabulary_id: str, source: str, *, pattern: str | None = None
) -> Vocabulary:
    """The vocabulary of a rank file's content; ``source`` names the file in errors."""
    tokens, ranked = _read(content, source)
    splits, own = splits_and_own_spelling(pattern, source) if pattern else ((), None)
    made = from_ranks(
        vocabulary_id,
        tokens,
        splits=splits,
        special_tokens=special_tokens_of(pattern, ranked),
        source_path=source,
    )
    return replace(made, native=NativeFile(content, pattern=own))


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
    check_count(size, MAX_IDS, "ids", source_path or vocabulary_id)
    padded = (*tokens, *([None] * (size - len(tokens))))
    check_tokens(padded, source_path or vocabulary_id)
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
    return _read(content, source)[0]


def _read(content: bytes, source: str) -> tuple[list[bytes | None], int]:
    """The same, and how many ranks the file has."""
    orderly = _orderly(content)
    if orderly is not None:
        return orderly, len(orderly)
    ranks = _ranks(content, source)
    return [ranks.get(rank) or None for rank in range(max(ranks) + 1)], len(ranks)


def _orderly(content: bytes) -> list[bytes | None] | None:
    """The tokens of a file as most are: a line for each rank from 0 on, in order, none left out.

    None for any other file, and for one with a fault, which :func:`_ranks` reads line by line: that
    takes five times as long.
    """
    if not content.endswith(b"\n"):
        content += b"\n"
    count = content.count(b"\n")
    codes = np.frombuffer(content, dtype=np.uint8)
    blank = codes <= ord(" ")
    # The number comes first, so that a file of blanks does not become a list of their places.
    if count > MAX_IDS or np.count_nonzero(blank) != 2 * count:
        return None
    gaps = codes[blank].reshape(-1, 2)
    fields = content.split()
    if len(fields) != 2 * count or not np.array_equal(gaps, np.full_like(gaps, (32, 10))):
        return None
    if b" ".join(fields[1::2]) != " ".join(map(str, range(count))).encode():
        return None
    try:
        tokens = [binascii.a2b_base64(field, strict_mode=True) for field in fields[::2]]
    except binascii.Error:
        return None
    return [*tokens] if len(set(tokens)) == count and all(tokens) else None


def _ranks(content: bytes, source: str) -> dict[int, bytes]:
    """Rank to token. A token of padding alone, as in Whisper's file, is empty: no text has it."""
    ranks: dict[int, bytes] = {}
    first_line: dict[bytes, int] = {}
    check_count(content.count(b"\n") + content.count(b"\r"), 2 * MAX_IDS, "lines", source)
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{source}: line {number}"
        fields = line.split(None, 2)
        if len(fields) != 2:
            many = "3 or more" if len(fields) == 3 else len(fields)
            raise VocabularyError(
                where, f"{many} fields instead of 2", "each line is base64, space, rank"
            )
        try:
            token = base64.b64decode(fields[0].strip(b"=") and fields[0], validate=True)
        except binascii.Error as error:
            raise VocabularyError(where, f"the token is not base64 ({error})", COPY) from None
        if not fields[1].isdigit():
            given = shown(fields[1].decode("ascii", "backslashreplace"))
            raise VocabularyError(
                where, f"the rank {given} is not an integer", "each line is base64, space, rank"
            )
        rank = int(fields[1][:20])
        if rank >= MAX_IDS:
            raise VocabularyError(
                where, f"the rank {rank} is out of range", f"ranks go up to {MAX_IDS - 1}"
            )
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
    if not any(ranks.values()):
        raise VocabularyError(source, "no tokens", "give a tiktoken rank file")
    return ranks
