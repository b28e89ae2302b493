"""What an implementation needs beyond what a confined worker may do (``About.needs``).

``network``     sockets of all kinds
``write:PATH``  writing to a file, or into a folder, which is made where it is not there; ``~`` is
                the user's home
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

NETWORK = "network"
WRITE = "write:"


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs as they were declared, understood. writable: absolute paths."""

    network: bool = False
    writable: tuple[str, ...] = ()


def understood(declared: Iterable[str]) -> Needs:
    """Return what these lines ask for. Raises ValueError, in one line, for what is no need."""
    if isinstance(declared, str):
        raise ValueError(f"needs {declared!r}: give a tuple of texts")
    network, writable = False, []
    for need in declared:
        if need == NETWORK:
            network = True
            continue
        if not isinstance(need, str) or not need.startswith(WRITE):
            raise ValueError(f"need {need!r}: there are 'network' and 'write:PATH'")
        path = Path(need.removeprefix(WRITE)).expanduser()
        if not path.is_absolute():
            raise ValueError(f"need {need!r}: give an absolute path, or one that begins with ~")
        writable.append(str(path))
    return Needs(network, tuple(writable))
