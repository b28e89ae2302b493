"""Whether two tokens may stand side by side, without encoding their text again.

The pair (left, right) is invalid if the encoding of its text merges across the boundary. Tokens
are numbered by age, so that of two the larger one was merged later. The merges are undone, the
latest first. If what then faces each other at the boundary would have merged before the *limit*,
which is when the last undone merge was made, the encoding would have merged it. Of two equal tokens
the left one was merged first, so undoing the right one leaves the limit one higher. (After
``is_valid_token_pair`` of the `bpe` crate by GitHub.)

By the theorems in docs/algorithms.md this is all that the linear algorithms need: tokens whose
neighbours are valid pairs are the encoding of their text.
"""

from __future__ import annotations

from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Ints
from impls.kernels.merge_tables import pair_row

NEVER = 1 << 31
"""A limit above all tokens, which are numbered in 31 bits."""


@njit
def valid_pair(pairs: Ints, splits: Ints, left: int, right: int) -> bool:
    """Whether token ``right`` may follow token ``left``: encoding does not merge across them.

    pairs, splits: of :class:`impls.bpe.tokens.Tokens`.
    """
    limit = NEVER
    while True:
        row = pair_row(pairs, left, right)
        if row != EMPTY and pairs[row + 2] < limit:
            return False
        if left > right:
            if splits[2 * left] == left:  # a single byte, and so is ``right``, which is older
                return True
            limit = left
            left = int(splits[2 * left + 1])
        else:
            if splits[2 * right] == right:
                return True
            limit = right + 1
            right = int(splits[2 * right])
