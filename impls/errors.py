"""What a user can mend about an implementation, as one exception."""

from __future__ import annotations


class ImplementationError(Exception):
    """An implementation cannot be had; one line that names it, the fault and the mend.

    unknown: nothing of that name exists (a usage error), else it exists and cannot start.
    """

    def __init__(self, message: str, *, unknown: bool = False) -> None:
        self.unknown = unknown
        super().__init__(message)


class NotInstalled(ImplementationError, ImportError):
    """A known implementation whose library is not installed; the line says what to install."""
