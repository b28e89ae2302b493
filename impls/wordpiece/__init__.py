"""WordPiece: greedy longest match first, in the dialects of its engines."""
