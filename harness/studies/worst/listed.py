"""The families that are listed: what a search may begin with, and is compared with in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.families.pattern import Pattern, Pump
from corpora.generators.material import units_of
from harness.engine.selection import SelectionError
from harness.studies.worst.breeding import MOST_BYTES, MOST_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary

CONTROL = "prose"
"""The family that everybody measures: costs are told as multiples of its."""

ALL = "all"
"""Withholds every family."""

SAMPLE = 192
"""Bytes of a family's input that a pattern repeats: a few words, or a run."""


def withheld(names: Sequence[str], known: Mapping[str, Family]) -> frozenset[str]:
    """The families named. Raises SelectionError for a name that is none."""
    for name in names:
        if name not in known and name != ALL:
            raise SelectionError(
                f"--withhold {name!r}: no such family; see `tokgate list families`, or: {ALL}"
            )
    return frozenset(known if ALL in names else names)


def seeds(families: Iterable[Family], vocabulary: Vocabulary) -> list[tuple[str, Pattern]]:
    """Patterns like these families: a sample of each over and over, and its characters drawn."""
    found: list[tuple[str, Pattern]] = []
    for family in families:
        sample = units_of(family.make(vocabulary, SAMPLE, 0))[:MOST_UNITS]
        if not sample or sum(map(len, sample)) > MOST_BYTES:
            continue
        found.append((family.name, Pattern((Pump(tuple(sample)),))))
        distinct = tuple(dict.fromkeys(sample))
        if len(distinct) > 1:
            found.append((family.name, Pattern((Pump(distinct, drawn=True),))))
    return found
