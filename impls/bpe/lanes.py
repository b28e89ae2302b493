"""Many short pieces at work side by side: a table with a column for each, whose rows these are.

All of it is in 32 bits, so that a vector (:mod:`impls.bpe.vectors`) has room for many; positions and
places are counted from where the block of pieces begins.
"""

# Of each piece, by its number.
START, END = 0, 1
PLACE_OF_NEXT = 2
"""Where in ``tokens`` its next token is put."""

# Of each piece at work, one behind another.
PIECE = 3
"""Its number."""
POSITION, STOP_BEFORE = 4, 5
"""Where its next token begins, and where the piece ends."""
TOKEN, STOP = 6, 7
"""The longest at POSITION, EMPTY if there is none, and where that ends."""
REFUSED = 8
"""Whether TOKEN may not stand behind the token before it."""

# Of each question whether it may (impls.bpe.questions): at first one of each piece at work.
ASKED_OF = 9
"""Which of those it is about."""
LEFT, RIGHT = 10, 11
LIMIT = 12
FIRST_WORD, WORDS, OLDEST = 13, 14, 15
"""Of the seam between them (impls.bpe.validity); WORDS is 0 if nothing is to be asked."""

# Of each pair that may merge.
PAIR_OF = 16
PAIR_LEFT, PAIR_RIGHT = 17, 18
PAIR_LIMIT = 19
PAIR_ENTRY = 20
"""Where in MERGED the search for it begins."""

ROWS = 21
