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
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.reading import HALF, decode_json, read_bytes, shown, shown_json
from corpora.vocabularies.sentencepiece_model import byte_of, spellings
from corpora.vocabularies.tokenizer_json_added import kept_of, shared_ids, with_kept

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

_Id = Annotated[int, msgspec.Meta(ge=0, lt=MAX_IDS)]


class _AddedEntry(msgspec.Struct, rename={"text": "content"}):
    id: _Id
    text: str
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
    base = Vocabulary(
        id=vocabulary_id,
        algorithm=Algorithm.BPE,
        format="tokenizer.json",
        tokens=(),
        rank_order=RankOrder.MERGES,
        special_tokens={token.text: token.id for token in added if token.special},
        added_tokens=added,
        source_path=source,
    )
    try:
        vocabulary = _expressed(document, base, where)
        unlike = native.unlike(document.normalizer, document.pre_tokenizer, vocabulary)
        if unlike:
            raise Unexpressed(where, unlike)
    except Unexpressed as error:
        vocabulary = _unexpressed(document, base, where)
        check_tokens(vocabulary.tokens, where)
        shared = shared_ids(document.model, added, where)
        return replace(vocabulary, native=replace(file, unexpressed=error.steps, shared=shared))
    check_tokens(vocabulary.tokens, where)
    return replace(vocabulary, native=file)


def _expressed(document: _File, base: Vocabulary, where: str) -> Vocabulary:
    """The vocabulary in terms of the plain model. Raises Unexpressed where that has none.

    base: a vocabulary without tokens, which has what all kinds of models have.
    """
    if bytes(memoryview(document.model)[:1]) != b"{":
        raise VocabularyError(where, "has no model", f"give a tokenizer.json; {HALF}")
    kind, added = _kind(document, where), base.added_tokens
    if kind == "BPE":
        bpe = decode_json(document.model, _Bpe, where, "model")
        pipeline = steps.read(document.normalizer, document.pre_tokenizer, where)
        vocab = _vocab(bpe.vocab, where)
        if not vocab:
            raise Unexpressed(where, ("model.vocab without a token",))
        _check_affixes(bpe, where)
        native.check_added(vocab, added, where)
        size = max([*vocab.values(), *(entry.id for entry in added)]) + 1
        texts: list[str | None] = [None] * size
        for text, token_id in vocab.items():
            texts[token_id] = text
        of_kind = _byte_bpe if pipeline.byte_level else _character_bpe
        made = of_kind(
            bpe, vocab, texts, replace(base, normalizer=pipeline.normalizer), pipeline, where
        )
        return replace(made, merges=_merges(bpe, vocab, where))
    if kind == "Unigram":
        unigram = decode_json(document.model, _Unigram, where, "model")
        pipeline = steps.read(document.normalizer, document.pre_tokenizer, where)
        return _unigram(unigram, replace(base, normalizer=pipeline.normalizer), pipeline, where)
    if kind == "WordPiece":
        wordpiece = decode_json(document.model, _WordPiece, where, "model")
        native.check_added(_vocab(wordpiece.vocab, where), added, where)
        return wordpiece_file.from_json(
            wordpiece_file.Model(
                _vocab(wordpiece.vocab, where),
                wordpiece.unk_token,
                wordpiece.continuing_subword_prefix,
                wordpiece.max_input_chars_per_word,
            ),
            document.normalizer,
            document.pre_tokenizer,
            added,
            base.id,
            base.source_path,
        )
    if kind == "WordLevel":
        raise Unexpressed(where, ("model WordLevel",))
    raise VocabularyError(
        where, f"model.type is {shown(kind)}", "there are BPE, Unigram, WordPiece and WordLevel"
    )


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
    return tuple(AddedToken(**msgspec.structs.asdict(entry)) for entry in entries)


def _unexpressed(document: _File, base: Vocabulary, where: str) -> Vocabulary:
    """What is known of a vocabulary that the plain model cannot express: tokens, by their texts."""
    kind, added = _kind(document, where), base.added_tokens
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
    return replace(
        base,
        algorithm=algorithm,
        tokens=tuple(tokens),
        alphabet=Alphabet.BYTES if byte_level else Alphabet.CHARACTERS,
        normalizer=Normalizer(escape_whitespaces=marked),
        unk_id=unk_id,
    )


