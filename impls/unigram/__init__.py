"""Unigram: one file an algorithm."""
