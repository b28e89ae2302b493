"""Token counts of implementations on the same documents, side by side. Pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.core.comparisons import Contract
from harness.core.outcomes import Results
from harness.core.standing import most_trusted
from harness.events import TokenCounts

Ids = NDArray[np.int32]


@dataclass(frozen=True)
class Differing:
    """A document that two encode differently.

    index: in the batch. first: the index of the first token that differs. changed: tokens of the
    one between the first and the last that differ. tokens, against: how many each gave.
    """

    index: int
    first: int
    changed: int
    tokens: int
    against: int


def pairs(contract: Contract, results: Mapping[str, Results]) -> dict[str, str]:
    """Who is compared with whom: by implementation, the one that is trusted the most beside it."""
    found: dict[str, str] = {}
    exact = [name for name in contract.exact if name in results]
    for group in contract.compared_groups(exact):
        best = most_trusted(group, group)  # the first, so the same in every batch
        found |= {name: best for name in group if name not in (best, *found)}
    return found


def counted(one: Results, other: Results, against: str) -> tuple[TokenCounts, list[Differing]]:
    """The counts of one beside another that was asked the same documents, and where they differ.

    against: the name of the other.
    """
    if one.same_as(other):
        return TokenCounts(against, len(one), 0, len(one.ids), len(other.ids)), []
    both = (one.status == 0) & (other.status == 0)
    lengths, others = (np.diff(side.ends, prepend=0)[both] for side in (one, other))
    gaps = lengths - others
    rows = map(int, np.flatnonzero(both))
    differing = [found for row in rows if (found := _differing(one.row(row), other.row(row), row))]
    counts = TokenCounts(
        against,
        documents=int(both.sum()),
        differing=len(differing),
        tokens=int(lengths.sum()),
        against_tokens=int(others.sum()),
        more=int(gaps[gaps > 0].sum()),
        fewer=-int(gaps[gaps < 0].sum()),
        changed=sum(found.changed for found in differing),
        unanswered=int((~both).sum()),
    )
    return counts, differing


def digest(results: Results) -> int:
    """63 bits that tell, but for chance, whether two results have the same ids and outcomes."""
    columns = results.ids, results.ends.astype(np.int64), results.status
    made = hashlib.blake2b(b"".join(column.tobytes() for column in columns), digest_size=8)
    return int.from_bytes(made.digest(), "little") >> 1


def _differing(ids: Ids, others: Ids, index: int) -> Differing | None:
    first = _alike(ids, others)
    if first == len(ids) == len(others):
        return None
    last = _alike(ids[first:][::-1], others[first:][::-1])
    return Differing(index, first, len(ids) - first - last, len(ids), len(others))


def _alike(ids: Ids, others: Ids) -> int:
    """How many ids two texts have in common at their beginning."""
    short = min(len(ids), len(others))
    apart = np.flatnonzero(ids[:short] != others[:short])
    return int(apart[0]) if len(apart) else short
