"""The errors that a user can mend: each ends a command with one line and no traceback."""

from __future__ import annotations

from corpora.errors import UserError
from harness.core import exit_statuses
from harness.core.writing import NO_ROOM, cannot_write
from impls.errors import ImplementationError


def explained(error: Exception) -> tuple[str, int] | None:
    """The one line for an error that a user can mend, and the exit status; None for a defect."""
    if isinstance(error, UserError):
        return str(error), exit_statuses.USAGE
    if isinstance(error, ImplementationError):
        status = exit_statuses.USAGE if error.unknown else exit_statuses.CANNOT_START
        return str(error), status
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        where = error.filename or "standard output, or a temporary file"
        return str(cannot_write(where, error)), exit_statuses.USAGE
    return None
