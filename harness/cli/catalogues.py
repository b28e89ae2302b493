"""What ``tokgate list`` lists: each entry a flat dictionary."""

from __future__ import annotations

from typing import Any

from corpora.families import user
from corpora.families.catalog import families
from corpora.generators import catalog
from corpora.vocabularies import drawn, embedded
from harness.checks import CHECKS, MEASURES
from harness.core.quiet import aside
from impls import registry
from impls.errors import ImplementationError
from impls.interface import About

Row = dict[str, Any]

NOT_INSTALLED = "not installed"
"""The version of an implementation that cannot be imported; its home page then says why."""


def rows(kind: str) -> list[Row]:
    """The entries of ``vocabs``, ``impls``, ``generators``, ``families`` or ``checks``."""
    match kind:
        case "impls":
            return [implementation(spec) for spec in registry.registered()]
        case "vocabs":
            found = {
                **embedded.embedded(),
                **embedded.TOY_FILES,
                **{f"{embedded.RANDOM}{kind}:SEED": why for kind, (why, _) in drawn.KINDS.items()},
            }
        case "generators":
            found = {one.name: one.summary for one in catalog.generators().values()}
        case "families":  # with the user's own
            found = {one.name: one.reason for one in families(user.chosen(None)).values()}
        case _:
            found = {one.name: one.summary for one in CHECKS.values()} | MEASURES
    said = "reason" if kind == "families" else "summary"
    return [{"name": name, said: text} for name, text in found.items()]


def implementation(spec: str) -> Row:
    """What one that is registered says of itself, or why it cannot be had."""
    try:
        with aside():
            about = registry.resolve(spec).about
    except (ImplementationError, ImportError) as error:
        about = About(spec, NOT_INSTALLED, "", homepage=str(error))
    return {
        "name": about.name,
        "version": about.version,
        "language": about.language,
        "capabilities": sorted(about.capabilities),
        "homepage": about.homepage,
    }
