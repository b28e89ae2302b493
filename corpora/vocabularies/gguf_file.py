"""GGUF files (llama.cpp): the fields of the metadata to the plain model; also gzipped.

Vocabulary models ``gpt2`` (byte-level BPE), ``llama`` (SentencePiece BPE, llama.cpp's SPM),
``t5`` (unigram, llama.cpp's UGM) and ``bert`` (WordPiece, llama.cpp's WPM). Of any other model
the tokens alone are read, and llama.cpp runs it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from corpora.vocabularies import gguf_metadata, wordpiece_file
from corpora.vocabularies.byte_alphabet import unspell
from corpora.vocabularies.gguf_controls import ROLES, controls_of
from corpora.vocabularies.limits import COPY, MAX_IDS, MAX_MERGES, check_count, check_tokens
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    Merges,
    NativeFile,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.patterns import GGUF_IGNORE_MERGES, GGUF_PRE, PATTERNS, splits_of
from corpora.vocabularies.reading import read_bytes, shown, shown_json
from corpora.vocabularies.sentencepiece_model import from_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_T = TypeVar("_T")

_NAMES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    list: "an array of strings",
    np.ndarray: "an array of numbers",
}

_T5_UNKNOWN = 2
_BERT_UNKNOWN = 100
"""llama.cpp's own id of WordPiece's unknown token, for files that name none."""


STEPS_SHOWN = 3
"""Tokens beyond the byte alphabet that are named: a file may be full of them."""


def load(path: Path, *, pattern: str | None = None, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a GGUF file.

    ``pattern`` names the pre-tokenizer for a ``tokenizer.ggml.pre`` that is not known here; it
    wins over the file's.
    """
    return from_bytes(read_bytes(path), vocabulary_id or path.name, str(path), pattern=pattern)


def from_bytes(
    content: bytes, vocabulary_id: str, source: str, *, pattern: str | None = None
) -> Vocabulary:
    """The vocabulary of a GGUF file's content; ``source`` names the file in errors."""
    fields = _Fields(gguf_metadata.read(content, source), source)
    kind = fields.text("model")
    if kind is None:
        raise VocabularyError(
            source, "has no tokenizer.ggml.model", "give a GGUF file with a vocabulary"
        )
    if kind == "gpt2":
        return _bytes(fields, vocabulary_id, pattern)
    if pattern is not None:
        raise VocabularyError(
            source, f"#pattern={pattern} does not apply", "drop it: only BPE over bytes has one"
        )
    makers = {"llama": _spm, "t5": _ugm, "bert": _wpm}
    if kind not in makers:
        return _of_another_model(fields, vocabulary_id, kind)
    return makers[kind](fields, vocabulary_id)


def _of_another_model(fields: _Fields, name: str, kind: str) -> Vocabulary:
    """What is known of a vocabulary that llama.cpp alone can run: tokens, by their texts."""
    texts = fields.strings("tokens", MAX_IDS)
    types, _ = fields.types_of(texts)
    tokens: list[bytes | None] = []
    for text, type_ in zip(texts, types, strict=True):
        if type_ is PieceType.BYTE and re.fullmatch("<0x[0-9A-Fa-f]{2}>", text):
            tokens.append(bytes([int(text[3:5], 16)]))
        else:
            ordinary = type_ in (PieceType.NORMAL, PieceType.USER_DEFINED)
            tokens.append(text.encode() or None if ordinary else None)
    check_tokens(tokens, fields.source)
    special = (PieceType.CONTROL, PieceType.UNKNOWN)
    steps = (f"tokenizer.ggml.model {shown_json(kind)}, which is not known here",)
    return Vocabulary(
        id=name,
        algorithm=Algorithm.BPE,
        format="gguf",
        tokens=tuple(tokens),
        alphabet=Alphabet.CHARACTERS,
        rank_order=RankOrder.MERGES,
        normalizer=Normalizer(escape_whitespaces=any("\u2581" in text for text in texts)),
        special_tokens={
            text: i
            for i, (text, type_) in enumerate(zip(texts, types, strict=True))
            if type_ in special and text
        },
        unk_id=fields.token_id("unknown_token_id", None, len(texts)),
        source_path=fields.source,
        native=NativeFile(b"", unexpressed=steps),
    )


