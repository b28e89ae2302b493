"""What comes several times in a block of pieces is encoded once.

A cache of pieces is asked about a whole block at once, and told of it afterwards. But of the pieces
of a block that it does not know, more than half are among them a second time: a text that brings a
new name goes on to use it.
"""

from __future__ import annotations

from impls.compiled.jit import njit
from impls.fast.bpe.piece_results import FEW, RESULT, begin_of, put
from impls.fast.bpe.processor import copy_pair, differ
from impls.fast.bpe.words import UNKNOWN
from impls.kernels.layout import PLACE, Ints, Longs

SEEN = 1 << 12
"""Hashes of which is noted who had them last: several times as many as there usually are new pieces
in a block. Where there are more, some that come again are encoded again."""


@njit
def set_aside(
    seen: Longs,
    keys: Longs,
    hashes: Longs,
    earlier: int,
    asked: Longs,
    number: int,
    repeats: Longs,
) -> int:
    """Leave of the pieces ``asked[:number]`` those that have no like before them.

    seen: of SEEN entries, at first 0: the piece that was last met with a hash, by the hash's lowest
        bits. It is counted from 1, of all that were left, so that those of earlier blocks need not
        be taken away.
    keys, hashes: of these pieces (:func:`impls.fast.bpe.words.keep_keys`), of which those stay that
        are left. earlier: how many pieces were left in earlier blocks.
    repeats: receives the others, each behind the piece that it is like.

    Returns how many are left. ``number`` less that is how many have been set aside.
    """
    kept = 0
    for number_asked in range(number):
        index = int(asked[number_asked]) & PLACE
        hashed = int(hashes[number_asked])
        slot = hashed & (len(seen) - 1) & PLACE
        like = int(seen[slot]) - 1 - earlier
        # What has no key is like nothing: its words do not tell it from others.
        if like >= 0 and hashed != UNKNOWN and not differ(keys, 2 * like, keys, 2 * number_asked):
            place = 2 * (number_asked - kept)
            repeats[place & PLACE] = asked[like & PLACE]
            repeats[(place + 1) & PLACE] = index
        else:
            seen[slot] = earlier + kept + 1
            asked[kept] = index
            copy_pair(keys, 2 * number_asked, keys, 2 * kept)
            hashes[kept] = hashed
            kept += 1
    return kept


@njit
def answer_repeats(
    repeats: Longs,
    number: int,
    ends: Longs,
    first: int,
    room: int,
    result_words: Longs,
    results: Ints,
    ids: Ints,
) -> None:
    """Answer the ``number`` pieces that were set aside as those that they are like.

    first: the first piece of the block. room: the place in ``ids`` of what begins at the first byte
    of the text. results: see :mod:`impls.fast.bpe.piece_results`; result_words: the same memory.
    """
    for place in range(0, 2 * number, 2):
        like, index = int(repeats[place]) & PLACE, int(repeats[place + 1]) & PLACE
        copy_pair(result_words, 2 * like, result_words, 2 * index)
        count = int(results[RESULT * index + FEW])
        if count > FEW:
            # Its room may be written over before this piece is emitted, so this one's is used.
            piece = first + like
            other = room + begin_of(ends, piece)
            own = room + int(ends[first + index - 1])
            for one in range(count):
                ids[(own + one) & PLACE] = ids[(other + one) & PLACE]
            put(results, index, ids, own, count)
