"""Costs besides time for each byte: memory, what is left behind, and growth in other numbers."""
