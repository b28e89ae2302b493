"""Hugging Face's tokenizer.json: BPE over bytes or characters, Unigram, WordPiece.

What the plain model cannot say is told by its field, and the vocabulary is one that only those
run who are given the file (:mod:`tokenizer_json_native`): half understood, it would make false
findings. Post-processors, decoders, truncation and padding are passed over: they do not take part
in the encoding of a text without its special tokens.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from corpora.vocabularies import tokenizer_json_native as native
from corpora.vocabularies import tokenizer_json_steps as steps
from corpora.vocabularies import wordpiece_file
from corpora.vocabularies.byte_alphabet import unspell
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
    Unexpressed,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.reading import HALF, decode_json, read_bytes, shown, shown_json
from corpora.vocabularies.sentencepiece_model import byte_of
from corpora.vocabularies.tokenizer_json_added import kept_of, shared_ids, with_kept

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

_Id = Annotated[int, msgspec.Meta(ge=0, lt=MAX_IDS)]


class _AddedEntry(msgspec.Struct):
    id: _Id
    content: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class _File(msgspec.Struct):
    """``model`` is decoded when its type is known, the steps one by one."""

    model: msgspec.Raw = msgspec.Raw(b"null")
    added_tokens: list[_AddedEntry] | None = None
    normalizer: Any = None
    pre_tokenizer: Any = None


class _Kind(msgspec.Struct):
    """What tells the kind of a model: its type, or the fields that it has."""

    type: str | None = None
    vocab: msgspec.Raw = msgspec.Raw()
    merges: msgspec.Raw = msgspec.Raw()
    unk_token: msgspec.Raw = msgspec.Raw()
    continuing_subword_prefix: msgspec.Raw = msgspec.Raw()
    max_input_chars_per_word: msgspec.Raw = msgspec.Raw()


_UNKNOWN = {"WordPiece": "[UNK]", "WordLevel": "<unk>"}
"""The unknown token of a model that does not name it, by the model's type."""


class _Bpe(msgspec.Struct):
    vocab: dict[str, Any] | None = None
    merges: list[str | list[str]] | None = None
    unk_token: str | None = None
    fuse_unk: bool | None = None
    byte_fallback: bool | None = None
    ignore_merges: bool | None = None
    dropout: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None


class _Unigram(msgspec.Struct):
    vocab: Annotated[list[tuple[str, float]], msgspec.Meta(min_length=1)]
    unk_id: int | None = None
    byte_fallback: bool | None = None


class _WordPiece(msgspec.Struct):
    vocab: dict[str, Any] | None = None
    unk_token: Annotated[str, msgspec.Meta(min_length=1)] = _UNKNOWN["WordPiece"]
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] = 100


