"""Who takes part in a run: an implementation with its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from impls.interface import About, Capability, Implementation


@dataclass(frozen=True, slots=True)
class Participant:
    """An implementation that a run was given: its name, how to make it, and what it says."""

    name: str
    spec: str
    about: About
    implementation: Implementation

    def can(self, capability: Capability) -> bool:
        """Whether it claims the capability."""
        return capability in self.about.capabilities
