"""Encodings of tiktoken as its packages for JavaScript carry them: one JSON object each.

``encoders/o200k_base.json`` of npm's tiktoken, and files of others who use it, such as Anthropic's
``claude.json``: the pattern, the special tokens, and the ranks in lines of ``! FIRST base64 ..``,
each with the first rank of the tokens that follow.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace

import msgspec

from corpora.vocabularies.limits import COPY, MAX_IDS
from corpora.vocabularies.model import NativeFile, Vocabulary, VocabularyError
from corpora.vocabularies.patterns import checked_split
from corpora.vocabularies.reading import decode_json, shown
from corpora.vocabularies.tiktoken_file import from_ranks

LINE = "each line of bpe_ranks is !, the first rank, and tokens in base64"


class _File(msgspec.Struct):
    pat_str: str
    special_tokens: dict[str, int]
    bpe_ranks: str


def from_bytes(content: bytes, vocabulary_id: str, source: str) -> Vocabulary:
    """The vocabulary of such a file's content; ``source`` names the file in errors."""
    document = decode_json(content, _File, source)
    splits = (checked_split(document.pat_str, source, "pat_str"),)
    tokens = _tokens(document.bpe_ranks, source)
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


def _tokens(lines: str, source: str) -> list[bytes | None]:
    """Tokens by rank, None for gaps."""
    ranks: dict[int, bytes] = {}
    for number, line in enumerate(filter(None, lines.split("\n")), 1):
        where = f"{source}: bpe_ranks, line {number}"
        fields = line.split(" ")
        first, spelled = fields[1] if len(fields) > 1 else "", fields[2:]
        if not first.isascii() or not first.isdigit() or int(first[:20]) + len(spelled) > MAX_IDS:
            raise VocabularyError(where, f"begins with {shown(line[:20])}", LINE)
        for rank, text in enumerate(spelled, int(first)):
            try:
                token = base64.b64decode(text, validate=True)
            except (binascii.Error, ValueError):
                raise VocabularyError(where, f"{shown(text)} is not base64", COPY) from None
            if rank in ranks:
                raise VocabularyError(where, f"the rank {rank} stands twice", COPY)
            ranks[rank] = token
    if not any(ranks.values()):
        raise VocabularyError(source, "bpe_ranks has no tokens", COPY)
    if len(set(ranks.values())) < len(ranks):
        raise VocabularyError(source, "bpe_ranks has a token twice", COPY)
    return [ranks.get(rank) or None for rank in range(max(ranks) + 1)]
