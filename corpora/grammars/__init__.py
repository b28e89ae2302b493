"""Grammars for forced tokens."""
