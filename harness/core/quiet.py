"""What foreign code prints into this process is put aside, and never reaches the terminal.

The import of a plug-in, its ``about`` and its ``supports`` run in the harness itself. While they
do, the descriptors of standard output and standard error lead to a pipe, of whose content the end
is kept: whatever writes, in whatever language, and however much. What the harness itself prints
meanwhile, from other threads, goes to the terminal as ever (:class:`harness.cli.display.Display`).
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, TextIO, cast

from corpora.plain_text import printable_line

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_BYTES = 64 << 10
"""Of what is printed, so many of the last bytes are kept."""

LINE_SHOWN = 200
"""Characters of its last line in a message."""

DRAINING_SECONDS = 1.0
"""The rest of what was printed is read for so many seconds at the end. A process that was started
meanwhile may hold the pipe open for ever; what it prints is thrown away."""

LOG = logging.getLogger(__name__)
"""Shown under ``--debug`` only."""


class Aside:
    """What was printed so far."""

    def __init__(self, inlet: int) -> None:
        self._kept = bytearray()
        self._inlet = inlet
        self.thread = threading.Thread(target=self._drain, name="aside", daemon=True)
        self.thread.start()

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while part := os.read(self._inlet, 1 << 16):
                self._kept += part
                del self._kept[:-KEPT_BYTES]
        os.close(self._inlet)

    @property
    def text(self) -> str:
        """The end of it, as it came."""
        return bytes(self._kept).decode("utf-8", "replace").strip()

    @property
    def last_line(self) -> str:
        """The last line, cut off and made plain; empty where nothing was printed."""
        return printable_line(self.text.rpartition("\n")[2][:LINE_SHOWN])


@dataclass(frozen=True, slots=True)
class _Diversion:
    """What is put aside, and the streams of the terminal meanwhile."""

    aside: Aside
    terminals: tuple[IO[str], ...]


_lock = threading.RLock()
_depth = 0
_diversion: _Diversion | None = None
_restoring = contextlib.ExitStack()


@contextlib.contextmanager
def aside() -> Iterator[Aside]:
    """Put aside what is printed within, by whatever thread but through a display.

    Where several are within at once, all of them share what is put aside.
    """
    global _depth, _diversion  # noqa: PLW0603 (a process has two such streams)
    with _lock:
        if _diversion is None:
            _diversion = _restoring.enter_context(_diverted())
        _depth += 1
        found = _diversion.aside
    try:
        yield found
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _diversion = None
                _restoring.close()
        if found.text:
            LOG.debug("foreign code printed:\n%s", found.text)


def terminal(*, stderr: bool) -> IO[str] | None:
    """The terminal's stream while something is put aside; None where nothing is."""
    diversion = _diversion
    return None if diversion is None else diversion.terminals[stderr]


@contextlib.contextmanager
def _diverted() -> Iterator[_Diversion]:
    """Lead both descriptors, and Python's streams, to a pipe within."""
    streams = sys.stdout, sys.stderr
    for stream in streams:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    inlet, outlet = os.pipe()
    saved = os.dup(1), os.dup(2)
    terminals = tuple(map(_terminal, streams, (1, 2), saved))
    os.dup2(outlet, 1)
    os.dup2(outlet, 2)
    taker = os.fdopen(outlet, "w", encoding="utf-8", errors="replace", buffering=1)
    sys.stdout = sys.stderr = taker
    put_aside = Aside(inlet)
    try:
        yield _Diversion(put_aside, terminals)
    finally:
        with contextlib.suppress(OSError, ValueError):
            taker.flush()
        if sys.stdout is taker:
            sys.stdout = streams[0]
        if sys.stderr is taker:
            sys.stderr = streams[1]
        for stream, original in zip(terminals, streams, strict=True):
            with contextlib.suppress(OSError, ValueError):
                if stream is not getattr(original, "rich_proxied_file", original):
                    stream.close()
        for descriptor, other in zip(saved, (1, 2), strict=True):
            os.dup2(descriptor, other)
            os.close(descriptor)
        with contextlib.suppress(OSError, ValueError):
            taker.close()
        put_aside.thread.join(DRAINING_SECONDS)


def _terminal(stream: TextIO, descriptor: int, saved: int) -> IO[str]:
    """A stream that still leads where one of the two has led."""
    stream = cast("TextIO", getattr(stream, "rich_proxied_file", stream))
    try:
        if stream.fileno() != descriptor:
            return stream
    except (OSError, ValueError, AttributeError):
        return stream  # it leads to no descriptor
    return io.TextIOWrapper(
        os.fdopen(os.dup(saved), "wb"),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=True,
    )
