"""The loop of a campaign: choose who makes inputs, have them made, ask, reward what was new.

What is new is for a feedback to say: behaviours of all who are asked (``fuzz``), the cost of one
implementation (``worst``), or places in the source, by which two makers choose what they make
(:mod:`harness.studies.fuzz.coverage`, and the one that follows lines in
:mod:`harness.studies.worst.search`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from harness.studies.fuzz.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.studies.fuzz.schedule import Arm

Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)


class Maker(Protocol[Made_co]):
    """One way of making inputs: an arm of the schedule."""

    @property
    def cost(self) -> float:
        """Of a batch, beside 1 for that of a generator."""
        ...

    @property
    def lasting(self) -> bool:
        """Whether it may have inputs again after it had none."""
        ...

    def take(self, number: int, place: int) -> Made_co | None:
        """Batch ``number`` of the campaign, the ``place``-th of this arm; None where there is none.

        A function of the two and of what was kept so far, and of nothing else.
        """
        ...

    def close(self) -> None:
        """Let go of processes."""
        ...


class Loop(Generic[Made]):
    """Has batches made by whom the schedule chooses.

    arms, taken: the state, which is kept up to date: the arms of the schedule, and the number of
    batches taken from each.
    """

    def __init__(
        self,
        makers: Mapping[str, Maker[Made]],
        seed: str,
        arms: list[Arm],
        taken: dict[str, int],
    ) -> None:
        costs = {name: maker.cost for name, maker in makers.items()}
        self._makers, self._taken = makers, taken
        self._schedule = Schedule(costs, seed, arms)
        self.reward = self._schedule.reward

    def choose(self, number: int, wanted: int = 1) -> tuple[list[tuple[str, Made]], int]:
        """Up to so many batches from ``number`` on, with their arms, and how many came to nothing.

        An arm that turns out to have nothing is no batch: all of them may, for a toy's alphabet.
        """
        chosen: list[tuple[str, Made]] = []
        busy: list[str] = []
        while len(busy) < wanted + len(self._makers) and len(chosen) < wanted:
            at = number + len(busy)
            name = self._schedule.choose(at, busy)
            if name is None:
                break
            busy.append(name)
            place = self._taken.get(name, 0)
            made = self._makers[name].take(at, place)
            if made is not None:
                self._taken[name] = place + 1
                chosen.append((name, made))
            elif self._makers[name].lasting:
                self.reward(name, at, 0, 0.0)
            else:
                self._schedule.end(name)
        return chosen, len(busy) - len(chosen)

    def close(self) -> None:
        """Let go of all processes of makers."""
        for maker in self._makers.values():
            maker.close()
