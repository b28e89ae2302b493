"""WordPiece: greedy longest match first, in the variants of its engines."""