class _Fields:
    """The ``tokenizer.ggml.*`` fields of a file, the type of each checked when it is asked for."""

    def __init__(self, values: Mapping[str, gguf_metadata.Value], source: str) -> None:
        self.source = source
        self._values = values

    def _get(self, name: str, kind: type[_T]) -> _T | None:
        value = self._values.get(f"tokenizer.ggml.{name}")
        if value is not None and type(value) is not kind:
            had = "an array" if isinstance(value, list | np.ndarray) else f"{shown(value)}"
            raise VocabularyError(
                self.source, f"tokenizer.ggml.{name} is {had}, not {_NAMES[kind]}", COPY
            )
        return value

    def text(self, name: str) -> str | None:
        """A string."""
        return self._get(name, str)

    def flag(self, name: str, default: bool) -> bool:
        """A truth value."""
        value = self._get(name, bool)
        return default if value is None else value

    def token_id(self, name: str, default: int | None, count: int) -> int | None:
        """The id of one of ``count`` tokens."""
        value = self._get(name, int)
        if value is None:
            value = default
        if value is not None and not 0 <= value < count:
            raise VocabularyError(
                self.source, f"tokenizer.ggml.{name} is {value}", "it must be a token's id"
            )
        return value

    def strings(self, name: str, most: int) -> list[str]:
        """A list of strings that must be there, with no more than ``most`` of them."""
        texts = self._get(name, list)
        if not texts:
            raise VocabularyError(self.source, f"has no tokenizer.ggml.{name}", COPY)
        check_count(len(texts), most, f"tokenizer.ggml.{name}", self.source)
        return texts

    def floats(self, name: str, count: int) -> list[float]:
        """A number for each of ``count`` tokens."""
        return self._numbers(name, "iuf", count) or []

    def types(self, count: int) -> list[PieceType]:
        """The type of each token; NORMAL for all if the file has none, UNUSED for what is none."""
        numbers = self._numbers("token_type", "iu", count)
        if numbers is None:
            return [PieceType.NORMAL] * count
        known = {int(kind): kind for kind in PieceType}
        return [known.get(int(number), PieceType.UNUSED) for number in numbers]

    def unknown_types(self, count: int) -> tuple[str, ...]:
        """A line for a type that is none, of which llama.cpp alone knows what it makes."""
        numbers = self._numbers("token_type", "iu", count) or []
        known = {int(kind) for kind in PieceType}
        at = next((at for at, number in enumerate(numbers) if number not in known), None)
        if at is None:
            return ()
        return (f"tokenizer.ggml.token_type[{at}] {numbers[at]}, which is no type",)

    def types_of(self, texts: Sequence[str]) -> tuple[list[PieceType], tuple[str, ...]]:
        """The type of each token as llama.cpp has it, who overrides what the file says of some.

        And a line for what only llama.cpp can tell.
        """
        types = self.types(len(texts))
        named = [role for role in ROLES if self._get(f"{role}_token_id", int) is not None]
        controls = controls_of(texts, named)
        for at, text in enumerate(texts):
            if text in controls.texts:
                types[at] = PieceType.CONTROL
        odd = self.unknown_types(len(texts))
        if not controls.unknown:
            return types, odd
        shown_ones = ", ".join(map(shown_json, controls.unknown[:STEPS_SHOWN]))
        return types, (*odd, f"several tokens for one part of filling a gap ({shown_ones})")

    def raw(self, name: str) -> bytes | None:
        """The bytes of an array of bytes."""
        array = self._get(name, np.ndarray)
        if array is not None and array.dtype.itemsize != 1:
            raise VocabularyError(self.source, f"tokenizer.ggml.{name} is no array of bytes", COPY)
        return None if array is None else array.tobytes() or None

    def _numbers(self, name: str, kinds: str, count: int) -> list[float] | None:
        array = self._get(name, np.ndarray)
        if array is None:
            return None
        if array.dtype.kind not in kinds:
            raise VocabularyError(
                self.source, f"tokenizer.ggml.{name} is an array of {array.dtype.name}", COPY
            )
        if len(array) < count:
            raise VocabularyError(
                self.source,
                f"tokenizer.ggml.{name} has {len(array)} entries for {count} tokens",
                COPY,
            )
        numbers: list[float] = array.tolist()
        return numbers[:count]  # llama.cpp looks at no more either


def _bytes(fields: _Fields, name: str, pattern: str | None) -> Vocabulary:
    texts = fields.strings("tokens", MAX_IDS)
    tokens: list[bytes | None] = []
    ids: dict[str, int] = {}
    added: list[AddedToken] = []
    beyond: list[str] = []
    types, steps_of_types = fields.types_of(texts)
    said = fields.types(len(texts))
    for token_id, (text, kind) in enumerate(zip(texts, types, strict=True)):
        if not text:  # a hole: nothing ever yields it
            tokens.append(None)
            continue
        if kind is PieceType.NORMAL:
            token = unspell(text)
            if token is None:
                # Such as Command R's U+200D, which llama.cpp takes for no bytes at all.
                token = text.encode()
                beyond.append(f"the token {shown_json(text)} beyond the byte alphabet")
            if ids.setdefault(text, token_id) != token_id:
                raise VocabularyError(
                    fields.source,
                    f"tokenizer.ggml.tokens[{token_id}] {shown(text)} repeats token {ids[text]}",
                    "remove one of them",
                )
            tokens.append(token)
            continue
        tokens.append(text.encode() if kind is PieceType.USER_DEFINED else None)
        if kind in (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN):
            special = kind is not PieceType.USER_DEFINED
            added.append(AddedToken(text, token_id, special=special))
        if kind is PieceType.USER_DEFINED or said[token_id] is PieceType.NORMAL:
            ids.setdefault(text, token_id)
    check_tokens(tokens, fields.source)
    pre = fields.text("pre") or "default"
    unknown = pattern is None and pre not in GGUF_PRE
    splits = splits_of(pattern, fields.source) if pattern else PATTERNS[GGUF_PRE.get(pre, "none")]
    steps = [*beyond[:STEPS_SHOWN], *steps_of_types]
    if unknown:
        steps.append(f"tokenizer.ggml.pre {shown_json(pre)}, whose pattern is not known here")
    merges, lacking = _merges(fields, ids)
    steps += lacking
    # A control token by its text alone that merges build (qwen2's) is what text yields, too.
    for token_id in set(merges.merged.tolist()):
        if tokens[token_id] is None:
            tokens[token_id] = unspell(texts[token_id])
    return Vocabulary(
        id=name,
        algorithm=Algorithm.BPE,
        format="gguf",
        tokens=tuple(tokens),
        merges=merges,
        rank_order=RankOrder.MERGES,
        splits=splits,
        special_tokens={token.text: token.id for token in added if token.special},
        added_tokens=tuple(added),
        ignore_merges=pre in GGUF_IGNORE_MERGES,
        source_path=fields.source,
        # The content is read again by who needs it: a file may be large with weights.
        native=NativeFile(b"", unexpressed=tuple(steps)) if steps else None,
    )


