"""Vocabularies as the field's libraries take them, and what most of them cannot do."""

from __future__ import annotations

from dataclasses import replace

from corpora.vocabularies.model import Algorithm, Alphabet, Vocabulary
from impls.adapters.tokenizers import tokenizer_json
from impls.interface import Mode


def byte_level(vocabulary: Vocabulary) -> bool:
    """Whether it is byte-level BPE."""
    return vocabulary.algorithm is Algorithm.BPE and vocabulary.alphabet is Alphabet.BYTES


def json_content(vocabulary: Vocabulary, mode: Mode) -> bytes:
    """A tokenizer.json; without special tokens where their text is to be ordinary text.

    For libraries that find the special tokens of a file in any text.
    """
    told = vocabulary if mode.special == "all" else without_specials(vocabulary)
    return tokenizer_json(told, mode).encode()


def without_specials(vocabulary: Vocabulary) -> Vocabulary:
    """A byte-level vocabulary as if it had no special tokens; any other as it is.

    The pieces of others include their special ones, which those libraries keep apart by type.
    """
    return replace(vocabulary, special_tokens={}) if byte_level(vocabulary) else vocabulary


def json_trouble(vocabulary: Vocabulary, mode: Mode) -> str | None:
    """Why a tokenizer.json does not tell a library all that there is to know of it here."""
    if not mode.pretokenize:
        return "always pre-tokenizes"
    if vocabulary.added_tokens and mode.special == "none":
        return "finds added tokens in any text"
    if mode.special == "all" and not byte_level(vocabulary):
        return "reads no special tokens here"
    return None
