"""An implementation that claims the services; light, as its encoder is imported on load only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.bpe.encoder import BpeImplementation
from impls.interface import Capability

if TYPE_CHECKING:
    from impls.bpe.encoder import BpeEncoder

SERVICES = frozenset(
    {
        Capability.COUNT,
        Capability.COUNT_TILL_LIMIT,
        Capability.SPLIT,
        Capability.APPEND,
        Capability.PREPEND,
        Capability.INTERVAL,
    }
)


class ServingImplementation(BpeImplementation):
    """A compiled encoder that claims the services, too."""

    services = SERVICES

    @property
    def encoder_type(self) -> type[BpeEncoder]:
        """The encoder that has them."""
        from impls.bpe.services.encoder import ServingEncoder  # noqa: PLC0415 (imports Numba)

        return ServingEncoder