def _byte_bpe(
    model: _Bpe,
    vocab: dict[str, int],
    texts: list[str | None],
    base: Vocabulary,
    pipeline: steps.Pipeline,
    where: str,
) -> Vocabulary:
    """Byte-level BPE, but for its merges. texts: of each id, without added tokens."""
    tokens: list[bytes | None] = [None] * len(texts)
    aside = {token.id for token in base.added_tokens}
    for text, token_id in vocab.items():
        if token_id in aside:
            continue
        token = unspell(text)
        if token is None:
            raise Unexpressed(where, (f"the token {shown_json(text)} beyond the byte alphabet",))
        tokens[token_id] = token or None  # an empty text, which no merge makes, is a hole
    for entry in base.added_tokens:
        tokens[entry.id] = None if entry.special else entry.text.encode()
    return replace(
        base,
        tokens=tuple(tokens),
        splits=pipeline.splits,
        ignore_merges=bool(model.ignore_merges),
    )


def _character_bpe(
    model: _Bpe,
    vocab: dict[str, int],
    texts: list[str | None],
    base: Vocabulary,
    pipeline: steps.Pipeline,
    where: str,
) -> Vocabulary:
    """BPE in the manner of Llama 2, but for its merges. Its pieces have no scores: all are 0.0."""
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
    unk_id = None if unk is None else vocab[unk]
    return _of_pieces(base, texts, [0.0] * len(texts), unk_id, fallback, where)


def _unigram(model: _Unigram, base: Vocabulary, pipeline: steps.Pipeline, where: str) -> Vocabulary:
    if pipeline.splits or pipeline.byte_level:
        raise Unexpressed(where, ("a pre_tokenizer other than Metaspace before a Unigram model",))
    scored, unk_id, added = model.vocab, model.unk_id, base.added_tokens
    check_count(len(scored), MAX_IDS, "pieces", where)
    if unk_id is not None and not 0 <= unk_id < len(scored):
        raise VocabularyError(where, f"model.unk_id is {unk_id}", "it must be a piece's id")
    if unk_id is None:
        raise Unexpressed(where, ("model.unk_id null",))
    native.check_added(
        {text: place for place, (text, _) in enumerate(scored)}, added, where, len(scored)
    )
    beyond = max([len(scored), *(entry.id + 1 for entry in added)]) - len(scored)
    texts: list[str | None] = [*(text for text, _ in scored), *[None] * beyond]
    scores = [*(score for _, score in scored), *[0.0] * beyond]
    base = replace(base, algorithm=Algorithm.UNIGRAM, rank_order=RankOrder.SCORES)
    return _of_pieces(base, texts, scores, unk_id, bool(model.byte_fallback), where)


def _of_pieces(
    base: Vocabulary,
    texts: list[str | None],
    scores: list[float],
    unk_id: int | None,
    fallback: bool,
    where: str,
) -> Vocabulary:
    """A vocabulary of SentencePiece's pieces, with their types as far as the file tells them.

    texts: of each id, None for holes, which are UNUSED, and for added tokens.
    """
    twice = [t.text for t in base.added_tokens if fallback and byte_of(t.text) is not None]
    if twice:  # a piece has one type
        raise Unexpressed(where, (f"the added token {shown_json(twice[0])}, a byte piece, too",))
    for entry in base.added_tokens:
        texts[entry.id] = entry.text
    types = [PieceType.UNUSED if text is None else PieceType.NORMAL for text in texts]
    for token_id, text in enumerate(texts):
        if fallback and text is not None and byte_of(text) is not None:
            types[token_id] = PieceType.BYTE
    for entry in base.added_tokens:
        types[entry.id] = PieceType.CONTROL if entry.special else PieceType.USER_DEFINED
    if unk_id is not None:
        types[unk_id] = PieceType.UNKNOWN
    pieces = tuple(map(Piece, [text or "" for text in texts], scores, types))
    return replace(
        base,
        tokens=tuple(spellings(Pieces.of(pieces))),
        pieces=pieces,
        alphabet=Alphabet.CHARACTERS,
        unk_id=unk_id,
        byte_fallback=fallback,
    )


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
