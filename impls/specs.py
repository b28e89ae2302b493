"""The text by which an implementation is given, so that it means the same from every folder."""

from __future__ import annotations

import shlex
from pathlib import Path

COMMAND = "cmd:"


def from_anywhere(spec: str) -> str:
    """Return a spec whose files are named by absolute paths; other specs as they are.

    These are ``path.py:attr``, and ``cmd:PROGRAM ARGS`` where words name files that exist.
    """
    if spec.startswith(COMMAND):
        try:
            words = shlex.split(spec.removeprefix(COMMAND))
        except ValueError:  # it has no closing quotation, and never runs
            return spec
        placed = [_absolute(word) for word in words]
        return spec if placed == words else COMMAND + shlex.join(placed)
    path, colon, attribute = spec.rpartition(":")
    if colon and (path.endswith(".py") or "/" in path):
        return f"{_absolute(path)}:{attribute}"
    return spec


def _absolute(word: str) -> str:
    try:
        return str(Path(word).absolute()) if Path(word).is_file() else word
    except (OSError, ValueError):  # a name that no file system has
        return word
