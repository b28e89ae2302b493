"""A GGUF vocabulary from the plain model, so that llama.cpp runs the same data as the others.

A file of metadata alone, as llama.cpp reads it with ``vocab_only``: byte-level BPE as the model
``gpt2``, SentencePiece BPE as ``llama`` (SPM), unigram as ``t5`` (UGM), WordPiece as ``bert``
(WPM). The same vocabulary gives the same bytes.
"""

from __future__ import annotations

import struct
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies import wordpiece_file
from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.model import (
    Algorithm,
    Alphabet,
    Normalizer,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
    WordPieceRules,
)
from corpora.vocabularies.patterns import GGUF_IGNORE_MERGES, GGUF_PRE, PATTERNS
from corpora.vocabularies.reading import GGUF_MAGIC
from corpora.vocabularies.tokenizer_json_out import merge_list
from corpora.vocabularies.wordpiece_file import gguf_texts

if TYPE_CHECKING:
    from collections.abc import Iterable

_VERSION = 3
_UINT8, _UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 0, 4, 5, 6, 7, 8, 9
"""The format's version, and its numbers of types."""

_DEFAULT_BOS = 11
"""llama.cpp's own id of a byte-level vocabulary's BOS and EOS, which it looks up unless told."""

_SPM_RESERVED = 3
"""The number of ids of SentencePiece pieces that llama.cpp looks up unless told: the first three
are the unknown piece, BOS and EOS."""

_BERT_NAMES = {"bos": "[CLS]", "seperator": "[SEP]", "padding": "[PAD]", "mask": "[MASK]"}
"""The special tokens of WordPiece that llama.cpp looks up unless told, by the fields' names (the
spelling is llama.cpp's)."""


def to_gguf(vocabulary: Vocabulary) -> bytes:
    """The content of a GGUF file with which llama.cpp encodes as ``vocabulary``.

    VocabularyError for what the format cannot say (:func:`trouble`).
    """
    fault = trouble(vocabulary)
    if fault is not None:
        raise VocabularyError(vocabulary.id, fault, "GGUF cannot say it")
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        return _file("bert", wordpiece_file.to_gguf_fields(vocabulary))
    if vocabulary.algorithm is Algorithm.UNIGRAM:
        return _file("t5", {**_pieces(vocabulary), **_ugm(vocabulary.normalizer)})
    if vocabulary.wordpiece is not None:
        return _file("bert", _wordpiece(vocabulary, vocabulary.wordpiece))
    if vocabulary.alphabet is Alphabet.CHARACTERS:
        add_prefix = vocabulary.normalizer.add_dummy_prefix
        return _file("llama", {**_pieces(vocabulary), "add_space_prefix": add_prefix})
    return _file("gpt2", _bytes(vocabulary))


def trouble(vocabulary: Vocabulary) -> str | None:
    """Why the vocabulary cannot be written for llama.cpp, in one line; None if it can."""
    if vocabulary.normalizer.form is not None:
        return f"GGUF has no normalization to {vocabulary.normalizer.form}"
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        return wordpiece_file.gguf_trouble(vocabulary)
    if vocabulary.pieces:
        return _pieces_trouble(vocabulary)
    if vocabulary.wordpiece is not None:
        return _wordpiece_trouble(vocabulary, vocabulary.wordpiece)
    if vocabulary.algorithm is not Algorithm.BPE or vocabulary.alphabet is not Alphabet.BYTES:
        return "neither byte-level BPE, nor WordPiece, nor of SentencePiece pieces"
    return _bytes_trouble(vocabulary)


def pre_name(vocabulary: Vocabulary) -> str | None:
    """The ``tokenizer.ggml.pre`` with the vocabulary's splits; None where llama.cpp has none.

    One that handles whole pre-tokens alike (``ignore_merges``), if there is one.
    """
    names = [name for name, pattern in GGUF_PRE.items() if PATTERNS[pattern] == vocabulary.splits]
    alike = [n for n in names if (n in GGUF_IGNORE_MERGES) == vocabulary.ignore_merges]
    return next(iter([*alike, *names]), None)


