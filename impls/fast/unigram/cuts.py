"""Where words of unigram end: between characters that share no piece.

Between two bytes that stand side by side in no piece, every segmentation is cut, if the character
behind them is one that is known by itself: an unknown one might continue a run of unknown
characters, which becomes one id. White space is such a place for nearly all vocabularies (no piece
of T5 has U+2581 but as its first character), and in source code every other bracket is. So is the
place between a known character and those that no piece has, whose run is one id then.
"""

from __future__ import annotations

import string
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from impls.fast.kernels.word_cuts import CUT, CUT_BEFORE_SYMBOL, SYMBOL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impls.kernels.layout import Bytes

_LETTERS = [*string.ascii_letters.encode()]


def make_cuts(pieces: Mapping[bytes, int], unknown_id: int, foreign: Bytes) -> Bytes:
    """65,536 entries by two bytes, second * 256 + first: CUT, CUT_BEFORE_SYMBOL, or 0 for neither.

    pieces: the ids of the pieces that text can become, by their bytes. Words begin with ASCII, with
    U+2581, and behind ASCII with what no piece has; but between two letters none does: what few
    letters make comes more seldom than it takes to look it up. foreign: that of the endings of the
    pieces (:class:`impls.fast.unigram.endings.Endings`).
    """
    beside = np.zeros((256, 256), dtype=np.bool_)
    before_symbol = np.zeros(256, dtype=np.bool_)
    for text in pieces:
        for one, other in pairwise(text):
            beside[one, other] = True
        at = text.find(SYMBOL, 1)
        while at > 0:
            before_symbol[text[at - 1]] = True
            at = text.find(SYMBOL, at + 1)
    # A piece that is the unknown one joins a run of unknown characters, too.
    unknown = [text for text, piece_id in pieces.items() if piece_id == unknown_id]
    begun, ended = {text[:1] for text in unknown}, {text[-1:] for text in unknown}
    cuts = np.zeros((256, 256), dtype=np.uint8)
    for code in range(0x80):
        character = bytes([code])
        if character in pieces and character not in begun:
            cuts[:, code] = CUT
            if character.isalpha():
                cuts[_LETTERS, code] = 0
    cuts[beside] = 0
    ascii_ = [bytes([code]) for code in range(0x80)]
    known = np.flatnonzero([one in pieces and one not in ended for one in ascii_])
    leads = np.flatnonzero(foreign)
    cuts[np.ix_(known, leads[leads != SYMBOL[0]])] = CUT
    if SYMBOL in pieces and SYMBOL[:1] not in begun:
        cuts[~before_symbol, SYMBOL[0]] = CUT_BEFORE_SYMBOL
    return cuts.T.reshape(-1)
