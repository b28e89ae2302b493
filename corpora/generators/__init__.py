"""Generators of cases: one file a way of making them.

:mod:`~corpora.generators.catalog` lists them all; :mod:`~corpora.generators.strategies` has the
Hypothesis strategy of each. Hypothesis is imported only there, for it takes a while.
"""
