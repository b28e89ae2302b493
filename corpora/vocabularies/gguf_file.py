"""GGUF files (llama.cpp), read with the ``gguf`` package; also gzipped.

Vocabulary models ``gpt2`` (byte-level BPE), ``llama`` (SentencePiece BPE, llama.cpp's SPM),
``t5`` (unigram, llama.cpp's UGM) and ``bert`` (WordPiece, llama.cpp's WPM).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies import wordpiece_file
from corpora.vocabularies.byte_alphabet import unspell
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Merges,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.patterns import GGUF_IGNORE_MERGES, GGUF_PRE, PATTERNS, splits_of
from corpora.vocabularies.reading import read_bytes
from corpora.vocabularies.sentencepiece_model import from_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence


_BERT_UNKNOWN = 100
"""llama.cpp's own id of WordPiece's unknown token, for files that name none."""


def load(path: Path, *, pattern: str | None = None, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a GGUF file.

    ``pattern`` names the pre-tokenizer for a ``tokenizer.ggml.pre`` that is not known here; it
    wins over the file's.
    """
    fields = _Fields(path)
    name = vocabulary_id or path.name
    kind = fields.get("model")
    if kind is None:
        raise VocabularyError(
            str(path), "has no tokenizer.ggml.model", "give a GGUF file with a vocabulary"
        )
    if kind == "gpt2":
        return _bytes(fields, name, pattern)
    if pattern is not None:
        raise VocabularyError(
            str(path), f"#pattern={pattern} does not apply", "drop it: only BPE over bytes has one"
        )
    if kind == "llama":
        return _spm(fields, name)
    if kind == "t5":
        return _ugm(fields, name)
    if kind == "bert":
        return _wpm(fields, name)
    raise VocabularyError(
        str(path),
        f"tokenizer.ggml.model is {kind!r}",
        "the models gpt2, llama, t5 and bert are supported",
    )