def _merges(fields: _Fields, ids: dict[str, int]) -> tuple[Merges, list[str]]:
    """The merges, and a line for those of tokens that are not there.

    llama.cpp merges texts, and looks for their tokens in the end; no other engine does.
    """
    triples: list[tuple[int, int, int]] = []
    lacking: list[str] = []
    for rank, line in enumerate(fields.strings("merges", MAX_MERGES)):
        # The first space separates: the alphabet has none, though a token may not be of it.
        left, _, right = line.partition(" ")
        if not left or not right:
            told = f"tokenizer.ggml.merges[{rank}] {shown(line)} is no pair"
            raise VocabularyError(fields.source, told, COPY)
        try:
            triples.append((ids[left], ids[right], ids[left + right]))
        except KeyError:
            needs = "which needs a token that is not there"
            lacking.append(f"tokenizer.ggml.merges[{rank}] {shown_json(line)}, {needs}")
    return Merges.of(triples), lacking[:STEPS_SHOWN]


def _pieces(fields: _Fields) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """The pieces, and what only llama.cpp can tell of them."""
    texts = fields.strings("tokens", MAX_IDS)
    scores = fields.floats("scores", len(texts))
    types, steps = fields.types_of(texts)
    if not scores:
        scores = [0.0] * len(texts)
        steps = (*steps, "pieces without tokenizer.ggml.scores")
    return tuple(map(Piece, texts, scores, types)), steps


def _spm(fields: _Fields, name: str) -> Vocabulary:
    return _from_pieces(
        fields,
        name,
        Algorithm.BPE,
        Normalizer(add_dummy_prefix=fields.flag("add_space_prefix", True), escape_whitespaces=True),
        byte_fallback=True,
    )


def _ugm(fields: _Fields, name: str) -> Vocabulary:
    return _from_pieces(
        fields,
        name,
        Algorithm.UNIGRAM,
        Normalizer(
            charsmap=fields.raw("precompiled_charsmap"),
            add_dummy_prefix=fields.flag("add_space_prefix", False),
            remove_extra_whitespaces=fields.flag("remove_extra_whitespaces", False),
            escape_whitespaces=fields.flag("escape_whitespaces", True),
            treat_whitespace_as_suffix=fields.flag("treat_whitespace_as_suffix", False),
        ),
        byte_fallback=False,
    )


def _wpm(fields: _Fields, name: str) -> Vocabulary:
    texts = fields.strings("tokens", MAX_IDS)
    lowercase = fields.flag("normalizer.lowercase", True)
    odd = fields.unknown_types(len(texts))
    made = wordpiece_file.from_gguf(
        name,
        texts,
        fields.types_of(texts)[0],
        unk_id=fields.token_id("unknown_token_id", _BERT_UNKNOWN, len(texts)) or 0,
        lowercase=lowercase,
        strip_accents=fields.flag("normalizer.strip_accents", lowercase),
        source=fields.source,
    )
    return replace(made, native=NativeFile(b"", unexpressed=odd)) if odd else made


def _from_pieces(
    fields: _Fields,
    name: str,
    algorithm: Algorithm,
    normalizer: Normalizer,
    *,
    byte_fallback: bool,
) -> Vocabulary:
    pieces, steps = _pieces(fields)
    # For T5 llama.cpp takes the id that its models have, where a file does not say any.
    default = _T5_UNKNOWN if algorithm is Algorithm.UNIGRAM and len(pieces) > _T5_UNKNOWN else None
    unk_id = fields.token_id("unknown_token_id", default, len(pieces))
    made = from_pieces(
        name,
        pieces,
        algorithm=algorithm,
        normalizer=normalizer,
        byte_fallback=byte_fallback,
        file_format="gguf",
        source_path=fields.source,
        unk_id=unk_id,
    )
    return replace(made, native=NativeFile(b"", unexpressed=steps)) if steps else made
