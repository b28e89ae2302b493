"""Where the real data lies: $TOKGATE_DATA, or ../shared/data beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("TOKGATE_DATA") or Path(__file__).parents[2] / "shared" / "data")


def data_path(name: str) -> Path:
    """The path of ``vocabs/llama3.tiktoken.gz`` and the like; skips the test where it is absent.

    Tests that call it carry the ``data`` marker.
    """
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"no real data: {path} is absent (set TOKGATE_DATA)")
    return path
