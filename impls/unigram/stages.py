"""What happens inside, stage by stage: for explanations, and as a check of the compiled code.

Viterbi's algorithm, fallback and merging stand here a second time, written for reading and over
either trie; normalizing and splitting are the compiled functions'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from impls.kernels.utf8 import lead_length
from impls.unigram.lexicon import Lexicon, make_lexicon, piece_scores, segmented
from impls.unigram.preparation import prepare
from impls.unigram.trie import NOWHERE, Kind, Trie, make_trie
from impls.unigram.variants import Fallback, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a text that is encoded by itself: normalized, or an id that stands there."""

    text: bytes
    id: int | None


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of one encoding.

    normalized: the text that is segmented, without the symbols that were cut out. segments: its
    parts. scores: the best sum at each boundary of the path, a tuple a segment that has a text,
    beginning with 0; as they were when the position was reached (before rebasing). tokens: the ids
    of the path, the unknown one for each character. ids: the encoding.
    """

    normalized: bytes
    segments: tuple[Segment, ...]
    scores: tuple[tuple[float, ...], ...]
    tokens: tuple[int, ...]
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of the best path: the bytes up to ``end``, the id, and the sum there."""

    end: int
    id: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """A vocabulary in one variant, to be interpreted."""

    variant: Variant
    lexicon: Lexicon
    strings: dict[bytes, int]
    trie: Trie
    scores: tuple[float, ...]


def stages(
    vocabulary: Vocabulary, variant: Variant, data: bytes, trie: Kind = "double-array"
) -> Stages:
    """The stages of encoding ``data``. Raises VocabularyError as loading does.

    trie: which of the two is walked; they give the same.
    """
    tables = _tables(vocabulary, variant, trie)
    segments = tuple(_segments(tables, data))
    scores: list[tuple[float, ...]] = []
    tokens: list[int] = []
    ids: list[int] = []
    for segment in segments:
        if segment.id is not None:
            tokens.append(segment.id)
            ids.append(segment.id)
            continue
        path = best_path(tables, segment.text)
        scores.append((0.0, *(step.score for step in path)))
        tokens += [step.id for step in path]
        ids += _ids(tables, segment.text, path)
    normalized = b"".join(segment.text for segment in segments)
    return Stages(normalized, segments, tuple(scores), tuple(tokens), tuple(ids))


@lru_cache(maxsize=8)
def _tables(vocabulary: Vocabulary, variant: Variant, kind: Kind) -> Tables:
    lexicon = make_lexicon(vocabulary, variant)
    strings = segmented(vocabulary, variant)
    scores = tuple(piece_scores(vocabulary, variant))
    return Tables(variant, lexicon, strings, make_trie(strings, kind), scores)


def _segments(tables: Tables, data: bytes) -> Iterator[Segment]:
    ends = np.array([len(data)], dtype=np.int64)
    text, rows, _ = prepare(tables.lexicon, np.frombuffer(data, dtype=np.uint8), ends)
    start = 0
    for end, token in rows.tolist():
        if token != NOWHERE:
            yield Segment(b"", token)
        elif end > start:
            yield Segment(text[start:end].tobytes(), None)
        start = end


def best_path(tables: Tables, text: bytes) -> list[Step]:
    """The best segmentation of a text, by the variant's arithmetic."""
    variant = tables.variant
    sums, weight = np.dtype(variant.sums).type, np.dtype(variant.scores).type
    unknown_score = tables.lexicon.unknown_scores[0]
    unknown_id = tables.lexicon.unknown_id
    start_sum = -math.inf if variant.unreached is None else variant.unreached
    best = [sums(0), *[sums(start_sum)] * len(text)]
    shown = [float(one) for one in best]
    came: list[tuple[int, int] | None] = [None] * (len(text) + 1)
    start = 0
    with np.errstate(over="ignore", invalid="ignore"):
        while start < len(text):
            base = best[start]
            if abs(base) > variant.rebase_above:
                best = [*best[:start], *(one - base for one in best[start:])]
            character = min(lead_length(text[start]), len(text) - start)
            found = [
                (end, piece, best[start] + weight(tables.scores[piece]))
                for end, piece in tables.trie.prefixes(text, start)
            ]
            if all(end != start + character for end, _, _ in found):
                found.append((start + character, unknown_id, best[start] + unknown_score))
            for end, piece, candidate in found:
                first = came[end] is None and variant.unreached is None
                if first or candidate > best[end]:
                    best[end] = sums(candidate)
                    shown[end] = float(best[end])
                    came[end] = start, piece
            start += character
    path: list[Step] = []
    end = len(text)
    while end > 0:
        # What nothing reached is unknown from the beginning.
        start, piece = came[end] or (0, unknown_id)
        path.append(Step(end, piece, shown[end]))
        end = start
    return path[::-1]


def _ids(tables: Tables, text: bytes, path: list[Step]) -> Iterator[int]:
    """The ids of a path: each run of unknown becomes what the variant makes of it."""
    lexicon = tables.lexicon
    start = 0
    for is_unknown, run in groupby(path, key=lambda step: step.id == lexicon.unknown_id):
        steps = list(run)
        spelled, start = text[start : steps[-1].end], steps[-1].end
        if not is_unknown:
            yield from (step.id for step in steps)
            continue
        by_bytes = (
            [int(lexicon.byte_ids[byte]) for byte in spelled] if len(lexicon.byte_ids) else []
        )
        whole = tables.strings.get(spelled)
        if tables.variant.fallback is Fallback.RUN and whole is not None:
            yield whole
        elif by_bytes and NOWHERE not in by_bytes:
            yield from by_bytes
        else:
            yield lexicon.unknown_id
