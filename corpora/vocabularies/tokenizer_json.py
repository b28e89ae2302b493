"""Hugging Face's tokenizer.json: BPE over bytes or characters, Unigram, WordPiece.

Whatever the plain model cannot say is refused by its field: a vocabulary that is half understood
would make false findings. Post-processors, decoders, truncation and padding are passed over: they
do not take part in the encoding of a text without its special tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corpora.vocabularies import tokenizer_json_steps as steps
from corpora.vocabularies import wordpiece_file
from corpora.vocabularies.byte_alphabet import unspell
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    Merges,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.reading import read_json
from corpora.vocabularies.sentencepiece_model import byte_of

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

_COPY = "get a complete copy of the file"


def load(path: Path, *, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a tokenizer.json."""
    return from_document(read_json(path), vocabulary_id or path.name, str(path))


def from_document(document: Json, vocabulary_id: str, source: str | None) -> Vocabulary:
    """The vocabulary of a parsed tokenizer.json; ``source`` names it in errors."""
    where = source or vocabulary_id
    model = document.get("model")
    if not isinstance(model, dict):
        raise VocabularyError(where, "has no model", "give a tokenizer.json")
    added = _added_tokens(document.get("added_tokens") or [], where)
    # Files of before 2021 have no type; only BPE has merges, only Unigram a list of pairs.
    kind = model.get("type") or ("BPE" if "merges" in model else "Unigram")
    if kind == "BPE":
        pipeline = steps.read(document, where)
        maker = _byte_bpe if pipeline.byte_level else _character_bpe
        return maker(model, added, pipeline, vocabulary_id, source)
    if kind == "Unigram":
        return _unigram(model, added, steps.read(document, where), vocabulary_id, source)
    if kind == "WordPiece":
        vocab = _vocab(model, where)
        return wordpiece_file.from_json(document, vocab, added, vocabulary_id, source)
    raise VocabularyError(
        where, f"model.type is {kind!r}", "BPE, Unigram and WordPiece are supported"
    )


def _added_tokens(entries: Any, where: str) -> tuple[AddedToken, ...]:
    try:
        return tuple(
            AddedToken(
                text=entry["content"],
                id=int(entry["id"]),
                special=bool(entry.get("special", False)),
                single_word=bool(entry.get("single_word", False)),
                lstrip=bool(entry.get("lstrip", False)),
                rstrip=bool(entry.get("rstrip", False)),
                normalized=bool(entry.get("normalized", False)),
            )
            for entry in entries
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VocabularyError(where, f"added_tokens is malformed ({error!r})", _COPY) from None


def _byte_bpe(
    model: Json,
    added: tuple[AddedToken, ...],
    pipeline: steps.Pipeline,
    vocabulary_id: str,
    source: str | None,
) -> Vocabulary:
    where = source or vocabulary_id
    vocab = _vocab(model, where)
    _refuse_bpe_options(model, where)
    tokens: list[bytes | None] = [None] * _size(vocab, added)
    aside = {token.id: token for token in added}
    for text, token_id in vocab.items():
        if token_id in aside:
            continue
        token = unspell(text)
        if token is None:
            raise VocabularyError(
                where,
                f"model.vocab: the token {text!r} is not in the byte alphabet",
                "list it under added_tokens",
            )
        tokens[token_id] = token
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
        ignore_merges=bool(model.get("ignore_merges", False)),
        source_path=source,
    )


def _character_bpe(
    model: Json,
    added: tuple[AddedToken, ...],
    pipeline: steps.Pipeline,
    vocabulary_id: str,
    source: str | None,
) -> Vocabulary:
    """BPE in the manner of Llama 2. Its pieces have no scores: all are 0.0."""
    where = source or vocabulary_id
    vocab = _vocab(model, where)
    _refuse_bpe_options(model, where)
    if pipeline.splits or pipeline.words:
        raise VocabularyError(
            where, "pre_tokenizer splits before a BPE over characters", "give a byte-level one"
        )
    fallback = bool(model.get("byte_fallback", False))
    unk = model.get("unk_token")
    if unk is not None and unk not in vocab:
        raise VocabularyError(where, f"model.unk_token {unk!r} is not in model.vocab", _COPY)
    if unk is not None and not fallback and not model.get("fuse_unk", False):
        raise VocabularyError(
            where, "model.fuse_unk is false", "runs of unknown characters must be one token"
        )
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
        ignore_merges=bool(model.get("ignore_merges", False)),
        source_path=source,
    )


def _unigram(
    model: Json,
    added: tuple[AddedToken, ...],
    pipeline: steps.Pipeline,
    vocabulary_id: str,
    source: str | None,
) -> Vocabulary:
    where = source or vocabulary_id
    if pipeline.splits or pipeline.byte_level:
        raise VocabularyError(
            where, "pre_tokenizer is not Metaspace", "a Unigram model needs Metaspace or none"
        )
    try:
        scored = [(str(text), float(score)) for text, score in model["vocab"]]
    except (KeyError, TypeError, ValueError):
        raise VocabularyError(where, "model.vocab is no list of [text, score]", _COPY) from None
    unk_id = model.get("unk_id")
    if unk_id is not None and not (isinstance(unk_id, int) and 0 <= unk_id < len(scored)):
        raise VocabularyError(where, f"model.unk_id is {unk_id!r}", "it must be a piece's id")
    fallback = bool(model.get("byte_fallback", False))
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


def _vocab(model: Json, where: str) -> dict[str, int]:
    vocab = model.get("vocab")
    if not isinstance(vocab, dict) or not vocab:
        raise VocabularyError(where, "model.vocab is no object of tokens", _COPY)
    owner: dict[int, str] = {}
    for text, token_id in vocab.items():
        if not isinstance(token_id, int) or isinstance(token_id, bool) or token_id < 0:
            raise VocabularyError(
                where, f"model.vocab: the id of {text!r} is {token_id!r}", "ids are counts"
            )
        if token_id in owner:
            raise VocabularyError(
                where,
                f"model.vocab: {owner[token_id]!r} and {text!r} share the id {token_id}",
                "renumber one of them",
            )
        owner[token_id] = text
    return vocab


def _merges(model: Json, vocab: dict[str, int], where: str) -> Merges:
    triples: list[tuple[int, int, int]] = []
    for rank, entry in enumerate(model.get("merges") or []):
        parts = entry.split(" ") if isinstance(entry, str) else entry
        if not isinstance(parts, list) or len(parts) != 2:
            raise VocabularyError(
                where, f"model.merges[{rank}] {entry!r} is no pair", "each is 'a b' or ['a', 'b']"
            )
        left, right = parts
        try:
            triples.append((vocab[left], vocab[right], vocab[left + right]))
        except (KeyError, TypeError) as error:
            raise VocabularyError(
                where, f"model.merges[{rank}] {entry!r} needs the missing token {error}", _COPY
            ) from None
    return Merges.of(triples)


def _refuse_bpe_options(model: Json, where: str) -> None:
    for field in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(field):
            raise VocabularyError(
                where, f"model.{field} is {model[field]!r}", "only files without it are supported"
            )


def _specials(added: tuple[AddedToken, ...]) -> dict[str, int]:
    return {entry.text: entry.id for entry in added if entry.special}


def _size(vocab: dict[str, int], added: tuple[AddedToken, ...]) -> int:
    return max([*vocab.values(), *(entry.id for entry in added)]) + 1