class _Fields:
    """The ``tokenizer.ggml.*`` fields of a file, each read when asked for."""

    def __init__(self, path: Path) -> None:
        reader = _reader()
        self.source = str(path)
        content = read_bytes(path)
        if not content.startswith(b"GGUF"):
            raise VocabularyError(self.source, "is no GGUF file", "give a .gguf file")
        try:
            if content[:4] == path.open("rb").read(4):
                self._fields: dict[str, Any] = reader(path).fields
            else:  # gzipped: the reader maps a file into memory
                with tempfile.NamedTemporaryFile(suffix=".gguf") as unpacked:
                    unpacked.write(content)
                    unpacked.flush()
                    self._fields = reader(unpacked.name).fields
        except Exception as error:
            fault = " ".join(str(error).split())[:120] or type(error).__name__
            raise VocabularyError(
                self.source, f"is a corrupt GGUF file ({fault})", "get a complete copy of the file"
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """The content of ``tokenizer.ggml.<name>``."""
        field = self._fields.get(f"tokenizer.ggml.{name}")
        if field is None:
            return default
        try:
            return field.contents()
        except (ValueError, IndexError, UnicodeDecodeError) as error:
            raise VocabularyError(
                self.source, f"tokenizer.ggml.{name} is corrupt ({error})", "get a complete copy"
            ) from None

    def floats(self, name: str) -> list[float]:
        """The numbers of ``tokenizer.ggml.<name>``; quicker than :meth:`get`."""
        field = self._fields.get(f"tokenizer.ggml.{name}")
        if field is None:
            return []
        numbers: list[float] = np.concatenate([field.parts[i] for i in field.data] or [[]]).tolist()
        return numbers

    def raw(self, name: str) -> bytes | None:
        """The bytes of an array of bytes."""
        field = self._fields.get(f"tokenizer.ggml.{name}")
        if field is None:
            return None
        content = np.concatenate([field.parts[i] for i in field.data] or [[]])
        return content.astype(np.uint8).tobytes() or None

    def array(self, name: str) -> list[str]:
        """A list of strings that must be there; quicker than :meth:`get`."""
        field = self._fields.get(f"tokenizer.ggml.{name}")
        if field is None or not field.data:
            raise VocabularyError(
                self.source, f"has no tokenizer.ggml.{name}", "get a complete copy of the file"
            )
        try:
            return [field.parts[i].tobytes().decode() for i in field.data]
        except UnicodeDecodeError as error:
            raise VocabularyError(
                self.source, f"tokenizer.ggml.{name} is not UTF-8 ({error})", "get a complete copy"
            ) from None

    def types(self, count: int) -> list[PieceType]:
        """The type of each token; NORMAL for all if the file has none."""
        numbers = self.floats("token_type") or [1.0] * count
        if len(numbers) != count:
            raise VocabularyError(
                self.source,
                f"tokenizer.ggml.token_type has {len(numbers)} entries for {count} tokens",
                "get a complete copy of the file",
            )
        try:
            return [PieceType(int(number)) for number in numbers]
        except ValueError as error:
            raise VocabularyError(
                self.source, f"tokenizer.ggml.token_type: {error}", "types are 1 to 6"
            ) from None


def _reader() -> type[Any]:
    """The package's reader, on a plain array: slicing its memory map a token costs three times."""
    from gguf import GGUFReader  # noqa: PLC0415 (slow to import)

    class PlainReader(GGUFReader):  # type: ignore[misc]
        @property
        def data(self) -> Any:
            return self._plain

        @data.setter
        def data(self, mapped: Any) -> None:
            self._plain = mapped.view(np.ndarray)

    return PlainReader


def _bytes(fields: _Fields, name: str, pattern: str | None) -> Vocabulary:
    texts = fields.array("tokens")
    tokens: list[bytes | None] = []
    ids: dict[str, int] = {}
    added: list[AddedToken] = []
    for token_id, (text, kind) in enumerate(zip(texts, fields.types(len(texts)), strict=True)):
        if kind is PieceType.NORMAL:
            token = unspell(text)
            if token is None:
                raise VocabularyError(
                    fields.source,
                    f"tokenizer.ggml.tokens[{token_id}] {text!r} is not in the byte alphabet",
                    "its type must be control or user-defined",
                )
            if ids.setdefault(text, token_id) != token_id:
                raise VocabularyError(
                    fields.source,
                    f"tokenizer.ggml.tokens[{token_id}] {text!r} repeats token {ids[text]}",
                    "remove one of them",
                )
            tokens.append(token)
            continue
        tokens.append(text.encode() if kind is PieceType.USER_DEFINED else None)
        if kind in (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN):
            special = kind is not PieceType.USER_DEFINED
            added.append(AddedToken(text, token_id, special=special))
        if kind is PieceType.USER_DEFINED:
            ids.setdefault(text, token_id)
    pre = fields.get("pre", "default")
    if pattern is None and pre not in GGUF_PRE:
        raise VocabularyError(
            fields.source,
            f"tokenizer.ggml.pre {pre!r} is not known",
            "name its pattern: PATH#pattern=NAME",
        )
    return Vocabulary(
        id=name,
        algorithm=Algorithm.BPE,
        format="gguf",
        tokens=tuple(tokens),
        merges=_merges(fields, ids),
        rank_order=RankOrder.MERGES,
        splits=splits_of(pattern, fields.source) if pattern else PATTERNS[GGUF_PRE[pre]],
        special_tokens={token.text: token.id for token in added if token.special},
        added_tokens=tuple(added),
        ignore_merges=pre in GGUF_IGNORE_MERGES,
        source_path=fields.source,
    )


def _merges(fields: _Fields, ids: dict[str, int]) -> Merges:
    triples: list[tuple[int, int, int]] = []
    for rank, line in enumerate(fields.array("merges")):
        # The first space separates: the alphabet has none, though a token may not be of it.
        left, _, right = str(line).partition(" ")
        try:
            triples.append((ids[left], ids[right], ids[left + right]))
        except KeyError as error:
            raise VocabularyError(
                fields.source,
                f"tokenizer.ggml.merges[{rank}] {line!r} needs the missing token {error}",
                "get a complete copy of the file",
            ) from None
    return Merges.of(triples)


def _pieces(fields: _Fields) -> tuple[Piece, ...]:
    texts = fields.array("tokens")
    scores = fields.floats("scores")
    if len(scores) != len(texts):
        raise VocabularyError(
            fields.source,
            f"tokenizer.ggml.scores has {len(scores)} entries for {len(texts)} tokens",
            "get a complete copy of the file",
        )
    types = fields.types(len(texts))
    return tuple(map(Piece, texts, scores, types))


def _spm(fields: _Fields, name: str) -> Vocabulary:
    return _from_pieces(
        fields,
        name,
        Algorithm.BPE,
        Normalizer(
            add_dummy_prefix=bool(fields.get("add_space_prefix", True)), escape_whitespaces=True
        ),
        byte_fallback=True,
    )


def _ugm(fields: _Fields, name: str) -> Vocabulary:
    return _from_pieces(
        fields,
        name,
        Algorithm.UNIGRAM,
        Normalizer(
            charsmap=fields.raw("precompiled_charsmap"),
            add_dummy_prefix=bool(fields.get("add_space_prefix", False)),
            remove_extra_whitespaces=bool(fields.get("remove_extra_whitespaces", False)),
            escape_whitespaces=bool(fields.get("escape_whitespaces", True)),
            treat_whitespace_as_suffix=bool(fields.get("treat_whitespace_as_suffix", False)),
        ),
        byte_fallback=False,
    )


def _wpm(fields: _Fields, name: str) -> Vocabulary:
    texts = fields.array("tokens")
    lowercase = bool(fields.get("normalizer.lowercase", True))
    return wordpiece_file.from_gguf(
        name,
        texts,
        fields.types(len(texts)),
        unk_id=int(fields.get("unknown_token_id", _BERT_UNKNOWN)),
        lowercase=lowercase,
        strip_accents=bool(fields.get("normalizer.strip_accents", lowercase)),
        source=fields.source,
    )


def _from_pieces(
    fields: _Fields,
    name: str,
    algorithm: Algorithm,
    normalizer: Normalizer,
    *,
    byte_fallback: bool,
) -> Vocabulary:
    pieces: Sequence[Piece] = _pieces(fields)
    unk_id = fields.get("unknown_token_id")
    if unk_id is not None and not 0 <= unk_id < len(pieces):
        raise VocabularyError(
            fields.source, f"tokenizer.ggml.unknown_token_id is {unk_id}", "it must be a token's id"
        )
    return from_pieces(
        name,
        pieces,
        algorithm=algorithm,
        normalizer=normalizer,
        byte_fallback=byte_fallback,
        file_format="gguf",
        source_path=fields.source,
        unk_id=unk_id,
    )
