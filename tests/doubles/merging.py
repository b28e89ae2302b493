"""Byte-pair encoding by its definition, which models of encoders and of readers share."""

from itertools import pairwise


def merged(parts, rank_of, join):
    """Merge while ``rank_of(a, b)`` gives a rank for two neighbours: the lowest, then leftmost."""
    parts = list(parts)
    while True:
        ranked = [(rank_of(a, b), at) for at, (a, b) in enumerate(pairwise(parts))]
        ranked = [(rank, at) for rank, at in ranked if rank is not None]
        if not ranked:
            return parts
        at = min(ranked)[1]
        parts[at : at + 2] = [join(*parts[at : at + 2])]
