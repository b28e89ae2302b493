"""The errors that a user can mend: each ends a command with one line and no traceback."""

from __future__ import annotations

from corpora.families.user import FamiliesError
from corpora.texts.documents import TextsError
from corpora.vocabularies.model import VocabularyError
from harness.cluster.executor import ClusterError, UnitError
from harness.core.writing import NO_ROOM, OutputError, cannot_write
from harness.engine.selection import SelectionError
from harness.verdict import gate
from harness.verdict.expectations import ExpectationsError
from impls.errors import ImplementationError

USERS = (
    VocabularyError, FamiliesError, SelectionError, ExpectationsError, OutputError, TextsError,
    ClusterError, UnitError,
)  # fmt: skip
"""These errors are mistakes in what the user gave, and end a command with status 2."""


def explained(error: Exception) -> tuple[str, int] | None:
    """The one line for an error that a user can mend, and the exit status; None for a defect."""
    if isinstance(error, USERS):
        return str(error), gate.USAGE
    if isinstance(error, ImplementationError):
        return str(error), gate.USAGE if error.unknown else gate.CANNOT_START
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        where = error.filename or "standard output, or a temporary file"
        return str(cannot_write(where, error)), gate.USAGE
    return None
