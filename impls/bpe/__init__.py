"""Byte-pair encoding: its definition, its algorithms, their tables, and what makes them fast."""
