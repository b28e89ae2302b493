"""Hypothesis makes inputs: the strategies of all generators, by its own engine.

In a process of its own, for two reasons. Hypothesis takes constants for its choices from the local
modules that happen to be imported, so that only a process that always imports the same makes the
same. And it makes a hundred cases a second, while the harness has better to do.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.confinement.plan import OFF, Held
from harness.engine.streams import Batch
from harness.studies.fuzz.helper import Helper, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary

STRUCTURED = "hypothesis"

EXAMPLES = 128
"""A batch has so many examples, which is the work of a second."""

COST = 4.0
"""A batch counts for so much of the budget: it takes as long as four batches of a generator, for a
quarter of the cases."""

SECONDS = 120.0
"""The time limit of a batch, which is there for hangs: the first batch makes the tables of the
strategies, too."""

Request = tuple["Vocabulary | None", int, int]
"""A vocabulary (None: the last one), a seed, and how many examples."""


class Structured:
    """Batches that Hypothesis makes; its process is started when it is first asked."""

    cost = COST
    lasting = True

    def __init__(
        self, vocabulary: Vocabulary, seed: int, shard: int, stopped: Callable[[], bool]
    ) -> None:
        self._vocabulary, self._seed, self._shard = vocabulary, seed, shard
        self._stopped = stopped
        self._helper = Helper(__name__)
        self._handed_over = False

    def take(self, number: int, place: int) -> Batch | None:
        """The ``place``-th batch; None where the process fails. Raises Stopped."""
        from harness.studies.fuzz.arms import derived  # noqa: PLC0415 (arms are made of this)

        seed = derived(self._seed, self._shard, place)
        given = None if self._handed_over else self._vocabulary
        made = self._helper.ask((given, seed, EXAMPLES), SECONDS, self._stopped)
        self._handed_over = made is not None
        return Batch(STRUCTURED, seed, place, 0, made) if made else None

    def close(self) -> None:
        """End the process."""
        self._helper.close()
        self._handed_over = False


class Engine:
    """The inside: strategies of the vocabulary it was given last."""

    def __init__(self) -> None:
        self._vocabulary: Vocabulary | None = None

    def __call__(self, request: Request) -> list[bytes]:
        """The distinct examples, in the order in which they were made."""
        given, seed, count = request
        self._vocabulary = given or self._vocabulary
        assert self._vocabulary is not None
        return examples(self._vocabulary, seed, count)


def examples(vocabulary: Vocabulary, seed: int, count: int) -> list[bytes]:
    """Up to ``count`` distinct inputs that Hypothesis makes of its strategies for a vocabulary."""
    import hypothesis  # noqa: PLC0415 (half a second, in the helper only)

    from corpora.generators import strategies  # noqa: PLC0415

    made: dict[bytes, None] = {}

    @hypothesis.seed(seed)
    @hypothesis.settings(
        database=None,
        max_examples=count,
        phases=[hypothesis.Phase.generate],
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.inputs(vocabulary))
    def collect(data: bytes) -> None:
        made[data] = None

    collect()
    return list(made)


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve requests; see :mod:`harness.confinement.start`."""
    serve(Engine(), arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
