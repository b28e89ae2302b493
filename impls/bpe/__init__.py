"""Byte-pair encoding: a file for each algorithm, for each of their tables, and for each service."""
