"""Vocabularies as the field's libraries take them, and what most of them cannot do."""

from __future__ import annotations

from dataclasses import replace

from corpora.vocabularies.model import Algorithm, Alphabet, Vocabulary
from corpora.vocabularies.tokenizer_json_native import given
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
    told = vocabulary if mode.special == "all" else without_specials(vocabulary)
    return tokenizer_json(told, mode).encode()


def without_specials(vocabulary: Vocabulary) -> Vocabulary:
    """A byte-level vocabulary as if it had no special tokens; any other as it is.

    The pieces of others include their special ones, which those libraries keep apart by type.
    """
    if not byte_level(vocabulary):
        return vocabulary
    return replace(vocabulary, special_tokens={}, native=None)


def json_trouble(vocabulary: Vocabulary, mode: Mode) -> str | None:
    """Why a tokenizer.json does not tell a library all that there is to know of it here."""
    if not mode.pretokenize:
        return "always pre-tokenizes"
    if native_json(vocabulary):
        return None
    if vocabulary.added_tokens and mode.special == "none":
        return "finds added tokens in any text"
    if mode.special == "all" and not byte_level(vocabulary):
        return "reads no special tokens here"
    return None
