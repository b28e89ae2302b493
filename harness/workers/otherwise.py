"""An encoder made in another way from the one that is there, for the check ``reload``."""

from __future__ import annotations

from harness.core.messages import Way
from impls.interface import Encoder, Reloads, Respells, Unsupported


def otherwise(encoder: Encoder, way: Way) -> Encoder:
    """Saved and loaded again, or loaded from its file written anew. Raises Unsupported."""
    other: Encoder | None = None
    if way is Way.RELOADED and isinstance(encoder, Reloads):
        other = encoder.reloaded()
    elif way is Way.RESPELLED and isinstance(encoder, Respells):
        other = encoder.respelled()
    if other is None:
        raise Unsupported(f"no other way: {way}")
    return other
