"""Byte-pair encoding: one file an algorithm."""
