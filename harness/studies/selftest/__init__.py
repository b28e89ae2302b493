"""Detection, measured: planted mistakes, and what the checks and generators make of them."""
