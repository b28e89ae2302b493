"""What ``tokgate list`` lists: each entry a flat dictionary."""

from __future__ import annotations

from typing import Any

from corpora.families import user
from corpora.families.catalog import families as known
from corpora.generators import catalog
from corpora.vocabularies import drawn, embedded
from corpora.vocabularies.toy_files import TOY_FILES
from harness.checks import CHECKS, MEASURES
from harness.core.quiet import aside
from impls import registry
from impls.errors import ImplementationError

Row = dict[str, Any]

NOT_INSTALLED = "not installed"
"""The version of an implementation that cannot be imported; its home page then says why."""


def rows(kind: str) -> list[Row]:
    """The entries of ``vocabs``, ``impls``, ``generators``, ``families`` or ``checks``."""
    return {
        "vocabs": vocabularies,
        "impls": implementations,
        "generators": generators,
        "families": families,
        "checks": checks,
    }[kind]()


def vocabularies() -> list[Row]:
    """The embedded vocabularies, toy files, and the kinds of random ones."""
    files = {name: why for name, (why, _) in TOY_FILES.items()}
    kinds = {f"{embedded.RANDOM}{kind}:SEED": why for kind, (why, _) in drawn.KINDS.items()}
    found = {**embedded.embedded(), **files, **kinds}
    return [{"name": name, "summary": text} for name, text in found.items()]


def implementations() -> list[Row]:
    """Everything registered, installed or not."""
    found = []
    for spec in registry.registered():
        try:
            with aside():
                about = registry.resolve(spec).about
        except (ImplementationError, ImportError) as error:
            found.append(
                {
                    "name": spec,
                    "version": NOT_INSTALLED,
                    "language": "",
                    "capabilities": [],
                    "homepage": str(error),
                }
            )
            continue
        found.append(
            {
                "name": about.name,
                "version": about.version,
                "language": about.language,
                "capabilities": sorted(about.capabilities),
                "homepage": about.homepage,
            }
        )
    return found


def generators() -> list[Row]:
    """The ways of making cases."""

    return [{"name": g.name, "summary": g.summary} for g in catalog.generators().values()]


def families() -> list[Row]:
    """The hostile families whose growth is measured, with the user's own."""

    every = known(user.chosen(None))
    return [{"name": f.name, "reason": f.reason} for f in every.values()]


def checks() -> list[Row]:
    """The properties, and what is measured."""

    judged = {check.name: check.summary for check in CHECKS.values()}
    return [{"name": name, "summary": text} for name, text in {**judged, **MEASURES}.items()]
