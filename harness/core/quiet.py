"""What foreign code prints into this process is put aside, and never reaches the terminal.

The import of a plug-in, its ``about`` and its ``supports`` run in the harness itself. While they
do, the descriptors of standard output and standard error lead to a temporary file, of which the
end is read: whatever writes, in whatever language, and however much. What the harness itself prints
meanwhile, from other threads, goes to the terminal as ever (:class:`harness.cli.display.Display`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from corpora.plain_text import printable_line
from corpora.vocabularies import scratch

KEPT_BYTES = 64 << 10
"""How many of the last bytes that were printed are read."""

LINE_SHOWN = 200
"""Characters of its last line in a message."""

LOG = logging.getLogger(__name__)
"""Shown under ``--debug`` only."""


@dataclass
class Aside:
    """What was printed while it was put aside, and where the harness prints meanwhile.

    file: what is printed goes there. terminals: streams that lead where standard output and
    standard error have led. text: the end of what was printed, once it is over.
    """

    file: IO[str]
    terminals: list[IO[str]]
    text: str = ""

    @property
    def last_line(self) -> str:
        """The last line, cut off and made plain; empty where nothing was printed."""
        return printable_line(self.text.rpartition("\n")[2][:LINE_SHOWN])

    def read(self) -> None:
        """Read the end of what was printed so far."""
        with contextlib.suppress(OSError, ValueError):
            self.file.flush()
        number = self.file.fileno()
        start = max(0, os.fstat(number).st_size - KEPT_BYTES)
        self.text = os.pread(number, KEPT_BYTES, start).decode("utf-8", "replace").strip()


_lock = threading.RLock()
_depth = 0
_aside: Aside | None = None
_restoring = contextlib.ExitStack()


@contextlib.contextmanager
def aside() -> Iterator[Aside]:
    """Put aside what is printed within, by whatever thread but through a display.

    Where several are within at once, all of them share what is put aside.
    """
    global _depth, _aside  # noqa: PLW0603 (a process has two such streams)
    with _lock:
        if _aside is None:
            _aside = _restoring.enter_context(_diverted())
        _depth += 1
        found = _aside
    try:
        yield found
    finally:
        with _lock:
            found.read()
            _depth -= 1
            if not _depth:
                _aside = None
                _restoring.close()
        if found.text:
            LOG.debug("foreign code printed:\n%s", found.text)


def terminal(*, stderr: bool) -> IO[str] | None:
    """The terminal's stream while something is put aside; None where nothing is."""
    found = _aside
    return None if found is None else found.terminals[stderr]


@contextlib.contextmanager
def _diverted() -> Iterator[Aside]:
    """Lead both descriptors, and Python's streams, to a file within."""
    streams: list[Any] = [sys.stdout, sys.stderr]
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(
            tempfile.TemporaryFile(
                "w+", buffering=1, encoding="utf-8", errors="replace", dir=scratch.system_folder()
            )
        )
        saved, terminals = [], []
        for number, stream in enumerate(streams, 1):
            original = getattr(stream, "rich_proxied_file", stream)
            coding = getattr(original, "encoding", None)
            kept = stack.enter_context(
                os.fdopen(
                    os.dup(number), "w", buffering=1, encoding=coding, errors="backslashreplace"
                )
            )
            terminal = original  # it leads to no descriptor, or elsewhere
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
                terminal = kept if original.fileno() == number else original
            saved.append(kept)
            terminals.append(terminal)
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        sys.stdout = sys.stderr = file
        try:
            yield Aside(file, terminals)
        finally:
            if sys.stdout is file:
                sys.stdout = streams[0]
            if sys.stderr is file:
                sys.stderr = streams[1]
            for number, kept in enumerate(saved, 1):
                os.dup2(kept.fileno(), number)
