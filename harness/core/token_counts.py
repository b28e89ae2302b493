"""Token counts of implementations on the same documents, side by side. Pure functions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.core.standing import most_trusted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.core.comparisons import Contract
    from harness.core.outcomes import Results


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Counts:
    """What two gave on a batch: the tokens of each over the documents that both encoded."""

    documents: int
    tokens: int
    against: int
    unanswered: int
    differing: tuple[Differing, ...]


def pairs(contract: Contract, results: Mapping[str, Results]) -> dict[str, str]:
    """Who is compared with whom: by implementation, the one that is trusted the most beside it."""
    found: dict[str, str] = {}
    exact = [name for name in contract.exact if name in results]
    for group in contract.compared_groups(exact):
        best = most_trusted(group.names, group.standing)  # the first, so the same in every batch
        found |= {name: best for name in group.names if name not in (best, *found)}
    return found


def counted(one: Results, other: Results) -> Counts:
    """The counts of one beside another that was asked the same documents."""
    if one.same_as(other):
        return Counts(len(one), len(one.ids), len(other.ids), 0, ())
    both = (one.status == 0) & (other.status == 0)
    lengths, others = (np.diff(side.ends, prepend=0) for side in (one, other))
    differing = [found for i in np.flatnonzero(both) if (found := _differing(one, other, int(i)))]
    return Counts(
        documents=int(both.sum()),
        tokens=int(lengths[both].sum()),
        against=int(others[both].sum()),
        unanswered=int((~both).sum()),
        differing=tuple(differing),
    )


def digest(results: Results) -> int:
    """63 bits that tell, but for chance, whether two results have the same ids and outcomes."""
    made = hashlib.blake2b(results.ids.tobytes(), digest_size=8)
    made.update(results.ends.astype(np.int64).tobytes())
    made.update(results.status.tobytes())
    return int.from_bytes(made.digest(), "little") >> 1


def _differing(one: Results, other: Results, index: int) -> Differing | None:
    ids, others = one.row(index), other.row(index)
    short = min(len(ids), len(others))
    apart = np.flatnonzero(ids[:short] != others[:short])
    if not len(apart) and len(ids) == len(others):
        return None
    first = int(apart[0]) if len(apart) else short
    rest = short - first  # what the two may have alike at their ends
    unlike = np.flatnonzero(ids[len(ids) - rest :][::-1] != others[len(others) - rest :][::-1])
    alike = int(unlike[0]) if len(unlike) else rest
    return Differing(index, first, len(ids) - first - alike, len(ids), len(others))
