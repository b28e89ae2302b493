"""What a walk or a search has done, a line each, written at once: what it goes on from.

A line has what decides the work (``of``, a digest of it), which piece of it was done, and what it
came to. Lines of other work stay where they are, so that its command goes on with them, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from harness.core import stored
from harness.core.output import Lines, cannot_write, write_whole

if TYPE_CHECKING:
    from pathlib import Path

LEFT = "left"
"""The kind of lines about processes that a worker has left behind."""

Unit = tuple[str | int, ...]
"""A piece of work: its kind, and what tells it from others of its kind."""


Kinds = Mapping[str, tuple[Any, Any]]


class _Line(msgspec.Struct):
    unit: Annotated[Unit, msgspec.Meta(min_length=1)]
    done: Any


class Journal:
    """The pieces of work that are done, with what they came to.

    path: of the file. identity: what decides the work. kinds: the types, made of dataclasses and
    builtins, of what tells the pieces of each kind apart, and of what they come to. Raises
    OutputError for a file that cannot be read or written, or has a damaged line. What a kill has
    left of a last line is passed over.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], kinds: Kinds) -> None:
        self.done: dict[Unit, Any] = {}
        self._kinds = {**kinds, LEFT: (tuple[str], bool)}
        self._of = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = []
            for number, line in stored.lines(path) if path.exists() else ():
                try:
                    self._take(line)
                except ValueError as error:
                    mend = "remove that line to do its work again"
                    raise stored.damaged(path, f"line {number}: {error}", mend) from error
                kept.append(line)
            write_whole(path, "".join(f"{line}\n" for line in kept))
            self._file = Lines(path, afresh=False)
        except OSError as error:
            raise cannot_write(f"--out {path.parent}", error) from error

    def _take(self, text: str) -> None:
        """Take in a line. Raises ValueError with the field at fault."""
        raw = stored.parsed(text)
        if isinstance(raw, dict) and raw.get("of") != self._of:
            return  # of other work, or of an earlier version
        line = stored.typed(raw, _Line)
        kind, *rest = line.unit
        if kind not in self._kinds:
            raise ValueError(f"unit: there is no kind {kind!r}")
        named, comes_to = self._kinds[kind]
        unit = (kind, *stored.typed(rest, named, "unit"))
        self.done[unit] = stored.typed(line.done, comes_to, "done")

    def add(self, unit: Unit, result: Any) -> None:
        """Write what a piece of work came to. Raises OutputError."""
        self.done[unit] = result
        line = {"of": self._of, "unit": unit, "done": msgspec.to_builtins(result)}
        self._file.add(json.dumps(line))

    def add_left(self, line: str) -> None:
        """Write what a worker has left behind, once. Raises OutputError."""
        if line not in self.left:
            self.add((LEFT, line), True)

    @property
    def left(self) -> list[str]:
        """What workers have left behind, a line each."""
        return [str(line) for kind, *rest in self.done if kind == LEFT for line in rest]

    def close(self) -> None:
        """Close the file."""
        self._file.close()