def _pieces_trouble(vocabulary: Vocabulary) -> str | None:
    normalizer = vocabulary.normalizer
    if vocabulary.added_tokens:
        return "GGUF has no added tokens beside SentencePiece pieces"
    if any(text_count > 1 for text_count in Counter(p.text for p in vocabulary.pieces).values()):
        return "two pieces have one text, and GGUF's must be distinct"
    if not normalizer.escape_whitespaces or normalizer.treat_whitespace_as_suffix:
        return "GGUF has white space escaped, and the dummy space before the text, always"
    if vocabulary.algorithm is Algorithm.UNIGRAM:
        if vocabulary.byte_fallback:
            return "GGUF's unigram model has no byte fallback"
        return None if vocabulary.unk_id is not None else "GGUF needs an unknown piece"
    if vocabulary.rank_order is not RankOrder.SCORES:
        return "its merges have no scores"
    plain = Normalizer(add_dummy_prefix=normalizer.add_dummy_prefix, escape_whitespaces=True)
    if normalizer != plain:
        return "GGUF's SentencePiece BPE has no normalization but the dummy space"
    return None if vocabulary.byte_fallback else "GGUF's SentencePiece BPE always has byte fallback"


def _bytes_trouble(vocabulary: Vocabulary) -> str | None:
    if pre_name(vocabulary) is None:
        return "GGUF has no name for its pre-tokenizer"
    if not len(vocabulary.merges):
        return "GGUF's byte-level BPE needs merges"
    stripping = _stripping(vocabulary)
    if stripping is not None:
        return stripping
    added = [*_added(vocabulary), *((i, text) for text, i in vocabulary.special_tokens.items())]
    texts = dict(added)
    if any(texts[token_id] != text for token_id, text in added):
        return "two special tokens share an id"
    if _repeats(_texts(vocabulary)):
        return "two tokens have one text, and GGUF's must be distinct"
    return None


def _wordpiece_trouble(vocabulary: Vocabulary, rules: WordPieceRules) -> str | None:
    if not rules.clean_text or not rules.handle_chinese_chars:
        return "GGUF's WordPiece always cleans the text and parts Chinese characters"
    if vocabulary.unk_id is None:
        return "GGUF needs an unknown token"
    if _repeats(gguf_texts(vocabulary).values()):
        return "two tokens have one text, and GGUF's must be distinct"
    return _stripping(vocabulary)


def _stripping(vocabulary: Vocabulary) -> str | None:
    for token in vocabulary.added_tokens:
        if token.single_word or token.lstrip or token.rstrip:
            return f"added token {token.text!r} asks for stripping or whole words"
    return None


def _repeats(texts: Iterable[str]) -> bool:
    every = list(texts)
    return len(set(every)) < len(every)


def _added(vocabulary: Vocabulary) -> list[tuple[int, str]]:
    return [(token.id, token.text) for token in vocabulary.added_tokens]


def _texts(vocabulary: Vocabulary) -> list[str]:
    """The text of each id: the bytes spelled in the byte alphabet, added tokens as they are."""
    named = {
        **{i: text for text, i in vocabulary.special_tokens.items()},
        **dict(_added(vocabulary)),
    }
    size = max([len(vocabulary.tokens) - 1, *named]) + 1
    tokens = [*vocabulary.tokens, *[None] * (size - len(vocabulary.tokens))]
    return [
        named[token_id]
        if token_id in named
        else f"[PAD{token_id}]"  # as convert_hf_to_gguf.py names holes
        if token is None
        else spell(token)
        for token_id, token in enumerate(tokens)
    ]


def _bytes(vocabulary: Vocabulary) -> dict[str, Any]:
    texts = _texts(vocabulary)
    types = [
        PieceType.UNUSED if i >= len(vocabulary.tokens) or vocabulary.tokens[i] is None else 1
        for i in range(len(texts))
    ]
    for token_id in vocabulary.special_tokens.values():
        types[token_id] = PieceType.CONTROL
    for token in vocabulary.added_tokens:
        types[token.id] = PieceType.CONTROL if token.special else PieceType.USER_DEFINED
    fields: dict[str, Any] = {
        "pre": pre_name(vocabulary),
        "tokens": texts,
        "token_type": [int(kind) for kind in types],
        "merges": [f"{texts[left]} {texts[right]}" for left, right, _ in merge_list(vocabulary)],
    }
    if len(texts) <= _DEFAULT_BOS:
        fields |= {"bos_token_id": 0, "eos_token_id": 0}
    return fields


