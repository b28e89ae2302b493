"""A Hugging Face tokenizer.json from the plain model, built as transformers' converters build it.

Byte-level BPE as GPT-2's and tiktoken's converters, character BPE as ``LlamaConverter`` (legacy),
unigram as ``SpmConverter``, WordPiece as ``BertConverter``; the normalizer's flags are honoured
where the converters assume them.
"""

from __future__ import annotations

import base64
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies import wordpiece_file
from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.merges import encode_by_pairs, pair_table
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    PieceType,
    RankOrder,
    VocabularyError,
)
from corpora.vocabularies.pieces import Pieces

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

Json = dict[str, Any]

_SPACE = "▁"
_ESCAPE: Json = {"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}


def trouble(vocabulary: Vocabulary) -> str | None:
    """Why no tokenizer.json can be made of a vocabulary, in one line; None if one can."""
    if vocabulary.normalizer.treat_whitespace_as_suffix:
        return "treat_whitespace_as_suffix is set, and a tokenizer.json has no such mode"
    if vocabulary.algorithm is Algorithm.UNIGRAM:
        for piece_id, score in enumerate(Pieces.of(vocabulary.pieces).scores):
            if not math.isfinite(score):
                return f"piece {piece_id} has the score {score}, which no tokenizer.json can have"
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
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        parts = wordpiece_file.to_json(vocabulary)
    elif vocabulary.algorithm is Algorithm.UNIGRAM:
        parts = _unigram(vocabulary)
    elif vocabulary.alphabet is Alphabet.CHARACTERS:
        parts = _characters(vocabulary)
    else:
        parts = _bytes(vocabulary, vocabulary.splits if pretokenize else ())
    document: Json = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(token) for token in _added_tokens(vocabulary)],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        **parts,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def steps_of(vocabulary: Vocabulary) -> Json:
    """The ``normalizer``, ``pre_tokenizer`` and ``decoder`` that are written for a vocabulary."""
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        return wordpiece_file.json_steps(vocabulary)
    if vocabulary.algorithm is Algorithm.UNIGRAM:
        return _unigram_steps(vocabulary)
    if vocabulary.alphabet is Alphabet.CHARACTERS:
        return _character_steps(vocabulary)
    return _byte_steps(vocabulary, vocabulary.splits)


def _bytes(vocabulary: Vocabulary, splits: tuple[str, ...]) -> Json:
    spelled = ["" if token is None else spell(token) for token in vocabulary.tokens]
    added = {token.id for token in _added_tokens(vocabulary)}
    vocab: dict[str, int] = {}
    for token_id, text in enumerate(spelled):
        if text and token_id not in added:
            vocab.setdefault(text, token_id)
    merges = [(spelled[left], spelled[right]) for left, right, _ in merge_list(vocabulary)]
    entered = _place_added(vocabulary, vocab)
    ignore_merges = vocabulary.ignore_merges
    if ignore_merges and not splits and entered and _all_proper(vocabulary):
        # Without effect on tokens, but a special token in `vocab` would match a whole text.
        ignore_merges = False
    return {
        **_byte_steps(vocabulary, splits),
        "model": _bpe_model(vocab, merges, ignore_merges=ignore_merges),
    }


def _byte_steps(vocabulary: Vocabulary, splits: tuple[str, ...]) -> Json:
    byte_level: Json = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    steps = [*(_split(pattern) for pattern in splits), byte_level]
    form = vocabulary.normalizer.form
    return {
        "normalizer": {"type": form} if form else None,
        "pre_tokenizer": _sequence(steps, "pretokenizers"),
        "decoder": byte_level,
    }


def _characters(vocabulary: Vocabulary) -> Json:
    texts = [piece.text for piece in vocabulary.pieces]
    vocab: dict[str, int] = {}
    for token_id, text in enumerate(texts):
        vocab.setdefault(text, token_id)
    unk = None if vocabulary.unk_id is None else texts[vocabulary.unk_id]
    return {
        **_character_steps(vocabulary),
        "model": _bpe_model(
            vocab,
            [(texts[left], texts[right]) for left, right, _ in merge_list(vocabulary)],
            unk_token=unk,
            fuse_unk=True,
            byte_fallback=vocabulary.byte_fallback,
        ),
    }


def _character_steps(vocabulary: Vocabulary) -> Json:
    steps = _normal_form(vocabulary)
    if vocabulary.normalizer.remove_extra_whitespaces:
        steps.append({"type": "Strip", "strip_left": True, "strip_right": True})
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    steps += _prefix_and_escape(vocabulary)
    return {
        "normalizer": _sequence(steps, "normalizers"),
        "decoder": _sequence(_unescaping(vocabulary), "decoders"),
    }


def _unigram(vocabulary: Vocabulary) -> Json:
    return {
        **_unigram_steps(vocabulary),
        "model": {
            "type": "Unigram",
            "unk_id": vocabulary.unk_id,
            "vocab": [[piece.text, piece.score] for piece in vocabulary.pieces],
            "byte_fallback": vocabulary.byte_fallback,
        },
    }


