"""What given inputs cost a loaded implementation, in rounds: what tests of the meters ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.core.messages import Meter
from harness.core.outcomes import Encoded, Failed, Outcome, Results, Status, Unsupported
from harness.engine.costs import TINY, WARM_UP, Loaded

Subject = Callable[[int], bytes]
"""The inputs of one kind and size by round: a fresh one each, so that no cache of pieces helps."""

NO_COSTS = Failed(Status.PROTOCOL, "gave no costs")


@dataclass(slots=True)
class Cost:
    """What one subject costs: the least of all rounds, as noise only ever adds.

    size: bytes of the input. spent: nanoseconds of CPU time, or steps; None where there was no
    answer in any round. peak, stack: bytes of memory beyond those held before, under the meter
    for memory. outcome: the first that was no encoding: rejected, crashed, out of memory, ..
    """

    size: int
    spent: int | None = None
    peak: int | None = None
    stack: int | None = None
    outcome: Outcome | None = None

    @property
    def failed(self) -> bool:
        """Whether it has no cost for being no answer, rather than refused or not yet asked."""
        return self.outcome is not None and self.outcome.status not in (
            Status.REJECTED,
            Status.UNSUPPORTED,
        )

    def take(self, costs: Sequence[int], meter: Meter) -> None:
        """Note what a round came to."""
        if meter is Meter.MEMORY:
            self.peak, self.stack = least(self.peak, costs[0]), least(self.stack, costs[1])
        else:
            self.spent = least(self.spent, costs[0])


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of all subjects, and of a call for its own sake, in the same unit."""

    overhead: int
    of: tuple[Cost, ...]


def costs(
    on: Loaded,
    subjects: Sequence[Subject],
    meter: Meter = Meter.TIME,
    rounds: int = 3,
) -> Costs:
    """Measure all subjects round by round, so that a disturbance falls on all alike.

    A subject that gave no answer is not asked again; its outcome says why. The others of that
    round are asked once more without it. Steps and memory need one round only. Each round is one
    request, so that its inputs have the time that ``Limits`` gives to their bytes together.
    """
    found = [Cost(len(subject(0))) for subject in subjects]
    overhead: int | None = None
    for number in range(rounds):
        inputs = [subject(number) for subject in subjects]
        asked = [place for place, cost in enumerate(found) if cost.outcome is None]
        while asked:
            # What goes first must not be what is measured, so that it is cut from the smallest.
            shortest = min((inputs[place] for place in asked), key=len)
            batch = [shortest[:WARM_UP], shortest[:TINY], *(inputs[place] for place in asked)]
            results = on.gauge(batch, meter)
            faulty = faults(results)
            dead = [place for row, place in enumerate(asked, 2) if row in faulty]
            for row, place in enumerate(asked, 2):
                if row in faulty:
                    found[place].outcome = faulty[row]
                elif results.costs is not None and not faulty.keys() & {0, 1}:
                    found[place].take(results.costs[row].tolist(), meter)
            if results.costs is not None and 1 not in faulty:
                overhead = least(overhead, int(results.costs[1, 0]))
            if results.costs is not None:
                break
            if not dead:  # it fails before it comes to any of them
                for place in asked:
                    found[place].outcome = faulty[min(faulty)] if faulty else NO_COSTS
            asked = [place for place in asked if place not in dead] if dead else []
    return Costs(overhead or 0, tuple(found))


def faults(results: Results) -> dict[int, Outcome]:
    """The rows that are no encodings; of those only held back after a death, none."""
    rows = {row: results.outcome(row) for row in range(len(results)) if results.status[row]}
    died = any(status > Status.ERRORED for status in results.status.tolist())
    return {
        row: outcome
        for row, outcome in rows.items()
        if not isinstance(outcome, Encoded) and not (died and isinstance(outcome, Unsupported))
    }


def least(before: int | None, now: int) -> int:
    """The smaller of what is known and what is new."""
    return now if before is None else min(before, now)