def load(path: Path, *, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a tokenizer.json."""
    return from_bytes(read_bytes(path), vocabulary_id or path.name, str(path))


def from_document(document: Json, vocabulary_id: str, source: str | None) -> Vocabulary:
    """The vocabulary of a parsed tokenizer.json; ``source`` names it in errors."""
    return from_bytes(json.dumps(document).encode(), vocabulary_id, source)


def from_bytes(content: bytes, vocabulary_id: str, source: str | None) -> Vocabulary:
    """The vocabulary of the content of a tokenizer.json; ``source`` names it in errors."""
    where = source or vocabulary_id
    document = decode_json(content, _File, where)
    found = kept_of(document.model, _added(document, where), where)
    added, dropout = found.tokens, _dropout(document, where)
    given = native.with_dropout(content, None) if dropout else content
    given = with_kept(given, found) if found.remark else given
    digest = "" if given is content else hashlib.sha256(content).hexdigest()
    file = NativeFile(given, dropout=dropout, sha256=digest, understood=found.remark)
    try:
        vocabulary = _expressed(document, added, vocabulary_id, source)
        unlike = native.unlike(document.normalizer, document.pre_tokenizer, vocabulary)
        if unlike:
            raise Unexpressed(where, unlike)
    except Unexpressed as error:
        vocabulary = _unexpressed(document, added, vocabulary_id, source)
        check_tokens(vocabulary.tokens, where)
        shared = shared_ids(document.model, added, where)
        return replace(vocabulary, native=replace(file, unexpressed=error.steps, shared=shared))
    check_tokens(vocabulary.tokens, where)
    return replace(vocabulary, native=file)


def _expressed(
    document: _File, added: tuple[AddedToken, ...], vocabulary_id: str, source: str | None
) -> Vocabulary:
    """The vocabulary in terms of the plain model. Raises Unexpressed where that has none."""
    where = source or vocabulary_id
    if bytes(memoryview(document.model)[:1]) != b"{":
        raise VocabularyError(where, "has no model", f"give a tokenizer.json; {HALF}")
    kind = _kind(document, where)
    if kind == "BPE":
        bpe = decode_json(document.model, _Bpe, where, "model")
        pipeline = steps.read(document.normalizer, document.pre_tokenizer, where)
        maker = _byte_bpe if pipeline.byte_level else _character_bpe
        vocabulary = maker(bpe, added, pipeline, vocabulary_id, source)
    elif kind == "Unigram":
        unigram = decode_json(document.model, _Unigram, where, "model")
        pipeline = steps.read(document.normalizer, document.pre_tokenizer, where)
        vocabulary = _unigram(unigram, added, pipeline, vocabulary_id, source)
    elif kind == "WordPiece":
        wordpiece = decode_json(document.model, _WordPiece, where, "model")
        native.check_added(_vocab(wordpiece.vocab, where), added, where)
        vocabulary = wordpiece_file.from_json(
            wordpiece_file.Model(
                _vocab(wordpiece.vocab, where),
                wordpiece.unk_token,
                wordpiece.continuing_subword_prefix,
                wordpiece.max_input_chars_per_word,
            ),
            document.normalizer,
            document.pre_tokenizer,
            added,
            vocabulary_id,
            source,
        )
    elif kind == "WordLevel":
        raise Unexpressed(where, ("model WordLevel",))
    else:
        raise VocabularyError(
            where, f"model.type is {shown(kind)}", "there are BPE, Unigram, WordPiece and WordLevel"
        )
    return vocabulary


def _kind(document: _File, where: str) -> str:
    model = decode_json(document.model, _Kind, where, "model")
    fields = (name for name in _Kind.__struct_fields__ if name != "type")
    there = [name for name in fields if memoryview(getattr(model, name))]
    return native.kind_of(model.type, there, mapping=bytes(memoryview(model.vocab)[:1]) == b"{")


def _dropout(document: _File, where: str) -> float:
    """The probability with which the file leaves a merge out: 0 for most."""
    if bytes(memoryview(document.model)[:1]) != b"{" or _kind(document, where) != "BPE":
        return 0.0
    return decode_json(document.model, _Bpe, where, "model").dropout or 0.0


def _added(document: _File, where: str) -> tuple[AddedToken, ...]:
    entries = document.added_tokens or ()
    check_count(len(entries), MAX_IDS, "added tokens", where)
    return tuple(
        AddedToken(
            text=entry.content,
            id=entry.id,
            special=entry.special,
            single_word=entry.single_word,
            lstrip=entry.lstrip,
            rstrip=entry.rstrip,
            normalized=entry.normalized,
        )
        for entry in entries
    )


def _unexpressed(
    document: _File, added: tuple[AddedToken, ...], vocabulary_id: str, source: str | None
) -> Vocabulary:
    """What is known of a vocabulary that the plain model cannot express: tokens, by their texts."""
    where = source or vocabulary_id
    kind = _kind(document, where)
    if kind == "Unigram":
        unigram = decode_json(document.model, _Unigram, where, "model")
        texts = dict(enumerate(text for text, _ in unigram.vocab))
        algorithm, ending, unk_id = Algorithm.UNIGRAM, "", unigram.unk_id
    else:
        model = decode_json(document.model, _Bpe, where, "model")
        vocab = _vocab(model.vocab, where, shared=True)
        texts = {token_id: text for text, token_id in vocab.items()}
        algorithm, ending = Algorithm(kind.lower()), model.end_of_word_suffix or ""
        unk_id = vocab.get(model.unk_token or _UNKNOWN.get(kind, ""))
    byte_level = native.byte_level(document.normalizer, document.pre_tokenizer, where)
    ids = [*texts, *(entry.id for entry in added)]
    if not ids:
        raise VocabularyError(where, "has no tokens", "give a tokenizer that was trained")
    tokens: list[bytes | None] = [None] * (max(ids) + 1)
    for token_id, text in texts.items():
        bare = text.removesuffix(ending) or text
        spelled = unspell(bare) if byte_level else None
        tokens[token_id] = (bare.encode() if spelled is None else spelled) or None
    for entry in added:
        tokens[entry.id] = None if entry.special else entry.text.encode()
    if unk_id is not None and not 0 <= unk_id < len(tokens):
        raise VocabularyError(where, f"model.unk_id is {unk_id}", "it must be a piece's id")
    marked = native.marks_spaces(document.normalizer, document.pre_tokenizer, where)
    return Vocabulary(
        id=vocabulary_id,
        algorithm=algorithm,
        format="tokenizer.json",
        tokens=tuple(tokens),
        alphabet=Alphabet.BYTES if byte_level else Alphabet.CHARACTERS,
        rank_order=RankOrder.MERGES,
        normalizer=Normalizer(escape_whitespaces=marked),
        special_tokens=_specials(added),
        added_tokens=added,
        unk_id=unk_id,
        source_path=source,
    )


def _byte_bpe(
    model: _Bpe,
    added: tuple[AddedToken, ...],
    pipeline: steps.Pipeline,
    vocabulary_id: str,
    source: str | None,
) -> Vocabulary:
    where = source or vocabulary_id
    vocab = _vocab(model.vocab, where)
    if not vocab:
        raise Unexpressed(where, ("model.vocab without a token",))
    _check_affixes(model, where)
    native.check_added(vocab, added, where)
    tokens: list[bytes | None] = [None] * _size(vocab, added)
    aside = {token.id: token for token in added}
    for text, token_id in vocab.items():
        if token_id in aside:
            continue
        token = unspell(text)
        if token is None:
            raise Unexpressed(where, (f"the token {shown_json(text)} beyond the byte alphabet",))
        tokens[token_id] = token or None  # an empty text, which no merge makes, is a hole
    for entry in added:
        tokens[entry.id] = None if entry.special else entry.text.encode()
    return Vocabulary(
        id=vocabulary_id,
        algorithm=Algorithm.BPE,
        format="tokenizer.json",
        tokens=tuple(tokens),
        merges=_merges(model, vocab, where),
        rank_order=RankOrder.MERGES,
        splits=pipeline.splits,
        normalizer=pipeline.normalizer,
        special_tokens=_specials(added),
        added_tokens=added,
        ignore_merges=bool(model.ignore_merges),
        source_path=source,
    )


def _character_bpe(
    model: _Bpe,
    added: tuple[AddedToken, ...],
    pipeline: steps.Pipeline,
    vocabulary_id: str,
    source: str | None,
) -> Vocabulary:
    """BPE in the manner of Llama 2. Its pieces have no scores: all are 0.0."""
    where = source or vocabulary_id
    vocab = _vocab(model.vocab, where)
    if not vocab:
        raise Unexpressed(where, ("model.vocab without a token",))
    _check_affixes(model, where)
    native.check_added(vocab, added, where)
    if pipeline.splits or pipeline.words:
        raise Unexpressed(where, ("a pre_tokenizer that splits before a BPE over characters",))
    fallback = bool(model.byte_fallback)
    unk = model.unk_token
    if unk is not None and unk not in vocab:
        raise Unexpressed(where, (f"model.unk_token {shown_json(unk)}, which is no token",))
    complete = fallback and all(f"<0x{byte:02X}>" in vocab for byte in range(256))
    if unk is not None and not complete and not model.fuse_unk:
        raise Unexpressed(where, ("model.fuse_unk false",))
    if model.ignore_merges:
        raise Unexpressed(where, ("model.ignore_merges of a BPE over characters",))
    _check_bytes(added, fallback, where)
    texts: list[str | None] = [None] * _size(vocab, added)
    for text, token_id in vocab.items():
        texts[token_id] = text
    for entry in added:
        texts[entry.id] = entry.text
    unk_id = None if unk is None else vocab[unk]
    types = _types(texts, added, unk_id, fallback)
    pieces = tuple(Piece(text or "", 0.0, kind) for text, kind in zip(texts, types, strict=True))
    return Vocabulary(
        id=vocabulary_id,
        algorithm=Algorithm.BPE,
        format="tokenizer.json",
        tokens=tuple(_spelling(piece) for piece in pieces),
        merges=_merges(model, vocab, where),
        pieces=pieces,
        alphabet=Alphabet.CHARACTERS,
        rank_order=RankOrder.MERGES,
        normalizer=pipeline.normalizer,
        special_tokens=_specials(added),
        added_tokens=added,
        unk_id=unk_id,
        byte_fallback=fallback,
        ignore_merges=bool(model.ignore_merges),
        source_path=source,
    )


def _unigram(
    model: _Unigram,
    added: tuple[AddedToken, ...],
    pipeline: steps.Pipeline,
    vocabulary_id: str,
    source: str | None,
) -> Vocabulary:
    where = source or vocabulary_id
    if pipeline.splits or pipeline.byte_level:
        raise Unexpressed(where, ("a pre_tokenizer other than Metaspace before a Unigram model",))
    scored, unk_id = model.vocab, model.unk_id
    check_count(len(scored), MAX_IDS, "pieces", where)
    if unk_id is not None and not 0 <= unk_id < len(scored):
        raise VocabularyError(where, f"model.unk_id is {unk_id}", "it must be a piece's id")
    if unk_id is None:
        raise Unexpressed(where, ("model.unk_id null",))
    native.check_added(
        {text: place for place, (text, _) in enumerate(scored)}, added, where, len(scored)
    )
    fallback = bool(model.byte_fallback)
    _check_bytes(added, fallback, where)
    size = max([len(scored), *(entry.id + 1 for entry in added)])
    texts: list[str | None] = [text for text, _ in scored] + [None] * (size - len(scored))
    for entry in added:
        texts[entry.id] = entry.text
    types = _types(texts, added, unk_id, fallback)
    scores = [score for _, score in scored] + [0.0] * (size - len(scored))
    pieces = tuple(
        Piece(text or "", score, kind)
        for text, score, kind in zip(texts, scores, types, strict=True)
    )
    return Vocabulary(
        id=vocabulary_id,
        algorithm=Algorithm.UNIGRAM,
        format="tokenizer.json",
        tokens=tuple(_spelling(piece) for piece in pieces),
        pieces=pieces,
        alphabet=Alphabet.CHARACTERS,
        rank_order=RankOrder.SCORES,
        normalizer=pipeline.normalizer,
        special_tokens=_specials(added),
        added_tokens=added,
        unk_id=unk_id,
        byte_fallback=fallback,
        source_path=source,
    )


def _check_bytes(added: tuple[AddedToken, ...], fallback: bool, where: str) -> None:
    """That no byte piece is an added token as well, as a piece has one type. Raises Unexpressed."""
    twice = [token.text for token in added if fallback and byte_of(token.text) is not None]
    if twice:
        raise Unexpressed(where, (f"the added token {shown_json(twice[0])}, a byte piece, too",))


def _types(
    texts: list[str | None], added: tuple[AddedToken, ...], unk_id: int | None, fallback: bool
) -> list[PieceType]:
    """SentencePiece's types, as far as the file tells them; holes are UNUSED."""
    types = [PieceType.UNUSED if text is None else PieceType.NORMAL for text in texts]
    if fallback:
        for token_id, text in enumerate(texts):
            if text is not None and byte_of(text) is not None:
                types[token_id] = PieceType.BYTE
    for entry in added:
        types[entry.id] = PieceType.CONTROL if entry.special else PieceType.USER_DEFINED
    if unk_id is not None:
        types[unk_id] = PieceType.UNKNOWN
    return types


def _spelling(piece: Piece) -> bytes | None:
    if piece.type in (PieceType.CONTROL, PieceType.UNKNOWN) or not piece.text:
        return None
    if piece.type is PieceType.BYTE:
        byte = byte_of(piece.text)
        return None if byte is None else bytes([byte])
    return piece.text.encode()


def _vocab(vocab: dict[str, Any] | None, where: str, *, shared: bool = False) -> dict[str, int]:
    """``model.vocab`` with its ids checked one by one, so that a fault names the token.

    shared: whether two tokens may have one id. Raises Unexpressed where they may not.
    """
    if vocab is None:
        raise VocabularyError(where, "model.vocab is no object of tokens", COPY)
    owner: dict[int, str] = {}
    for text, token_id in vocab.items():
        if type(token_id) is not int or not 0 <= token_id < MAX_IDS:
            raise VocabularyError(
                where,
                f"model.vocab: the id of {shown(text)} is {shown(token_id)}",
                f"ids go from 0 to {MAX_IDS - 1}",
            )
        other = owner.setdefault(token_id, text)
        if other is not text and not shared:
            tokens = f"{shown_json(other)} and {shown_json(text)}"
            raise Unexpressed(where, (f"the id {token_id} of two tokens, {tokens}",))
    return vocab


def _merges(model: _Bpe, vocab: dict[str, int], where: str) -> Merges:
    triples: list[tuple[int, int, int]] = []
    entries = model.merges or []
    check_count(len(entries), MAX_MERGES, "merges", where)
    for rank, entry in enumerate(entries):
        parts = entry.split(" ", 2) if isinstance(entry, str) else entry
        if len(parts) != 2 or not parts[0] or not parts[1]:
            raise VocabularyError(
                where,
                f"model.merges[{rank}] {shown(entry)} is no pair",
                "each is 'a b' or ['a', 'b']",
            )
        left, right = parts
        try:
            triples.append((vocab[left], vocab[right], vocab[left + right]))
        except KeyError as error:
            missing = shown(error.args[0])
            raise VocabularyError(
                where,
                f"model.merges[{rank}] {shown(entry)} needs the missing token {missing}",
                COPY,
            ) from None
    return Merges.of(triples)


def _check_affixes(model: _Bpe, where: str) -> None:
    options = ("continuing_subword_prefix", "end_of_word_suffix")
    given = [(field, getattr(model, field)) for field in options]
    steps = tuple(f"model.{field} {shown_json(value)}" for field, value in given if value)
    if steps:
        raise Unexpressed(where, steps)


def _specials(added: tuple[AddedToken, ...]) -> dict[str, int]:
    return {entry.text: entry.id for entry in added if entry.special}


def _size(vocab: dict[str, int], added: tuple[AddedToken, ...]) -> int:
    return max([*vocab.values(), *(entry.id for entry in added)]) + 1
