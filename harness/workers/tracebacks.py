"""What a failure tells whoever wrote the code: the user's own frames, without the harness's."""

from __future__ import annotations

from pathlib import Path
from traceback import format_exception

from harness import confinement

HERE = str(Path(__file__).parent)
OWN = (HERE, str(Path(confinement.__file__).parent), "<frozen runpy>")
"""Where the frames are from that stand below each call of an implementation."""

FRAMES = 12
"""Frames of a traceback, the innermost ones: a recursion without an end has thousands."""

EACH_REQUEST = 3
"""Errors of one request that are told with their frames: an implementation may fail on all of a
batch, and a finding asks for its inputs again by themselves."""


class Tracebacks:
    """How many more errors of a request are told with their frames."""

    def __init__(self) -> None:
        self._left = EACH_REQUEST

    def begin(self) -> None:
        """Another request comes."""
        self._left = EACH_REQUEST

    def message(self, error: BaseException, line: str) -> str:
        """The line of an error, and its traceback as long as there is room for one."""
        if self._left <= 0:
            return line
        self._left -= 1
        return f"{line}\n{frames(error)}".rstrip()


def frames(error: BaseException) -> str:
    """The traceback of an error, from where the harness has called the implementation."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(HERE):
        traceback = traceback.tb_next
    return "".join(format_exception(type(error), error, traceback, limit=-FRAMES))


def without_own(log: str) -> str:
    """A log without the lines in which Python's fault handler names frames of the harness."""
    own = tuple(f'  File "{place}' for place in OWN)
    return "\n".join(line for line in log.splitlines() if not line.startswith(own))
