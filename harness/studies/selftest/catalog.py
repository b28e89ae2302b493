"""All planted mistakes; ``--impl harness.studies.selftest.catalog:NAME`` runs one of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from types import SimpleNamespace

from harness.studies.selftest.mutant import Mutant

FAMILIES = (
    "merging", "pretokens", "specials", "decoding", "offsets", "services", "caches", "processes",
    "growth", "spm", "unigram", "wordpiece", "healing",
    "ways",
    "healers",
    "file_normalizers", "file_pretokens", "file_models", "file_endings",
    "gate",
)  # fmt: skip
"""Modules of :mod:`harness.studies.selftest.mutants`, in the order of the table."""


@cache
def family_of(family: str) -> tuple[Mutant, ...]:
    """The mistakes of a family."""
    table = import_module(f"harness.studies.selftest.mutants.{family}").MUTANTS
    return tuple(replace(one, family=family) for one in table)


@cache
def mistakes() -> dict[str, Mutant]:
    """Every planted mistake by name, family by family. Raises ValueError for one planted twice."""
    every = [one for family in FAMILIES for one in family_of(family)]
    found = {one.name: one for one in every}
    if len(found) < len(every):
        raise ValueError("a mistake is planted twice; rename one")
    return found


@cache
def __getattr__(family: str) -> SimpleNamespace:
    """The implementations of a family by name, as ``--impl`` takes them."""
    if family not in FAMILIES:
        raise AttributeError(family)
    every = [one for one in family_of(family) if not one.wrong]
    return SimpleNamespace(**{one.place: one.changed() for one in every})
