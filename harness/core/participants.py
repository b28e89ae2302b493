"""Who takes part in a run: an implementation with its name."""

from __future__ import annotations

from dataclasses import dataclass

from impls.interface import About, Capability, Implementation


@dataclass(frozen=True)
class Participant:
    """An implementation that a run was given: its name, how to make it, and what it says.

    origin: how it is made on the machine of the user, where that is another one and has its files
    elsewhere.
    """

    name: str
    spec: str
    about: About
    implementation: Implementation
    origin: str = ""

    @property
    def title(self) -> str:
        """Its name and its version: ``tiktoken 0.12.0``."""
        return f"{self.name} {self.about.version}".rstrip()

    def can(self, capability: Capability) -> bool:
        """Whether it claims the capability."""
        return capability in self.about.capabilities
