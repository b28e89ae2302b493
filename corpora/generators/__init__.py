"""Generators of cases: one file a way of making them."""
