"""Forced tokens of whole corpora: the walk, its judgement, its processes, its record."""
