"""Vocabularies as the field's libraries take them, and what most of them cannot do."""

from __future__ import annotations

import json
from dataclasses import replace

from corpora.vocabularies.model import Algorithm, Alphabet, Vocabulary
from corpora.vocabularies.tokenizer_json_out import given
from impls.adapters.common import rank_trouble
from impls.adapters.tokenizers import native_json, tokenizer_json
from impls.interface import Mode


def byte_level(vocabulary: Vocabulary) -> bool:
    """Whether it is byte-level BPE."""
    return vocabulary.algorithm is Algorithm.BPE and vocabulary.alphabet is Alphabet.BYTES


def json_content(vocabulary: Vocabulary, mode: Mode) -> bytes:
    """A tokenizer.json; without special tokens where their text is to be ordinary text.

    For libraries that find the special tokens of a file in any text. The user's own file, where the
    vocabulary is of one.
    """
    if native_json(vocabulary):
        return given(vocabulary, specials=mode.special == "all", post_processor=False)
    encoded = vocabulary if mode.special == "all" else without_specials(vocabulary)
    return tokenizer_json(encoded, mode).encode()


def ordinary_json(vocabulary: Vocabulary, mode: Mode) -> bytes:
    """Likewise, of any algorithm: where special tokens are off, the file declares none.

    For libraries that have no word for "the text of a special token is ordinary text here".
    """
    content = json_content(vocabulary, mode)
    if mode.special == "all" or byte_level(vocabulary):
        return content
    document = json.loads(content)
    document["added_tokens"] = [one for one in document["added_tokens"] if not one["special"]]
    return json.dumps(document, ensure_ascii=False).encode()


def ordinary_trouble(vocabulary: Vocabulary, mode: Mode) -> str | None:
    """Why such a library is not told all that there is to know of a vocabulary in a mode."""
    if not mode.pretokenize:
        return "always pre-tokenizes"
    if mode.special == "all" and not (byte_level(vocabulary) or native_json(vocabulary)):
        return "reads no special tokens here"
    return None


def json_trouble(vocabulary: Vocabulary, mode: Mode) -> str | None:
    """Likewise, where the library finds added tokens in any text."""
    if vocabulary.added_tokens and mode.special == "none" and not native_json(vocabulary):
        return "finds added tokens in any text"
    return ordinary_trouble(vocabulary, mode)


def ranked_trouble(vocabulary: Vocabulary, mode: Mode, *, raw: bool = False) -> str | None:
    """Why a library does not run a vocabulary that takes ranks, one pattern and special tokens.

    raw: it takes a text as one piece, too, though without special tokens in it.
    """
    if not byte_level(vocabulary) or vocabulary.normalizes:
        return "byte-level BPE without a normalizer only"
    if any(not token.special for token in vocabulary.added_tokens):
        return "has no added tokens that are not special"
    if not mode.pretokenize and not raw:
        return "always pre-tokenizes"
    if not mode.pretokenize and mode.special == "all":
        return "finds special tokens only together with pre-tokenization"
    if mode.pretokenize and vocabulary.pattern is None:
        return f"takes one pre-tokenizer pattern, the vocabulary has {len(vocabulary.splits)}"
    return rank_trouble(vocabulary)


def has_holes(vocabulary: Vocabulary, mode: Mode) -> bool:
    """Whether a file leaves ids out, up to the last that it has a token for."""
    ids = {i for i, token in enumerate(vocabulary.tokens) if token is not None}
    if mode.special == "all":
        ids |= set(vocabulary.special_tokens.values())
    return len(ids) != max(ids, default=-1) + 1


def without_specials(vocabulary: Vocabulary) -> Vocabulary:
    """A byte-level vocabulary as if it had no special tokens; any other as it is.

    The pieces of others include their special ones, which those libraries keep apart by type.
    """
    if not byte_level(vocabulary):
        return vocabulary
    added = tuple(token for token in vocabulary.added_tokens if not token.special)
    return replace(vocabulary, special_tokens={}, added_tokens=added, native=None)


def bert_lines(vocabulary: Vocabulary) -> bytes | str:
    """The vocab.txt of BERT's own WordPiece, or a line on why there is none."""
    rules = vocabulary.wordpiece
    if rules is None or rules.prefix != "##" or not rules.clean_text or rules.max_word != 100:
        return "BERT's WordPiece only"
    if vocabulary.unk_id is None or vocabulary.unexpressed:
        return "wants an unknown token"
    spelled = {i: text.encode() for text, i in vocabulary.special_tokens.items()}
    lines = [spelled.get(i, token) for i, token in enumerate(vocabulary.tokens)]
    if None in lines or lines[vocabulary.unk_id] != b"[UNK]":
        return "wants ids without holes, and [UNK] for the unknown token"
    return b"\n".join(line or b"" for line in lines)
