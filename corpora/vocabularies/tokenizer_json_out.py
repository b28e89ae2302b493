"""A Hugging Face tokenizer.json for libraries: the user's own, or one written from the plain model.

Models are written as transformers' converters write them: see :mod:`tokenizer_json_steps`.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.merges import encode_by_pairs, halves, pair_table
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    PieceType,
    RankOrder,
    VocabularyError,
)
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.tokenizer_json_steps import decodes_alike, steps_of
from corpora.vocabularies.wordpiece_file import rules_of, texts_of

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

Json = dict[str, Any]


# --- the user's own file --------------------------------------------------------------------------


def given(vocabulary: Vocabulary, *, specials: bool = True, post_processor: bool = True) -> bytes:
    """The vocabulary's own file for a library that reads it.

    Truncation and padding are left out, which are no part of encoding a text, and a decoder that
    the plain model does not have, where it has all the rest: then decoders are compared by that
    which it has. specials: with the special tokens, for who can leave them unread or is to read
    them. post_processor: with it, for who leaves it aside when asked for the tokens of the text.
    Where there is nothing to leave out, it is the user's bytes.
    """
    native = vocabulary.native
    assert native is not None
    document: Json = json.loads(native.content)
    changes: Json = dict.fromkeys(("truncation", "padding"))
    if not post_processor:
        changes["post_processor"] = None
    if not specials and document.get("added_tokens"):
        changes["added_tokens"] = [t for t in document["added_tokens"] if not t.get("special")]
    if not native.unexpressed:
        ours = steps_of(vocabulary)["decoder"]
        if not decodes_alike(document.get("decoder"), ours):
            changes["decoder"] = ours
    changes = {name: value for name, value in changes.items() if document.get(name) != value}
    return _encoded({**document, **changes}) if changes else native.content


def with_dropout(content: bytes, dropout: float) -> bytes:
    """A file with its dropout put back."""
    document: Json = json.loads(content)
    document["model"]["dropout"] = dropout
    return _encoded(document)


def _encoded(document: Json) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


# --- a file of the plain model --------------------------------------------------------------------


def trouble(vocabulary: Vocabulary) -> str | None:
    """Why no tokenizer.json can be made of a vocabulary, in one line; None if one can."""
    if vocabulary.normalizer.treat_whitespace_as_suffix:
        return "treat_whitespace_as_suffix is set, and a tokenizer.json has no such mode"
    if vocabulary.algorithm is Algorithm.UNIGRAM:
        for piece_id, score in enumerate(Pieces.of(vocabulary.pieces).scores):
            if not math.isfinite(score):
                return f"piece {piece_id} has the score {score}, which a tokenizer.json cannot have"
    return None


def to_tokenizer_json(vocabulary: Vocabulary, pretokenize: bool) -> str:
    """The text of a tokenizer.json that encodes as ``vocabulary``.

    pretokenize: with the splits of byte-level BPE, or the whole text as one piece. Vocabularies
    of SentencePiece have no splits, and give the same file either way.

    VocabularyError for what the format cannot say: white space as suffix, scores that are not
    numbers.
    """
    fault = trouble(vocabulary)
    if fault is not None:
        raise VocabularyError(vocabulary.id, fault, "give the file that it was made from")
    added = _added_tokens(vocabulary)
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        model = _wordpiece(vocabulary)
    elif vocabulary.algorithm is Algorithm.UNIGRAM:
        model = _unigram(vocabulary)
    elif vocabulary.alphabet is Alphabet.CHARACTERS:
        model = _characters(vocabulary)
    else:
        model = _bytes(vocabulary, added, splits=pretokenize and bool(vocabulary.splits))
    document: Json = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_entry(token) for token in added],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        **steps_of(vocabulary, pretokenize=pretokenize),
        "model": model,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _added_tokens(vocabulary: Vocabulary) -> list[AddedToken]:
    """The file's own; else special tokens as special and user-defined symbols as ordinary ones."""
    added = list(vocabulary.added_tokens)
    if not added:
        added = [AddedToken(text, i, special=True) for text, i in vocabulary.special_tokens.items()]
        added += [
            AddedToken(piece.text, piece_id)
            for piece_id, piece in enumerate(vocabulary.pieces)
            if piece.type is PieceType.USER_DEFINED
        ]
    return sorted(added, key=lambda token: token.id)


def _entry(token: AddedToken) -> Json:
    return {
        "id": token.id,
        "content": token.text,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }


