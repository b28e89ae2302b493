"""Texts: those that a user brings (``--input``), and those for benchmarks."""
