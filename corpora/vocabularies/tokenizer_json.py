"""Hugging Face's tokenizer.json: BPE over bytes or characters, Unigram, WordPiece.

What the plain model cannot say is told by its field, and the vocabulary is one that only those
run who are given the file: half understood, it would make false findings. Post-processors,
decoders, truncation and padding are passed over: they do not take part in the encoding of a text
without its special tokens.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

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
    PieceType,
    RankOrder,
    Unexpressed,
    Vocabulary,
    VocabularyError,
    WordPieceRules,
)
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.reading import HALF, decode_json, shown, shown_json
from corpora.vocabularies.sentencepiece_model import byte_of, spellings
from corpora.vocabularies.tokenizer_json_added import check_added, kept

if TYPE_CHECKING:
    from collections.abc import Collection

    from corpora.vocabularies.tokenizer_json_added import Kept

Json = dict[str, Any]


class _AddedEntry(msgspec.Struct, rename={"text": "content"}):
    id: Annotated[int, msgspec.Meta(ge=0, lt=MAX_IDS)]
    text: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class _Model(msgspec.Struct):
    """The model of a file, of any kind; what is not set tells the kind of an old file's model."""

    type: str | None = None
    vocab: dict[str, Any] | list[tuple[str, float]] | None = None
    merges: list[str | list[str]] | UnsetType | None = UNSET
    unk_token: str | UnsetType | None = UNSET
    unk_id: int | None = None
    fuse_unk: bool | None = None
    byte_fallback: bool | None = None
    ignore_merges: bool | None = None
    dropout: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    continuing_subword_prefix: str | UnsetType | None = UNSET
    end_of_word_suffix: str | None = None
    max_input_chars_per_word: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] | UnsetType | None = (
        UNSET
    )

    def kind(self, where: str) -> str:
        """Its type. Raises VocabularyError for one that is none."""
        there = [name for name in self.__struct_fields__ if getattr(self, name) is not UNSET]
        kind = kind_of(self.type, there, mapping=isinstance(self.vocab, dict))
        if kind not in _KINDS:
            kinds = "it must be BPE, Unigram, WordPiece or WordLevel"
            raise VocabularyError(where, f"model.type is {shown(kind)}", kinds)
        return kind


class _Truncation(msgspec.Struct):
    max_length: Annotated[int, msgspec.Meta(ge=0)]
    stride: Annotated[int, msgspec.Meta(ge=0)]
    strategy: Literal["LongestFirst", "OnlyFirst", "OnlySecond"]
    direction: Literal["Left", "Right"] = "Right"


class _Padding(msgspec.Struct):
    pad_id: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
    pad_type_id: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
    pad_token: str
    strategy: Literal["BatchLongest"] | dict[Literal["Fixed"], int]
    direction: Literal["Left", "Right"]
    pad_to_multiple_of: Annotated[int, msgspec.Meta(ge=0)] | None = None


class _File(msgspec.Struct):
    """The steps are decoded one by one. Truncation and padding are checked, and not used."""

    model: _Model | None = None
    added_tokens: list[_AddedEntry] | None = None
    truncation: _Truncation | None = None
    padding: _Padding | None = None
    normalizer: Any = None
    pre_tokenizer: Any = None


_KINDS = ("BPE", "Unigram", "WordPiece", "WordLevel")

_UNKNOWN = {"WordPiece": "[UNK]", "WordLevel": "<unk>"}
"""The unknown token of a model that does not name it, by the model's type."""

