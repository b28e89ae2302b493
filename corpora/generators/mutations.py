"""Text mutated from text, character by character and byte by byte."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, AnyStr

from corpora.generators import (
    json_text,
    prose,
    repeats,
    scripts,
    source,
    special,
    tokens,
    whitespace,
)
from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import CLASS_BYTES, CLASS_CHARACTERS
from corpora.generators.drawing import encodable, picker, sizes

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

# Texts that are mutated at a time; each mutant may take its parent's place, so that changes pile
# up, and a fresh text comes in for every eighth.
_POOL, _FRESH, _KEPT = 256, 1 / 8, 1 / 3

# Long texts are the other generators' job.
_LONGEST = 1_000

_OPERATIONS = sizes(1.5, 12, spread=0.8)
_SPANS = sizes(2, 64)

KINDS = 6
"""Kinds of :func:`mutated`: insert, delete, replace, swap, duplicate, splice."""


def mutated(text: AnyStr, kind: int, at: int, span: int, other: AnyStr) -> AnyStr:
    """``text`` with one change at ``at`` (0 <= at <= len), to ``span`` (>= 1) units.

    kind: 0 inserts ``other``; 1 deletes; 2 replaces by ``other``; 3 swaps two neighbouring spans;
        4 doubles; 5 goes on with the text ``other`` from the like place of that.
    """
    head, unit, tail = text[:at], text[at : at + span], text[at + span :]
    if kind == 0:
        return head + other + unit + tail
    if kind == 1:
        return head + tail
    if kind == 2:
        return head + other + tail
    if kind == 3:
        return head + tail[:span] + unit + tail[span:]
    if kind == 4:
        return head + unit + unit + tail
    return head + other[min(at, len(other) // 2) :]


def _texts(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    """Texts of several kinds in turn; of the vocabulary's own letters where those are few."""
    generators = [repeats.GENERATOR, *tokens.GENERATORS]
    if vocabulary.byte_alphabet is None:
        others = (source, prose, whitespace, scripts, special, json_text)
        generators += [module.GENERATOR for module in others]
    streams = [generator.make(vocabulary, rng) for generator in generators]
    while streams:
        for stream in list(streams):
            text = next(stream, None)
            if text is None:
                streams.remove(stream)
            elif text:
                yield text[:_LONGEST]


def _change(text: AnyStr, other: AnyStr, insert: AnyStr, span: int, rng: random.Random) -> AnyStr:
    kind, at = int(rng.random() * KINDS), int(rng.random() * (len(text) + 1))
    return mutated(text, kind, at, span, other if kind == KINDS - 1 else insert)


def _mutations(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    return mutants(vocabulary, rng, _texts(vocabulary, rng))


def mutants(vocabulary: Vocabulary, rng: random.Random, texts: Iterator[bytes]) -> Iterator[bytes]:
    """Mutants of texts, of which there is no end, for a vocabulary."""
    draw = rng.random
    pool = list(islice(texts, _POOL))
    pick, operations, span = picker(rng, pool), picker(rng, _OPERATIONS), picker(rng, _SPANS)
    restricted = vocabulary.byte_alphabet is not None
    alphabet = vocabulary.byte_alphabet or CLASS_BYTES
    byte = picker(rng, [alphabet[i : i + 1] for i in range(len(alphabet))])
    character = picker(rng, CLASS_CHARACTERS)
    while True:
        slot = int(draw() * _POOL)
        parent = pool[slot]
        if restricted or draw() < 0.5:
            mutant = parent
            for _ in range(operations()):
                mutant = _change(mutant, pick(), byte(), span(), rng)
        else:
            text = parent.decode(errors="replace")
            for _ in range(operations()):
                text = _change(text, pick().decode(errors="replace"), character(), span(), rng)
            mutant = text.encode()
        mutant = mutant[:_LONGEST]
        yield mutant
        fate = draw()
        if fate < _FRESH:
            pool[slot] = next(texts)
        elif fate < _KEPT and mutant:
            pool[slot] = mutant


GENERATOR = FunctionGenerator(
    "mutations",
    "texts of the other generators with units inserted, deleted, swapped, doubled, spliced",
    encodable(_mutations),
)
