"""The JSON bundle of the stdio protocol: a vocabulary in one plain form (docs/protocol.md)."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import asdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.merges import splits_of_unbuilt
from corpora.vocabularies.model import Algorithm, RankOrder, WordPieceRules

if TYPE_CHECKING:
    from pathlib import Path

    from corpora.vocabularies.model import Vocabulary


def write_bundle(vocabulary: Vocabulary, path: Path) -> None:
    """Write the bundle of ``vocabulary`` to ``path``, with exactly the protocol's fields.

    ``pattern`` is null for none, and also for a pre-tokenizer of several expressions, which the
    protocol cannot name. Scores that are not finite are written as null, which JSON lacks.
    """
    write = {
        Algorithm.BPE: _bpe,
        Algorithm.UNIGRAM: _unigram,
        Algorithm.WORDPIECE: _wordpiece,
    }[vocabulary.algorithm]
    content = write(vocabulary)
    path.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")


def wire_vocabulary(vocabulary: Vocabulary, bundle_path: Path | str) -> dict[str, Any]:
    """The ``vocabulary`` object of the protocol's ``load`` request.

    ``path`` is null, and ``format`` still says where it comes from, if no file is behind it.
    """
    return {
        "id": vocabulary.id,
        "algorithm": str(vocabulary.algorithm),
        "format": vocabulary.format,
        "path": vocabulary.source_path,
        "bundle": str(bundle_path),
    }


def _bpe(vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        "tokens": [
            None if token is None else base64.b64encode(token).decode("ascii")
            for token in vocabulary.tokens
        ],
        "merges": _merges(vocabulary),
        "pattern": vocabulary.pattern,
        "special_tokens": dict(vocabulary.special_tokens),
        "byte_fallback": vocabulary.byte_fallback,
        "ignore_merges": vocabulary.ignore_merges,
    }


def _merges(vocabulary: Vocabulary) -> list[tuple[int, int, int]]:
    """All merges in order of priority."""
    triples = vocabulary.merges.triples()
    if vocabulary.rank_order is not RankOrder.IDS:
        return triples
    return sorted(triples + splits_of_unbuilt(vocabulary), key=itemgetter(2))


def _unigram(vocabulary: Vocabulary) -> dict[str, Any]:
    normalizer = vocabulary.normalizer
    charsmap = normalizer.charsmap
    return {
        "pieces": [
            [piece.text, piece.score if math.isfinite(piece.score) else None, int(piece.type)]
            for piece in vocabulary.pieces
        ],
        "unk_id": vocabulary.unk_id,
        "charsmap": None if charsmap is None else base64.b64encode(charsmap).decode("ascii"),
        "add_dummy_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
        "escape_whitespaces": normalizer.escape_whitespaces,
        "treat_whitespace_as_suffix": normalizer.treat_whitespace_as_suffix,
        "byte_fallback": vocabulary.byte_fallback,
    }


def _wordpiece(vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        "tokens": [None if token is None else token.decode() for token in vocabulary.tokens],
        "special_tokens": dict(vocabulary.special_tokens),
        "unk_id": vocabulary.unk_id,
        "rules": asdict(vocabulary.wordpiece or WordPieceRules()),
    }
