"""The folders that outlive a process: compiled functions, and tables. Confined workers may write
to these two and to nothing beside them, so each is a folder of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

COMPILED, TABLES = "NUMBA_CACHE_DIR", "TOKGATE_CACHE_DIR"
"""The variables of the environment by which users move them."""

PACKAGES = "TOKGATE_PACKAGES"
"""The variable of the environment by which users move the folder of files that were fetched of
packages."""

OURS = "TOKGATE_COMPILED"
"""The variable that names the harness's folder of compiled functions to a worker that runs code of
others, too. Such a worker has a folder of its own, into which it may copy from there."""


def compiled_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return where Numba keeps compiled functions: as the user says, or below the user's cache.

    Numba itself would keep them beside the source, where a confined worker may not write.
    """
    return _folder(COMPILED, "compiled", environment)


def tables_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return where tables of vocabularies are kept."""
    return _folder(TABLES, "tables", environment)


def packages_folder() -> Path:
    """Return where files that were fetched of packages are kept; only the harness writes there."""
    return _folder(PACKAGES, "packages", None)


def _folder(variable: str, name: str, environment: Mapping[str, str] | None) -> Path:
    given = (os.environ if environment is None else environment).get(variable)
    if given:
        return Path(given)
    from platformdirs import user_cache_path  # noqa: PLC0415 (only where it is asked)

    return user_cache_path("tokgate", appauthor=False) / name
