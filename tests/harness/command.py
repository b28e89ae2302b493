"""The installed command, as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOKGATE = str(Path(sys.executable).with_name("tokgate"))


def tokgate(
    *arguments: str, seconds: float = 170, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``tokgate`` with these arguments in ``folder``; it must end within ``seconds``."""
    return subprocess.run(
        [TOKGATE, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=folder,
    )
