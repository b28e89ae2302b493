"""Mistral's tekken.json: byte-level BPE by rank, with the special tokens before the tokens.

The id of a token is its rank + ``default_num_special_tokens``, and of the file's tokens only the
first ``default_vocab_size - default_num_special_tokens`` are used (mistral-common, ``Tekkenizer``).
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import Vocabulary, VocabularyError
from corpora.vocabularies.reading import read_json
from corpora.vocabularies.tiktoken_file import from_ranks

if TYPE_CHECKING:
    from pathlib import Path

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
"""Of files without ``special_tokens`` (up to version 7): mistral-common fixes them by rank."""


def load(path: Path, *, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a tekken.json."""
    source = str(path)
    document = read_json(path)
    config = document.get("config")
    if not isinstance(config, dict) or not isinstance(document.get("vocab"), list):
        raise VocabularyError(source, "has no config and vocab", "give a tekken.json")
    specials = _integer(config, "default_num_special_tokens", source)
    size = _integer(config, "default_vocab_size", source)
    pattern = config.get("pattern")
    if not isinstance(pattern, str):
        raise VocabularyError(source, "config.pattern is no string", "get a complete copy")
    tokens: list[bytes | None] = [None] * size
    used = size - specials
    if not 0 < used <= len(document["vocab"]):
        raise VocabularyError(
            source,
            f"config.default_vocab_size {size} does not fit {len(document['vocab'])} tokens "
            f"and {specials} special ones",
            "get a complete copy",
        )
    seen: set[bytes] = set()
    for rank, entry in enumerate(document["vocab"][:used]):
        token = _token(entry, rank, source)
        if token in seen:
            raise VocabularyError(
                source, f"vocab[{rank}] repeats an earlier token", "remove one of them"
            )
        seen.add(token)
        tokens[specials + rank] = token
    return from_ranks(
        vocabulary_id or path.name,
        tokens,
        splits=(pattern,),
        special_tokens=_special_tokens(document.get("special_tokens"), specials, source),
        source_path=source,
        file_format="tekken",
    )


def _integer(config: dict[str, Any], name: str, source: str) -> int:
    value = config.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise VocabularyError(source, f"config.{name} is {value!r}", "it must be a count")
    return value


def _token(entry: object, rank: int, source: str) -> bytes:
    where = f"{source}: vocab[{rank}]"
    if not isinstance(entry, dict) or entry.get("rank") != rank:
        raise VocabularyError(
            where, "is no object with this rank", "order the vocabulary by rank, without gaps"
        )
    try:
        token = base64.b64decode(entry["token_bytes"], validate=True)
    except (KeyError, TypeError, binascii.Error, ValueError) as error:
        raise VocabularyError(
            where, f"token_bytes is not base64 ({error})", "get a complete copy"
        ) from None
    if rank < 256 and token != bytes([rank]):
        raise VocabularyError(
            where, f"spells {token!r}", "the first 256 tokens must be the bytes in order"
        )
    return token


def _special_tokens(entries: object, count: int, source: str) -> dict[str, int]:
    """Text to id: the file's (or the old) ones by rank, then fillers up to ``count``."""
    if entries is None:
        texts = dict(enumerate(OLD_SPECIAL_TOKENS[:count]))
    else:
        try:
            texts = {int(e["rank"]): str(e["token_str"]) for e in entries}  # type: ignore[attr-defined]
        except (KeyError, TypeError, ValueError):
            raise VocabularyError(
                source, "special_tokens lacks rank or token_str", "get a complete copy"
            ) from None
    defined = len(texts)
    if len(set(texts.values())) < defined or any(not 0 <= rank < count for rank in texts):
        raise VocabularyError(
            source, "special_tokens repeat or exceed default_num_special_tokens", "renumber them"
        )
    for rank in range(defined, count):
        texts.setdefault(rank, f"<SPECIAL_{rank}>")
    return {text: rank for rank, text in sorted(texts.items())}