def _wordpiece(vocabulary: Vocabulary, rules: WordPieceRules) -> dict[str, Any]:
    texts = gguf_texts(vocabulary)
    size = max(texts, default=-1) + 1
    types = [PieceType.NORMAL if i in texts else PieceType.UNUSED for i in range(size)]
    for token_id in vocabulary.special_tokens.values():
        types[token_id] = PieceType.CONTROL
    for token in vocabulary.added_tokens:
        types[token.id] = PieceType.CONTROL if token.special else PieceType.USER_DEFINED
    fields: dict[str, Any] = {
        "tokens": [texts.get(i, f"[PAD{i}]") for i in range(size)],
        "token_type": [int(kind) for kind in types],
        "unknown_token_id": vocabulary.unk_id,
        "normalizer.lowercase": rules.lowercase,
        "normalizer.strip_accents": rules.strip_accents,
    }
    for name, text in _BERT_NAMES.items():
        fields[f"{name}_token_id"] = vocabulary.special_tokens.get(text, vocabulary.unk_id)
    return fields


def _pieces(vocabulary: Vocabulary) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tokens": [piece.text for piece in vocabulary.pieces],
        "scores": [float(piece.score) for piece in vocabulary.pieces],
        "token_type": [int(piece.type) for piece in vocabulary.pieces],
    }
    if len(vocabulary.pieces) < _SPM_RESERVED:
        fields |= {"bos_token_id": 0, "eos_token_id": 0}
    if vocabulary.unk_id is not None:
        fields["unknown_token_id"] = vocabulary.unk_id
    return fields


def _ugm(normalizer: Normalizer) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "add_space_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
    }
    if normalizer.charsmap:
        fields["precompiled_charsmap"] = normalizer.charsmap
    return fields


def _file(model: str, fields: dict[str, Any]) -> bytes:
    """A GGUF file with ``tokenizer.ggml.<name>`` for each of ``fields``, but for empty lists.

    The package ``gguf`` writes the same bytes, as a test holds. It makes a call for each of the
    400,000 texts of a large vocabulary, and its import alone takes longer than this.
    """
    # Any architecture will do: what differs between them are tensors.
    named: dict[str, Any] = {"general.architecture": "llama", "tokenizer.ggml.model": model}
    for name, value in fields.items():
        if not isinstance(value, list | bytes) or value:
            named[f"tokenizer.ggml.{name}"] = value
    parts = [GGUF_MAGIC, struct.pack("<IQQ", _VERSION, 0, len(named))]
    for key, value in named.items():
        parts += [_string(key), *_value(value)]
    return b"".join(parts)


def _string(text: str) -> bytes:
    encoded = text.encode()
    return len(encoded).to_bytes(8, "little") + encoded


def _value(value: bool | int | str | bytes | list[Any]) -> list[bytes]:
    """The number of a value's type, and the value; bytes are an array of numbers."""
    if isinstance(value, bool):
        return [_number(_BOOL), bytes([value])]
    if isinstance(value, int):
        return [_number(_UINT32), _number(value)]
    if isinstance(value, str):
        return [_number(_STRING), _string(value)]
    head = [_number(_ARRAY), b"", len(value).to_bytes(8, "little")]
    if isinstance(value, bytes):
        head[1] = _number(_UINT8)
        return [*head, value]
    if isinstance(value[0], str):
        head[1] = _number(_STRING)
        return [*head, *map(_string, value)]
    whole = isinstance(value[0], int)
    head[1] = _number(_INT32 if whole else _FLOAT32)
    return [*head, np.array(value, "<i4" if whole else "<f4").tobytes()]


def _number(value: int) -> bytes:
    return value.to_bytes(4, "little")
