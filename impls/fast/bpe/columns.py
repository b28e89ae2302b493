"""The rows of the table of pieces that are encoded side by side; each has a column for a piece.

Each kind of rows is a list of its own, from the first column on: all pieces, those at work, and
what :mod:`impls.fast.bpe.trie_lookup` and :mod:`impls.fast.bpe.batched_pair_validity` make of
these, shorter with each step. All numbers have 32 bits, so that a vector holds many; positions and
places are counted from where the block of pieces begins.
"""

# Of each piece, by its number.
START, END = 0, 1
PLACE_OF_NEXT = 2
"""The place in ``tokens`` where the next token of a piece is put."""

# Of each piece at work.
PIECE = 3
"""The number of a piece at work."""
POSITION, LIMIT = 4, 5
"""The place where the next token of a piece at work begins, and the end of the piece."""
TOKEN, STOP = 6, 7
"""The longest token at POSITION, EMPTY for none, and where it ends."""
REFUSED = 8
"""1 if it may not stand behind the token before it."""

# Of each walk down the trie (impls.fast.bpe.trie_lookup).
WALK_OF = 9
"""The piece at work that a trie lookup is made for."""
REACHED, REACHABLE = 10, 11
"""The place that a trie lookup has reached, and the one that it may reach."""
VALUE = 12
"""The value of the node that a trie lookup has reached."""
MET, MET_ENTRY, MET_STOP = 13, 14, 15
"""The last node met that is a token: its slot, its entry, and where the token ends."""
DONE_OF, DONE_SLOT, DONE_ENTRY, DONE_STOP = 16, 17, 18, 19
"""The piece at work, slot, entry and end of the token, of each trie lookup that has ended."""

# Of each question about a pair (impls.fast.bpe.batched_pair_validity).
PAIR_OF = 20
"""The piece at work that a question about a pair belongs to."""
LEFT, RIGHT = 21, 22
YOUNGEST = 23
"""A pair is refused if its two tokens have a merge that is older than the value here."""
FIRST_WORD, WORDS, OLDEST = 24, 25, 26
"""The columns of what pair validity knows of the boundary of two tokens; WORDS is 0 where nothing
is asked."""
MERGE_OF, MERGE_LEFT, MERGE_RIGHT, MERGE_YOUNGEST = 27, 28, 29, 30
"""The columns of what pair validity knows of each pair that may merge."""
MERGE_ENTRY = 31
"""The column of the place in MERGED at which the search for a pair begins."""

ROWS = 32
