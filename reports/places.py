"""Which file of a repository a fault is shown at, for alerts and annotations.

Code hosts hang what a tool reports on lines of files; a tokenizer's wrong id stands on none. The
file to open is the implementation's own, where it was given as one (``path.py:attr``), else the
expectations file of the run, where a known divergence would be written down.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reports.record import RunRecord

FALLBACK = "tokgate-out/report.html"
"""The place of an alert where neither is known. It need not be in the repository: the alert then
has no preview."""


def place(record: RunRecord, culprits: Iterable[str] = ()) -> str:
    """The path to show a fault at, as the run was given it: relative to where it ran, or absolute.

    culprits: implementations to blame, the first with a file of its own decides.
    """
    specs = record.started.specs if record.started else {}
    for name in culprits:
        path = _source(specs.get(name, ""))
        if path:
            return path
    return expectations_file(record)


def expectations_file(record: RunRecord) -> str:
    """The run's own expectations file, or :data:`FALLBACK`."""
    expect = record.started.expect if record.started else None
    return posixpath.normpath(expect) if expect else FALLBACK


def _source(spec: str) -> str:
    """The file of ``path.py:attr``; empty for every other way to name an implementation."""
    path, colon, _ = spec.rpartition(":")
    if not colon or not path.endswith(".py") or path.startswith("cmd:"):
        return ""
    return posixpath.normpath(path)
