"""Cutting user-defined symbols out of a text before anything else happens to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.kernels.layout import EMPTY
from impls.kernels.trie import child, token_at
from impls.unigram.trie import NOWHERE, ROOT, double_array
from impls.unigram.variants import Splitting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

STAYS = -2
"""This stands in place of an id where the symbol is found, and its text is left where it is."""

LONGEST_FIRST = int(Splitting.LONGEST_FIRST)


class Symbols(NamedTuple):
    """What is cut out.

    trie: double array of the symbols, numbered in the order in which they are looked for. ids:
    of each, or STAYS. lengths: of each, in bytes. begins: by a byte, whether a symbol begins with
    it. splitting: a :class:`Splitting`.
    """

    trie: NDArray[np.int32]
    ids: NDArray[np.int64]
    lengths: NDArray[np.int64]
    begins: NDArray[np.bool_]
    splitting: int


def make_symbols(vocabulary: Vocabulary, splitting: Splitting) -> Symbols:
    """The symbols of a vocabulary, in the order of that way of splitting."""
    found: dict[bytes, int] = {}
    if splitting is Splitting.LEFTMOST_LONGEST:
        found = _added(vocabulary)
    elif splitting is Splitting.LONGEST_FIRST:
        pieces = Pieces.of(vocabulary.pieces)
        symbols = pieces.of_types(PieceType.USER_DEFINED)
        texts = {pieces[i].text.encode(): i for i in symbols}
        found = dict(sorted(texts.items(), key=lambda entry: -len(entry[0])))
    found.pop(b"", None)
    trie, ids = double_array(found)
    lengths = np.array([len(text) for text in found], dtype=np.int64)
    begins = np.zeros(256, dtype=np.bool_)
    begins[[text[0] for text in found]] = True
    return Symbols(trie, ids, lengths, begins, int(splitting))


def _added(vocabulary: Vocabulary) -> dict[bytes, int]:
    """The added tokens of the tokenizer.json that is written from the vocabulary.

    Its own, else special tokens and user-defined symbols. The text of a special one stays, but
    hides an ordinary one that begins in it.
    """
    if vocabulary.added_tokens:
        return {t.text.encode(): STAYS if t.special else t.id for t in vocabulary.added_tokens}
    found = {text.encode(): STAYS for text in vocabulary.special_tokens}
    pieces = Pieces.of(vocabulary.pieces)
    symbols = pieces.of_types(PieceType.USER_DEFINED)
    if symbols:
        spelled = pieces.spelled
        ids = dict(zip(spelled, range(len(spelled)), strict=True))  # the last of namesakes
        for i in symbols:
            found.setdefault(spelled[i], ids[spelled[i]])
    return found


@njit
def split(
    trie: NDArray[np.int32],
    ids: NDArray[np.int64],
    lengths: NDArray[np.int64],
    begins: NDArray[np.bool_],
    splitting: int,
    data: NDArray[np.uint8],
    start: int,
    end: int,
) -> NDArray[np.int64]:
    """The sections of ``data[start:end]``: rows of where one ends and its id, NOWHERE for text."""
    if len(trie) == 0:
        whole = np.empty((1, 2), dtype=np.int64)
        whole[0, 0], whole[0, 1] = end, NOWHERE
        return whole[: min(1, end - start)]
    if splitting != LONGEST_FIRST:
        return _leftmost_longest(trie, ids, lengths, begins, data, start, end)
    owners = _longest_first(trie, lengths, data, start, end)
    count = 0
    for i in range(end - start):
        count += 2 if owners[i] != EMPTY else 0
    sections = np.empty((count + 1, 2), dtype=np.int64)
    count = 0
    position = begun = start
    while position < end:
        symbol = owners[position - start]
        if symbol == EMPTY:
            position += 1
            continue
        if position > begun:
            sections[count, 0], sections[count, 1] = position, NOWHERE
            count += 1
        position += lengths[symbol]
        sections[count, 0], sections[count, 1] = position, ids[symbol]
        count += 1
        begun = position
    if end > begun:
        sections[count, 0], sections[count, 1] = end, NOWHERE
        count += 1
    return sections[:count]


@njit
def _longest_first(
    trie: NDArray[np.int32],
    lengths: NDArray[np.int64],
    data: NDArray[np.uint8],
    start: int,
    end: int,
) -> NDArray[np.int64]:
    """The symbol cut out at each byte, EMPTY for none: each symbol in turn, from the left."""
    size = end - start
    owners = np.full(size, EMPTY, dtype=np.int64)
    # Two rounds: count the occurrences, then list them by symbol and place.
    found = np.empty(0, dtype=np.int64)
    for fill in range(2):
        count = 0
        for position in range(start, end):
            slot = ROOT
            for i in range(position, end):
                slot = child(trie, slot, int(data[i]))
                if slot == EMPTY:
                    break
                symbol = token_at(trie, slot)
                if symbol != EMPTY:
                    if fill == 1:
                        found[count] = symbol * size + position - start
                    count += 1
        if fill == 0:
            found = np.empty(count, dtype=np.int64)
    found.sort()
    taken = np.zeros(size, dtype=np.bool_)
    for number in range(len(found)):
        symbol, first = int(found[number]) // size, int(found[number]) % size
        last = first + lengths[symbol] - 1
        # What is taken is as long or longer, so it covers an end of this if it meets it.
        if not taken[first] and not taken[last]:
            taken[first : last + 1] = True
            owners[first] = symbol
    return owners


@njit
def _leftmost_longest(
    trie: NDArray[np.int32],
    ids: NDArray[np.int64],
    lengths: NDArray[np.int64],
    begins: NDArray[np.bool_],
    data: NDArray[np.uint8],
    start: int,
    end: int,
) -> NDArray[np.int64]:
    """The sections, as of :func:`split`; symbols that stay only hide others."""
    sections = np.empty((4, 2), dtype=np.int64)
    count = 0
    position = begun = start
    while position < end:
        # Most bytes begin no symbol.
        while position < end and not begins[data[position]]:
            position += 1
        slot = ROOT
        longest = EMPTY
        for i in range(position, end):
            slot = child(trie, slot, int(data[i]))
            if slot == EMPTY:
                break
            symbol = token_at(trie, slot)
            if symbol != EMPTY:
                longest = symbol
        if longest == EMPTY:
            position += 1
            continue
        if ids[longest] != STAYS:
            if count + 3 > len(sections):
                longer = np.empty((2 * len(sections), 2), dtype=np.int64)
                longer[:count] = sections[:count]
                sections = longer
            if position > begun:
                sections[count, 0], sections[count, 1] = position, NOWHERE
                count += 1
            begun = position + lengths[longest]
            sections[count, 0], sections[count, 1] = begun, ids[longest]
            count += 1
        position += lengths[longest]
    if end > begun:
        sections[count, 0], sections[count, 1] = end, NOWHERE
        count += 1
    return sections[:count]
