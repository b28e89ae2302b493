"""Mistral's tekken.json: byte-level BPE by rank, with the special tokens before the tokens.

The id of a token is its rank + ``default_num_special_tokens``, and of the file's tokens only the
first ``default_vocab_size - default_num_special_tokens`` are used (mistral-common, ``Tekkenizer``).
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated

import msgspec

from corpora.vocabularies.limits import COPY, MAX_IDS
from corpora.vocabularies.model import Vocabulary, VocabularyError
from corpora.vocabularies.patterns import checked_split
from corpora.vocabularies.reading import decode_json, shown
from corpora.vocabularies.tiktoken_file import from_ranks

if TYPE_CHECKING:
    pass

OLD_SPECIAL_TOKENS = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)
"""The special tokens of files without ``special_tokens`` (up to version 7), which mistral-common
fixes by rank."""


_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_IDS)]


class _Config(msgspec.Struct):
    pattern: str
    default_vocab_size: _Count
    default_num_special_tokens: _Count


class _Token(msgspec.Struct, gc=False):
    rank: int
    token_bytes: str


class _Special(msgspec.Struct):
    rank: int
    token_str: str


class _File(msgspec.Struct):
    config: _Config | None = None
    vocab: list[_Token] | None = None
    special_tokens: list[_Special] | None = None


def from_bytes(content: bytes, vocabulary_id: str, source: str) -> Vocabulary:
    """The vocabulary of the content of a tekken.json; ``source`` names the file in errors."""
    document = decode_json(content, _File, source)
    config, entries = document.config, document.vocab
    if config is None or entries is None:
        raise VocabularyError(source, "has no config and vocab", "give a tekken.json")
    specials, size = config.default_num_special_tokens, config.default_vocab_size
    used = size - specials
    if not 0 < used <= len(entries):
        raise VocabularyError(
            source,
            f"config.default_vocab_size {size} does not fit {len(entries)} tokens "
            f"and {specials} special ones",
            COPY,
        )
    tokens: list[bytes | None] = [None] * size
    seen: set[bytes] = set()
    for rank, entry in enumerate(entries[:used]):
        token = _token(entry, rank, source)
        if token in seen:
            raise VocabularyError(
                source, f"vocab[{rank}] repeats an earlier token", "remove one of them"
            )
        seen.add(token)
        tokens[specials + rank] = token
    return from_ranks(
        vocabulary_id,
        tokens,
        splits=(checked_split(config.pattern, source, "config.pattern"),),
        special_tokens=_special_tokens(document.special_tokens, specials, source),
        source_path=source,
        file_format="tekken",
    )


def _token(entry: _Token, rank: int, source: str) -> bytes:
    where = f"{source}: vocab[{rank}]"
    if entry.rank != rank:
        raise VocabularyError(
            where, f"has the rank {entry.rank}", "order the vocabulary by rank, without gaps"
        )
    try:
        token = base64.b64decode(entry.token_bytes, validate=True)
    except ValueError as error:  # binascii.Error, or characters that are not ASCII
        raise VocabularyError(where, f"token_bytes is not base64 ({error})", COPY) from None
    if not token:
        raise VocabularyError(where, "token_bytes is empty", COPY)
    if rank < 256 and token != bytes([rank]):
        raise VocabularyError(
            where, f"spells {shown(token)}", "the first 256 tokens must be the bytes in order"
        )
    return token


def _special_tokens(entries: list[_Special] | None, count: int, source: str) -> dict[str, int]:
    """Text to id: the file's (or the old) ones by rank, then fillers up to ``count``."""
    if entries is None:
        texts = dict(enumerate(OLD_SPECIAL_TOKENS[:count]))
    else:
        texts = {entry.rank: entry.token_str for entry in entries}
    defined = len(texts)
    if "" in texts.values():
        raise VocabularyError(source, "special_tokens: a token_str is empty", "give it a text")
    if len(set(texts.values())) < defined or any(not 0 <= rank < count for rank in texts):
        raise VocabularyError(
            source, "special_tokens repeat or exceed default_num_special_tokens", "renumber them"
        )
    for rank in range(defined, count):
        texts.setdefault(rank, f"<SPECIAL_{rank}>")
    return {text: rank for rank, text in sorted(texts.items())}
