"""Who wants to know when the compiler is there, and where it keeps its work, without importing it.

Numba takes a second to import, which most processes never need.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from platformdirs import user_cache_path

AT_IMPORT: list[Callable[[], None]] = []
"""Called once when :mod:`corpora.vocabularies.jit` is imported."""

CACHE_VARIABLE = "NUMBA_CACHE_DIR"


def compiled_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return where compiled functions are kept: as the user says, or below the user's cache.

    Numba itself would keep them beside the source, where a confined worker may not write.
    """
    given = (os.environ if environment is None else environment).get(CACHE_VARIABLE)
    return Path(given) if given else user_cache_path("tokgate", appauthor=False) / "compiled"