_WORDPIECE_FIELDS = {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word"}
"""Without any of these the library takes no model for WordPiece."""


def from_document(document: Json, vocabulary_id: str, source: str | None) -> Vocabulary:
    """The vocabulary of a parsed tokenizer.json; ``source`` names it in errors."""
    return from_bytes(json.dumps(document).encode(), vocabulary_id, source)


def from_bytes(content: bytes, vocabulary_id: str, source: str | None) -> Vocabulary:
    """The vocabulary of the content of a tokenizer.json; ``source`` names it in errors."""
    where = source or vocabulary_id
    document = decode_json(content, _File, where)
    model = document.model
    if model is None:
        raise VocabularyError(where, "has no model", f"give a tokenizer.json; {HALF}")
    kind = model.kind(where)
    ids = _ids(model, kind, where)
    entries = document.added_tokens or ()
    check_count(len(entries), MAX_IDS, "added tokens", where)
    added = [AddedToken(**msgspec.structs.asdict(entry)) for entry in entries]
    found = kept(ids, len(model.vocab or ()), added)
    dropout = (model.dropout or 0.0) if kind == "BPE" else 0.0
    file = _file(content, found, dropout)
    blocks = [one for one in ("truncation", "padding") if getattr(document, one)]
    if blocks:
        said = f"without the file's {' and '.join(blocks)}, whole texts are compared"
        file = replace(file, remarks=(said,))
    pipeline = steps.read(document.normalizer, document.pre_tokenizer, where)
    over_bytes = kind == "BPE" and pipeline.byte_level
    base = Vocabulary(
        id=vocabulary_id,
        algorithm=Algorithm(kind.lower()),
        format="tokenizer.json",
        tokens=(),
        alphabet=Alphabet.BYTES if over_bytes else Alphabet.CHARACTERS,
        rank_order=RankOrder.MERGES,
        normalizer=pipeline.normalizer,
        splits=pipeline.splits if over_bytes else (),
        special_tokens={token.text: token.id for token in found.tokens if token.special},
        added_tokens=found.tokens,
        source_path=source,
        wordpiece=_rules(model, pipeline.flags) if kind == "WordPiece" else None,
    )
    try:
        vocabulary = _expressed(model, ids, base, pipeline, where)
    except Unexpressed as error:
        vocabulary = _unexpressed(model, kind, ids, base, pipeline, where)
        spelled = ids | {token.text: token.id for token in found.tokens}
        shared = frozenset(i for i, many in Counter(spelled.values()).items() if many > 1)
        file = replace(file, unexpressed=error.steps, shared=shared)
    check_tokens(vocabulary.tokens, where)
    return replace(vocabulary, native=file)


def kind_of(kind: str | None, fields: Collection[str], *, mapping: bool) -> str:
    """The type of a model. Files of before 2021 name none, and the library goes by its fields.

    fields: those that it has. mapping: whether ``vocab`` is an object, and no list of pairs.
    """
    if kind:
        return kind
    if "merges" in fields:
        return "BPE"
    if not mapping:
        return "Unigram"
    return "WordPiece" if _WORDPIECE_FIELDS.issubset(fields) else "WordLevel"


def _ids(model: _Model, kind: str, where: str) -> dict[str, int]:
    """The ids of the model's tokens, checked one by one, so that a fault names the token."""
    vocab = model.vocab
    if kind == "Unigram":
        if not isinstance(vocab, list) or not vocab:
            raise VocabularyError(where, "model.vocab: expected `array` of length >= 1", COPY)
        check_count(len(vocab), MAX_IDS, "pieces", where)
        return {text: place for place, (text, _) in enumerate(vocab)}
    if not isinstance(vocab, dict):
        raise VocabularyError(where, "model.vocab is not an object of tokens", COPY)
    for text, token_id in vocab.items():
        if type(token_id) is not int or not 0 <= token_id < MAX_IDS:
            raise VocabularyError(
                where,
                f"model.vocab: the id of {shown(text)} is {shown(token_id)}",
                f"ids go from 0 to {MAX_IDS - 1}",
            )
    return vocab


def _rules(model: _Model, flags: dict[str, bool]) -> WordPieceRules:
    prefix, most = model.continuing_subword_prefix, model.max_input_chars_per_word
    return WordPieceRules(
        **flags,
        prefix=prefix if isinstance(prefix, str) else "##",
        max_word=most if isinstance(most, int) else 100,
    )


def _file(content: bytes, found: Kept, dropout: float) -> NativeFile:
    """The file that all are given: without dropout, and with the added tokens that are kept."""
    if not dropout and not found.remark:
        return NativeFile(content)
    document: Json = json.loads(content)
    if dropout:
        document["model"]["dropout"] = None
    if found.remark:
        entries = document["added_tokens"]
        document["added_tokens"] = [
            {**entries[place], "id": token.id}
            for place, token in zip(found.places, found.tokens, strict=True)
        ]
    given = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(content).hexdigest()
    return NativeFile(given, dropout=dropout, sha256=digest, understood=found.remark)


@lru_cache(maxsize=4)
def made_by_model(vocabulary: Vocabulary) -> frozenset[str]:
    """The texts of the added tokens that the file's model makes by itself, of ordinary text.

    Empty for other formats. Byte-pair encoding makes what a merge gives, single characters, byte
    pieces, and with ``ignore_merges`` any token; the other models whatever their vocabulary has.
    """
    if vocabulary.native is None or vocabulary.format != "tokenizer.json":
        return frozenset()
    model: Json = json.loads(vocabulary.native.content)["model"]
    vocab, added = model["vocab"], {token.text for token in vocabulary.added_tokens}
    if isinstance(vocab, list):
        return frozenset(added.intersection(text for text, _ in vocab))
    known = added.intersection(vocab)
    if vocabulary.algorithm is not Algorithm.BPE or model.get("ignore_merges"):
        return frozenset(known)
    merges = (one.split(" ") if isinstance(one, str) else one for one in model.get("merges") or ())
    prefix = len(model.get("continuing_subword_prefix") or "")
    merged = {left + right[prefix:] for left, right in merges}
    bytes_too = bool(model.get("byte_fallback"))
    return frozenset(
        text
        for text in known
        if text in merged or len(text) == 1 or (bytes_too and byte_of(text) is not None)
    )


# --- the plain model ------------------------------------------------------------------------------


def _expressed(
    model: _Model, ids: dict[str, int], base: Vocabulary, pipeline: steps.Pipeline, where: str
) -> Vocabulary:
    """The vocabulary in terms of the plain model. Raises Unexpressed where that has none.

    base: a vocabulary without tokens, which has what all kinds of models have.
    """
    if base.algorithm is Algorithm.WORDLEVEL:
        raise Unexpressed(where, ("model WordLevel",))
    unsaid = steps.unlike(pipeline, base)
    if unsaid:
        raise Unexpressed(where, unsaid)
    owner: dict[int, str] = {}
    for text, token_id in ids.items():
        other = owner.setdefault(token_id, text)
        if other is not text:
            tokens = f"{shown_json(other)} and {shown_json(text)}"
            raise Unexpressed(where, (f"the id {token_id} of two tokens, {tokens}",))
    count = len(model.vocab or ())
    check_added(ids, base.added_tokens, where, count)
    ends = [*ids.values(), *(entry.id for entry in base.added_tokens)]
    size = max([*ends, count - 1], default=-1) + 1
    if base.algorithm is Algorithm.UNIGRAM:
        return _unigram(model, base, size, where)
    texts = [owner.get(token_id) for token_id in range(size)]
    if base.algorithm is Algorithm.WORDPIECE:
        return _wordpiece(model, ids, texts, base, where)
    if not ids:
        raise Unexpressed(where, ("model.vocab without a token",))
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if value := getattr(model, affix):
            raise Unexpressed(where, (f"model.{affix} {shown_json(value)}",))
    of_kind = _byte_bpe if pipeline.byte_level else _character_bpe
    return replace(of_kind(model, ids, texts, base, where), merges=_merges(model, ids, where))


def _unexpressed(
    model: _Model,
    kind: str,
    ids: dict[str, int],
    base: Vocabulary,
    pipeline: steps.Pipeline,
    where: str,
) -> Vocabulary:
    """What is known of a vocabulary that the plain model cannot express: tokens, by their texts."""
    unk_id, ending = model.unk_id, ""
    if kind != "Unigram":
        unk_id = ids.get(model.unk_token or _UNKNOWN.get(kind, ""))
        ending = model.end_of_word_suffix or ""
    every = [*ids.values(), *(entry.id for entry in base.added_tokens)]
    if not every:
        raise VocabularyError(where, "has no tokens", "give a tokenizer that was trained")
    tokens: list[bytes | None] = [None] * (max(every) + 1)
    for text, token_id in ids.items():
        bare = text.removesuffix(ending) or text
        spelled = unspell(bare) if pipeline.byte_level else None
        tokens[token_id] = (bare.encode() if spelled is None else spelled) or None
    for entry in base.added_tokens:
        tokens[entry.id] = None if entry.special else entry.text.encode()
    _check_unknown(unk_id, len(tokens), where)
    return replace(
        base,
        tokens=tuple(tokens),
        alphabet=Alphabet.BYTES if pipeline.byte_level else Alphabet.CHARACTERS,
        splits=(),
        normalizer=Normalizer(escape_whitespaces=pipeline.marks_spaces),
        unk_id=unk_id,
        wordpiece=None,
    )


def _check_unknown(unk_id: int | None, count: int, where: str) -> None:
    if unk_id is not None and not 0 <= unk_id < count:
        raise VocabularyError(where, f"model.unk_id is {unk_id}", "it must be a piece's id")


def _byte_bpe(
    model: _Model, ids: dict[str, int], texts: list[str | None], base: Vocabulary, where: str
) -> Vocabulary:
    """Byte-level BPE, but for its merges. texts: of each id, without added tokens."""
    tokens: list[bytes | None] = [None] * len(texts)
    aside = {token.id for token in base.added_tokens}
    for text, token_id in ids.items():
        if token_id in aside:
            continue
        token = unspell(text)
        if token is None:
            raise Unexpressed(where, (f"the token {shown_json(text)} beyond the byte alphabet",))
        tokens[token_id] = token or None  # an empty text, which no merge makes, is a hole
    for entry in base.added_tokens:
        tokens[entry.id] = None if entry.special else entry.text.encode()
    return replace(base, tokens=tuple(tokens), ignore_merges=bool(model.ignore_merges))


def _character_bpe(
    model: _Model, ids: dict[str, int], texts: list[str | None], base: Vocabulary, where: str
) -> Vocabulary:
    """BPE in the manner of Llama 2, but for its merges. Its pieces have no scores: all are 0.0."""
    fallback, unk = bool(model.byte_fallback), model.unk_token or None
    if unk is not None and unk not in ids:
        raise Unexpressed(where, (f"model.unk_token {shown_json(unk)}, which is not a token",))
    complete = fallback and all(f"<0x{byte:02X}>" in ids for byte in range(256))
    if unk is not None and not complete and not model.fuse_unk:
        raise Unexpressed(where, ("model.fuse_unk false",))
    if model.ignore_merges:
        raise Unexpressed(where, ("model.ignore_merges of a BPE over characters",))
    unk_id = None if unk is None else ids[unk]
    return _of_pieces(base, texts, [0.0] * len(texts), unk_id, fallback, where)


def _unigram(model: _Model, base: Vocabulary, size: int, where: str) -> Vocabulary:
    assert isinstance(model.vocab, list)
    _check_unknown(model.unk_id, len(model.vocab), where)
    if model.unk_id is None:
        raise Unexpressed(where, ("model.unk_id null",))
    beyond = size - len(model.vocab)
    texts: list[str | None] = [*(text for text, _ in model.vocab), *[None] * beyond]
    scores = [*(score for _, score in model.vocab), *[0.0] * beyond]
    base = replace(base, rank_order=RankOrder.SCORES)
    return _of_pieces(base, texts, scores, model.unk_id, bool(model.byte_fallback), where)


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
    for entry in base.added_tokens:
        if fallback and byte_of(entry.text) is not None:  # a piece has one type
            raise Unexpressed(
                where, (f"the added token {shown_json(entry.text)}, a byte piece, too",)
            )
        texts[entry.id] = entry.text
    types = [PieceType.UNUSED if text is None else PieceType.NORMAL for text in texts]
    for token_id, text in enumerate(texts):
        if fallback and text is not None and byte_of(text) is not None:
            types[token_id] = PieceType.BYTE
    for entry in base.added_tokens:
        types[entry.id] = PieceType.CONTROL if entry.special else PieceType.USER_DEFINED
    if unk_id is not None:
        types[unk_id] = PieceType.UNKNOWN
    pieces = Pieces.of_columns([text or "" for text in texts], scores, bytes(types))
    return replace(
        base,
        tokens=tuple(spellings(pieces)),
        pieces=pieces,
        unk_id=unk_id,
        byte_fallback=fallback,
    )


def _wordpiece(
    model: _Model, ids: dict[str, int], texts: list[str | None], base: Vocabulary, where: str
) -> Vocabulary:
    unk = _UNKNOWN["WordPiece"] if model.unk_token is UNSET else model.unk_token
    if not unk:
        raise VocabularyError(where, "model.unk_token is empty", COPY)
    if unk not in ids:
        raise Unexpressed(where, (f"model.unk_token {shown_json(unk)}, which is not a token",))
    for entry in base.added_tokens:
        if not entry.special:
            token = f"the added token {shown_json(entry.text)} that is not special"
            raise Unexpressed(where, (f"{token}, of a WordPiece model",))
        texts[entry.id] = entry.text
    assert base.wordpiece is not None
    return wordpiece_file.make(
        base.id,
        texts,
        {unk: ids[unk], **base.special_tokens},
        base.wordpiece,
        unk_id=ids[unk],
        added=base.added_tokens,
        file_format="tokenizer.json",
        source_path=base.source_path,
    )


def _merges(model: _Model, ids: dict[str, int], where: str) -> Merges:
    # Of a merge that stands twice the last one counts, as in the library's map.
    triples: dict[tuple[int, int], int] = {}
    entries = model.merges or []
    check_count(len(entries), MAX_MERGES, "merges", where)
    for rank, entry in enumerate(entries):
        parts = entry.split(" ", 2) if isinstance(entry, str) else entry
        if len(parts) != 2 or not parts[0] or not parts[1]:
            raise VocabularyError(
                where,
                f"model.merges[{rank}] {shown(entry)} is not a pair",
                "each is 'a b' or ['a', 'b']",
            )
        left, right = parts
        try:
            pair, merged = (ids[left], ids[right]), ids[left + right]
        except KeyError as error:
            missing = shown(error.args[0])
            raise VocabularyError(
                where,
                f"model.merges[{rank}] {shown(entry)} needs the missing token {missing}",
                COPY,
            ) from None
        triples.pop(pair, None)
        triples[pair] = merged
    return Merges.of([(*pair, merged) for pair, merged in triples.items()])
