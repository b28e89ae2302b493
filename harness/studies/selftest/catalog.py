"""All planted mistakes, and the right implementations that ride beside them."""

from __future__ import annotations

from importlib import import_module

from harness.studies.selftest.mutant import REGISTERED, Mutant

FAMILIES = (
    "merging", "pretokens", "specials", "decoding", "offsets", "services", "caches", "processes",
    "growth", "spm", "unigram", "wordpiece", "healing",
    "ways",
    "healers",
    "file_normalizers", "file_pretokens", "file_models", "file_endings",
    "gate",
)  # fmt: skip
"""Modules of :mod:`harness.studies.selftest.mutants`, in the order of the table."""


def mistakes() -> dict[str, Mutant]:
    """Every planted mistake by name, family by family."""
    for family in FAMILIES:
        import_module(f"harness.studies.selftest.mutants.{family}")
    return {
        name: one for family in FAMILIES for name, one in REGISTERED.items() if one.family == family
    }
