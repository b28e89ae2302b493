"""How seldom a worker collects garbage while it loads a vocabulary."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

THRESHOLDS = (20_000, 20, 50)
"""Python's thresholds for collecting garbage while a vocabulary is loaded. By its own, a fifth of
the time goes into visiting again and again what is being built."""


@contextlib.contextmanager
def seldom() -> Iterator[None]:
    """Collect garbage seldom inside; what a measurement left out is visited again."""
    gc.unfreeze()
    usual = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
