"""Who is to blame for a failure: the unit that failed, or the node where it did.

Nobody can tell from one failure. A node is to blame where other nodes then do what failed there,
several times, and nothing came of it in between; a unit is where it fails on one node after
another. A node that is gone has said nothing about its units.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

FAILURES = 3
"""A node is to blame that has failed at so many units which others did, and has done none since."""

TRIES = 3
"""A unit is to blame that has failed so often, on all the nodes that there are, or on so many of
those that have done others."""


class Blame:
    """What has failed where, so far. Nodes and units are told by their names."""

    def __init__(self) -> None:
        self._failed: dict[str, Counter[str]] = {}
        self._blamed: Counter[str] = Counter()
        self._doubtful: dict[str, set[str]] = {}
        self._worked: set[str] = set()

    def failed(self, unit: str, node: str) -> None:
        """Take note of a failure that nobody is to blame for yet."""
        self._failed.setdefault(unit, Counter())[node] += 1
        self._doubtful.setdefault(node, set()).add(unit)

    def done(self, unit: str, node: str) -> list[str]:
        """Take note that a unit was done; return the nodes that are to blame now."""
        self._worked.add(node)
        self._blamed[node] = 0
        self._doubtful.pop(node, None)
        guilty = []
        for other in self._failed.pop(unit, Counter()):
            if other != node and unit in self._doubtful.get(other, ()):
                self._blamed[other] += 1
                if self._blamed[other] == FAILURES:
                    guilty.append(other)
        return guilty

    def gone(self, node: str) -> None:
        """Forget what failed on a node that is gone: it failed with its node."""
        for nodes in self._failed.values():
            nodes.pop(node, None)
        self._doubtful.pop(node, None)
        self._blamed.pop(node, None)

    def fits(self, unit: str, node: str, nodes: Collection[str]) -> bool:
        """Whether a unit may go to a node: elsewhere first, where it has failed there."""
        failed = self._failed.get(unit, Counter())
        return node not in failed or all(other in failed for other in nodes)

    def waits(self, node: str, nodes: Collection[str]) -> bool:
        """Whether a node gets nothing until others have tried what failed there."""

        def doubtful(one: str) -> bool:
            return len(self._doubtful.get(one, ())) >= FAILURES

        return doubtful(node) and not all(map(doubtful, nodes))

    def hopeless(self, unit: str, nodes: Collection[str]) -> bool:
        """Whether a unit is to blame, and not the nodes that there are."""
        failed = self._failed.get(unit, Counter())
        everywhere = all(node in failed for node in nodes)
        return (everywhere and failed.total() >= TRIES) or len(
            failed.keys() & self._worked
        ) >= TRIES
