"""The tokens that may stand at a position, longest first: what backtracking tries.

The trie once more, in half the room: text in many scripts wanders all over it, and what does not
fit into the processor's caches costs more than all else. An entry is ``value << 10 | marks``: of
the marks the low 9 bits are the byte + 1 (as in :mod:`impls.kernels.trie`), and the tenth says that
a token ends here. The value is the base, or, where nothing longer goes on, ``slots + token``.

A shorter candidate p of a token t is left out if it would be tried in vain. What follows p is then
the rest of t, so that the next token begins with that rest or is the beginning of it; if p admits
none of those, p is dead here. In UTF-8 that is what becomes of nearly every token that ends within
a character, as next to no token begins there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import VocabularyError
from impls.bpe.pair_validity import valid_pair
from impls.compiled.jit import njit
from impls.fast.bpe.block import INNER, REGULAR, SHORTER, WALK
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.trie import LABEL_BITS, LABEL_MASK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.bpe.tokens import Tokens
    from impls.fast.bpe.block import Sections


HAS_TOKEN = LABEL_MASK + 1
VALUE_BITS = LABEL_BITS + 1
"""Bits below an entry's value."""
VALUE_MASK = (1 << 22) - 1

LESS_BITS = 10
"""So many bits of an entry of SHORTER say how many bytes the token there has less; they are 0 where
those are too many."""
LESS_MASK = (1 << LESS_BITS) - 1

FEW = 64
"""Tokens with the same first byte that are tried after a candidate; if there are more, it stays."""


@njit
def _keep_useful(
    tokens: Tokens,
    prefixes: Ints,
    blob: Bytes,
    starts: Longs,
    by_length: Longs,
    by_byte: Longs,
    byte_starts: Longs,
) -> None:
    """Point each token's prefix past those that would be tried in vain.

    blob, starts: spellings, as in :mod:`impls.kernels.trie`, by token. by_length: the tokens,
    shortest first. by_byte, byte_starts: the tokens that begin with each byte.
    """
    for token in by_length:
        prefix = int(prefixes[token])
        if prefix == EMPTY:
            continue
        rest = int(starts[token] + starts[prefix + 1] - starts[prefix])
        rest_length = int(starts[token + 1]) - rest
        first = int(blob[rest])
        if byte_starts[first + 1] - byte_starts[first] > FEW:
            continue
        vain = True
        for index in range(byte_starts[first], byte_starts[first + 1]):
            after = int(by_byte[index])
            start = int(starts[after])
            fits = True
            for offset in range(min(int(starts[after + 1]) - start, rest_length)):
                if blob[start + offset] != blob[rest + offset]:
                    fits = False
                    break
            if fits and valid_pair(tokens.pairs, tokens.splits, prefix, after):
                vain = False
                break
        if vain:
            prefixes[token] = prefixes[prefix]


def candidate_tables(tokens: Tokens, spellings: Sequence[bytes]) -> Sections:
    """WALK, INNER, SHORTER and REGULAR. spellings: of the tokens, by age.

    Raises VocabularyError where the trie is too large for entries of 32 bits.
    """
    base, word = tokens.trie.reshape(-1, 2).astype(np.int64).T
    if len(base) + len(spellings) > VALUE_MASK:
        raise VocabularyError(
            "vocabulary",
            f"{len(base)} slots of a trie and {len(spellings)} tokens are more than {VALUE_MASK}",
            "use another implementation than bpe.backtracking.fast or bpe.cached",
        )
    token = (word >> LABEL_BITS) - 1
    ends, leaf = token != EMPTY, (token != EMPTY) & (base == 0)
    value = np.where(leaf, len(base) + token, base)
    walk = value << VALUE_BITS | ends * HAS_TOKEN | word & LABEL_MASK

    prefixes = tokens.prefixes.copy()
    starts = np.zeros(len(spellings) + 1, dtype=np.int64)
    np.cumsum(tokens.lengths, out=starts[1:])
    blob = np.frombuffer(b"".join(spellings), dtype=np.uint8)
    firsts = blob[starts[:-1]]
    _keep_useful(
        tokens,
        prefixes,
        blob,
        starts,
        np.argsort(tokens.lengths, kind="stable"),
        np.argsort(firsts, kind="stable"),
        np.searchsorted(np.sort(firsts), np.arange(257)),
    )
    less = tokens.lengths - tokens.lengths[prefixes]
    shorter = prefixes.astype(np.int64) << LESS_BITS | np.where(less > LESS_MASK, 0, less)
    # Vocabularies that are ranked by id have it so, but for the single bytes: looking up ids would
    # read one more table.
    shifts = tokens.ids - np.arange(len(spellings))
    odd = np.flatnonzero(shifts != shifts[-1]) if len(shifts) else shifts
    regular = [odd[-1] + 1 if len(odd) else 0, shifts[-1] if len(shifts) else 0]
    return {
        WALK: walk.astype(np.int32),
        INNER: np.where(leaf, EMPTY, token).astype(np.int32),
        SHORTER: np.where(prefixes == EMPTY, EMPTY, shorter).astype(np.int32),
        REGULAR: np.array(regular, dtype=np.int32),
    }
