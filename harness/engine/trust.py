"""What a record may make this machine do: a record may come from elsewhere.

``tokgate replay FOLDER`` runs the implementations that the record names. A registered name leads to
what is installed here, whatever the record says of it. Any other name is an instruction: ``cmd:``
starts a program, ``path.py:attr`` and ``module:attr`` import Python code into the harness, ``pip:``
installs a package. A vocabulary named ``hf:``, ``pypi:`` or ``npm:`` is fetched over the network
from a repository or a package that the record chose, with the user's own token. All of these need
the user's word.

What needs none: embedded and random vocabularies; ``tiktoken:``, whose names and addresses are
tiktoken's own; and paths of vocabularies and of an expectations file, which are only read, by
loaders that run nothing in them.

The other commands that take a folder (``report``, ``diff``) read the record and run nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.sources import PACKAGED
from harness.engine.selection import SelectionError
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Iterable

FETCHED = ("hf:", *PACKAGED)
"""Names of vocabularies that begin with one of these were chosen by their user, and come from the
network."""


def instructions(specs: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Return what is not registered of the implementations, and not here of the vocabularies."""
    known = registry.names()
    odd = [f"run {spec!r}" for spec in dict.fromkeys(map(str, specs)) if spec not in known]
    return odd + [f"fetch {one!r}" for one in dict.fromkeys(map(str, sources)) if fetched(one)]


def fetched(source: str) -> bool:
    """Whether a vocabulary of this name comes from where somebody else chose."""
    return source.startswith(FETCHED)


def demand(record: object, specs: Iterable[str], sources: Iterable[str], *, trust: bool) -> None:
    """Raise SelectionError, one line that says what would run, where trust is due and not given."""
    if trust:
        return
    named = instructions(specs, sources)
    if named:
        raise SelectionError(
            f"{record}: this record would {', '.join(named)}; if you know where it comes from "
            "and want that, give --trust"
        )