def _bytes(vocabulary: Vocabulary, added: list[AddedToken], *, splits: bool) -> Json:
    spelled = ["" if token is None else spell(token) for token in vocabulary.tokens]
    aside = {token.id for token in added}
    vocab: dict[str, int] = {}
    for token_id, text in enumerate(spelled):
        if text and token_id not in aside:
            vocab.setdefault(text, token_id)
    merges = [(spelled[left], spelled[right]) for left, right, _ in merge_list(vocabulary)]
    ignore_merges = vocabulary.ignore_merges
    # The library ignores the ids of `added_tokens`: it takes that of `vocab`, else the next free.
    if [token.id for token in added] != list(range(len(vocab), len(vocab) + len(added))):
        for token in added:
            vocab.setdefault(token.text, token.id)
        if ignore_merges and not splits and _all_proper(vocabulary):
            # Without effect on tokens, but a special token in `vocab` would match a whole text.
            ignore_merges = False
    return _bpe_model(vocab, merges, ignore_merges=ignore_merges)


def _characters(vocabulary: Vocabulary) -> Json:
    texts = [piece.text for piece in vocabulary.pieces]
    vocab: dict[str, int] = {}
    for token_id, text in enumerate(texts):
        vocab.setdefault(text, token_id)
    return _bpe_model(
        vocab,
        [(texts[left], texts[right]) for left, right, _ in merge_list(vocabulary)],
        unk_token=None if vocabulary.unk_id is None else texts[vocabulary.unk_id],
        fuse_unk=True,
        byte_fallback=vocabulary.byte_fallback,
    )


def _bpe_model(
    vocab: dict[str, int],
    merges: list[tuple[str, str]],
    *,
    unk_token: str | None = None,
    fuse_unk: bool = False,
    byte_fallback: bool = False,
    ignore_merges: bool = False,
) -> Json:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unk_token,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": fuse_unk,
        "byte_fallback": byte_fallback,
        "ignore_merges": ignore_merges,
        "vocab": vocab,
        "merges": _listed(merges),
    }


def _listed(merges: list[tuple[str, str]]) -> list[str] | list[tuple[str, str]]:
    """Merges with a space between, as releases of tokenizers before 0.20 read them alone.

    As pairs where that would be read otherwise: a token has a space, or a line that of a version.
    """
    lines = [f"{left} {right}" for left, right in merges]
    if any(line.count(" ") > 1 or line.startswith("#version") for line in lines):
        return merges
    return lines


def _unigram(vocabulary: Vocabulary) -> Json:
    return {
        "type": "Unigram",
        "unk_id": vocabulary.unk_id,
        "vocab": [[piece.text, piece.score] for piece in vocabulary.pieces],
        "byte_fallback": vocabulary.byte_fallback,
    }


def _wordpiece(vocabulary: Vocabulary) -> Json:
    rules, texts = rules_of(vocabulary), texts_of(vocabulary)
    vocab: dict[str, int] = {}
    for token_id in sorted(texts):
        vocab.setdefault(texts[token_id], token_id)
    return {
        "type": "WordPiece",
        "unk_token": None if vocabulary.unk_id is None else texts[vocabulary.unk_id],
        "continuing_subword_prefix": rules.prefix,
        "max_input_chars_per_word": rules.max_word,
        "vocab": vocab,
    }


def merge_list(vocabulary: Vocabulary) -> list[tuple[int, int, int]]:
    """The merges; for ranks by id of an improper vocabulary, every split of every token.

    tiktoken joins any neighbours that form a token, so that where derivation leaves a token
    without a split (Llama 3) all its splits must stand, as in transformers' tiktoken converter.
    """
    if vocabulary.rank_order is RankOrder.IDS and not _all_merge(vocabulary):
        ways = halves(vocabulary.tokens, but={token.id for token in vocabulary.added_tokens})
        return [(left, right, merged) for merged, left, right, *_ in ways]
    # Of one that stands twice the first counts, and libraries of the format take the last.
    return [*dict.fromkeys(vocabulary.merges.triples())]


def _all_proper(vocabulary: Vocabulary) -> bool:
    """Whether each token is what its merges make of its bytes, so that it need not be looked up.

    Merges that are derived from ranks are those by which a token is reached, if it is by any. In
    a list of merges one may come too late, as those of Llama 3's file do.
    """
    if vocabulary.rank_order is RankOrder.IDS or not _all_merge(vocabulary):
        return _all_merge(vocabulary)
    table, ids = pair_table(vocabulary.merges), vocabulary.ids
    return all(
        encode_by_pairs((ids.get(bytes([byte]), -1) for byte in text), table) == [token_id]
        for text, token_id in ids.items()
        if len(text) > 1
    )


def _all_merge(vocabulary: Vocabulary) -> bool:
    """Whether each token of several bytes is the result of a merge."""
    merged = np.zeros(len(vocabulary.tokens), dtype=bool)
    merged[vocabulary.merges.merged] = True
    return all(
        merged[token_id]
        for token_id, token in enumerate(vocabulary.tokens)
        if token is not None and len(token) > 1
    )
