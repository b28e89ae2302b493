"""tiktoken's files: rank files, optionally gzipped, and the JSON of its packages for JavaScript.

A rank file has a line a token, ``base64 rank``, and neither pattern nor special tokens: the pattern
comes from the user, and where it is told by its name, and the file is the encoding of that name,
the special tokens with it. The JSON (``encoders/o200k_base.json`` of npm's tiktoken, and files of
others who use it, such as Anthropic's ``claude.json``) has both, and its ranks in lines of
``! FIRST base64 ..``, each with the first rank of the tokens that follow.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from corpora.vocabularies.limits import COPY, MAX_IDS, check_count, check_tokens
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, NativeFile, Vocabulary, VocabularyError
from corpora.vocabularies.patterns import (
    checked_split,
    special_tokens_of,
    splits_and_own_spelling,
)
from corpora.vocabularies.reading import decode_json, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


NO_PATTERN = (
    "no pre-tokenizer, because rank files have none: each text is compared as one piece; "
    "give it as FILE#pattern=NAME, #pattern=/REGEX/ or #pattern=FILE"
)
"""The preflight and the end of a run say this of a rank file that was given without a pattern."""

_LINE = "each line is base64, space, rank"
_JSON_LINE = "each line of bpe_ranks is !, the first rank, and tokens in base64"


class _File(msgspec.Struct):
    pat_str: str
    special_tokens: dict[str, int]
    bpe_ranks: str


def from_bytes(
    content: bytes, vocabulary_id: str, source: str, *, pattern: str | None = None
) -> Vocabulary:
    """The vocabulary of a rank file's content; ``source`` names the file in errors."""
    ranks = parse(content, source)
    splits, own = splits_and_own_spelling(pattern, source) if pattern else ((), None)
    made = from_ranks(
        vocabulary_id,
        _by_rank(ranks),
        splits=splits,
        special_tokens=special_tokens_of(pattern, len(ranks)),
        source_path=source,
    )
    return replace(made, native=NativeFile(content, pattern=own))


def from_json(content: bytes, vocabulary_id: str, source: str) -> Vocabulary:
    """The vocabulary of the content of a JSON file; ``source`` names the file in errors."""
    document = decode_json(content, _File, source)
    splits = (checked_split(document.pat_str, source, "pat_str"),)
    ranks = _ranks(_json_lines(document.bpe_ranks, source), source, "bpe_ranks, line")
    tokens = _by_rank(ranks)
    for text, token_id in document.special_tokens.items():
        where = f"special_tokens: {shown(text)} has the id {token_id}"
        if not text:
            raise VocabularyError(source, f"{where}, and no text", COPY)
        if not 0 <= token_id < MAX_IDS:
            raise VocabularyError(source, where, f"ids go from 0 to {MAX_IDS - 1}")
        if token_id < len(tokens) and tokens[token_id] is not None:
            raise VocabularyError(source, f"{where}, which is a rank, too", COPY)
    if len(set(document.special_tokens.values())) < len(document.special_tokens):
        raise VocabularyError(source, "special_tokens: two of them share an id", COPY)
    made = from_ranks(
        vocabulary_id,
        tokens,
        splits=splits,
        special_tokens=document.special_tokens,
        source_path=source,
    )
    return replace(made, native=NativeFile(content, pattern=document.pat_str))


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


def parse(content: bytes, source: str) -> dict[int, bytes]:
    """Rank to token of a rank file. VocabularyError with the line at fault."""
    check_count(content.count(b"\n") + content.count(b"\r"), 2 * MAX_IDS, "lines", source)
    return _ranks(_lines(content, source), source, "line")


def _by_rank(ranks: Mapping[int, bytes]) -> list[bytes | None]:
    """Tokens by rank, None for gaps and for the empty token."""
    return [ranks.get(rank) or None for rank in range(max(ranks) + 1)]


def _lines(content: bytes, source: str) -> Iterator[tuple[int, bytes, int]]:
    """The number of each line of a rank file, its token in base64, and its rank."""
    for number, line in enumerate(content.splitlines(), 1):
        fields = line.split(None, 2)
        if not fields:
            continue
        where = f"{source}: line {number}"
        if len(fields) != 2:
            many = "3 or more" if len(fields) == 3 else len(fields)
            raise VocabularyError(where, f"{many} fields instead of 2", _LINE)
        if not fields[1].isdigit():
            given = shown(fields[1].decode("ascii", "backslashreplace"))
            raise VocabularyError(where, f"the rank {given} is not an integer", _LINE)
        yield number, fields[0], int(fields[1][:20])


def _json_lines(lines: str, source: str) -> Iterator[tuple[int, bytes, int]]:
    """The same of ``bpe_ranks``."""
    for number, line in enumerate(filter(None, lines.split("\n")), 1):
        fields = line.split(" ")
        first, spelled = fields[1] if len(fields) > 1 else "", fields[2:]
        if not (first.isascii() and first.isdigit()):
            where = f"{source}: bpe_ranks, line {number}"
            raise VocabularyError(where, f"begins with {shown(line[:20])}", _JSON_LINE)
        for rank, text in enumerate(spelled, int(first[:20])):
            yield number, text.encode("utf-8", "replace"), rank


def _ranks(entries: Iterable[tuple[int, bytes, int]], source: str, place: str) -> dict[int, bytes]:
    """Rank to token. A token of padding alone, as in Whisper's file, is empty: no text has it.

    entries: with the number of the line that each is in, which is called ``place`` in errors.
    """
    ranks: dict[int, bytes] = {}
    first_line: dict[bytes, int] = {}
    for number, spelled, rank in entries:
        where = f"{source}: {place} {number}"
        try:
            token = base64.b64decode(spelled.strip(b"=") and spelled, validate=True)
        except binascii.Error as error:
            given = shown(spelled.decode("ascii", "backslashreplace"))
            what = f"the token {given} is not base64 ({error})"
            raise VocabularyError(where, what, COPY) from None
        if rank >= MAX_IDS:
            what = f"the rank {rank} is out of range"
            raise VocabularyError(where, what, f"ranks go up to {MAX_IDS - 1}")
        if rank in ranks:
            what = f"the rank {rank} appears twice"
            raise VocabularyError(where, what, "give each token its own rank")
        if token in first_line:
            what = f"the token is already in line {first_line[token]}"
            raise VocabularyError(where, what, "remove one of them")
        ranks[rank] = token
        first_line[token] = number
    if not any(ranks.values()):
        raise VocabularyError(source, "no tokens", "give a tiktoken rank file")
    return ranks
