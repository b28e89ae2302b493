"""What confines and limits the workers of a run, in one line of its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.confinement import probing
from harness.workers import control_groups

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.core.participants import Participant


def line(memory: int, participants: Iterable[Participant] = ()) -> str:
    """Return the line. memory: bytes that each may take."""
    parts = (probing.line(memory, participants), control_groups.said())
    return "; ".join(part for part in parts if part)