def _unigram_steps(vocabulary: Vocabulary) -> Json:
    normalizer = vocabulary.normalizer
    steps = _normal_form(vocabulary)
    if normalizer.remove_extra_whitespaces:
        steps.append({"type": "Strip", "strip_left": False, "strip_right": True})
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": _SPACE})
    metaspace: Json | None = None
    decoders: list[Json]
    if normalizer.escape_whitespaces and normalizer.remove_extra_whitespaces:
        metaspace = {
            "type": "Metaspace",
            "replacement": _SPACE,
            "prepend_scheme": "always" if normalizer.add_dummy_prefix else "never",
            "split": True,
        }
        decoders = [{"type": "ByteFallback"}] if vocabulary.byte_fallback else []
        decoders.append(metaspace)
    else:
        # Where runs of spaces are kept, Metaspace would part them and miss the prefix before one.
        steps += _prefix_and_escape(vocabulary)
        decoders = _unescaping(vocabulary)
    return {
        "normalizer": _sequence(steps, "normalizers"),
        "pre_tokenizer": metaspace,
        "decoder": _sequence(decoders, "decoders"),
    }


def _normal_form(vocabulary: Vocabulary) -> list[Json]:
    steps: list[Json] = []
    if vocabulary.normalizer.form:
        steps.append({"type": vocabulary.normalizer.form})
    if vocabulary.normalizer.charsmap:
        charsmap = base64.b64encode(vocabulary.normalizer.charsmap).decode("ascii")
        steps.append({"type": "Precompiled", "precompiled_charsmap": charsmap})
    return steps


def _prefix_and_escape(vocabulary: Vocabulary) -> list[Json]:
    """Normalizer steps for the dummy prefix and U+2581, as in Llama 2's file."""
    escape = vocabulary.normalizer.escape_whitespaces
    steps: list[Json] = []
    if vocabulary.normalizer.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": _SPACE if escape else " "})
    return [*steps, _ESCAPE] if escape else steps


def _unescaping(vocabulary: Vocabulary) -> list[Json]:
    """Decoder steps, as in Llama 2's file."""
    decoders: list[Json] = [
        {"type": "Replace", "pattern": {"String": _SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if vocabulary.normalizer.add_dummy_prefix:
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return decoders


def _added_tokens(vocabulary: Vocabulary) -> list[AddedToken]:
    """The file's own; else special tokens as special and user-defined symbols as ordinary ones."""
    if vocabulary.added_tokens:
        return sorted(vocabulary.added_tokens, key=lambda token: token.id)
    added = [AddedToken(text, i, special=True) for text, i in vocabulary.special_tokens.items()]
    added += [
        AddedToken(piece.text, piece_id)
        for piece_id, piece in enumerate(vocabulary.pieces)
        if piece.type is PieceType.USER_DEFINED
    ]
    return sorted(added, key=lambda token: token.id)


def _place_added(vocabulary: Vocabulary, vocab: dict[str, int]) -> bool:
    """Enter added tokens into ``vocab`` unless numbering on from its size gives their ids.

    Return whether any was entered.

    The tokenizers library ignores the ids of ``added_tokens``: it takes that of ``vocab``, else the
    next free one.
    """
    added = _added_tokens(vocabulary)
    if [token.id for token in added] == list(range(len(vocab), len(vocab) + len(added))):
        return False
    for token in added:
        vocab.setdefault(token.text, token.id)
    return True


def merge_list(vocabulary: Vocabulary) -> list[tuple[int, int, int]]:
    """The merges; for ranks by id of an improper vocabulary, every split of every token.

    tiktoken joins any neighbours that form a token, so that where derivation leaves a token
    without a split (Llama 3) all its splits must stand, as in transformers' tiktoken converter.
    """
    if vocabulary.rank_order is RankOrder.IDS and not _all_merge(vocabulary):
        ids, added = vocabulary.ids, _added_ids(vocabulary)
        return [
            (ids[token[:cut]], ids[token[cut:]], token_id)
            for token_id, token in enumerate(vocabulary.tokens)
            if token is not None and token_id not in added
            for cut in range(1, len(token))
            if token[:cut] in ids and token[cut:] in ids
        ]
    merges = vocabulary.merges
    return list(
        zip(merges.left.tolist(), merges.right.tolist(), merges.merged.tolist(), strict=True)
    )


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


def _added_ids(vocabulary: Vocabulary) -> set[int]:
    return {token.id for token in vocabulary.added_tokens}


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


def _split(pattern: str) -> Json:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


def _sequence(steps: list[Json], field: str) -> Json | None:
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else {"type": "Sequence", field: steps}


def _added(token: AddedToken) -> Json:
    return {
        "id": token.id,
        "content": token.text,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }
