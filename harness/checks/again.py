"""What most checks do: ask in another way what was answered already, and compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from harness.checks.base import Check, Judgement, Probe, Violation, encoded_by
from harness.core.messages import Encode
from harness.core.outcomes import Inputs, Unsupported
from harness.core.partition import Part

if TYPE_CHECKING:
    from harness.checks.base import Fault, Observation
    from harness.core.messages import Way
    from harness.core.outcomes import Results

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, eq=False)
class Asked(Generic[Row]):
    """The questions by which one implementation is judged, to itself or to whoever defines it.

    rows: what is known beforehand of each input that is looked at.
    """

    name: str
    rows: Sequence[Row]
    probes: Sequence[Probe]


class AsksAgain(Check, Generic[Row]):
    """A check that judges each implementation by answers to further questions."""

    def asked(self, seen: Observation) -> Iterator[Asked[Row]]:
        """Who is judged, on which inputs, and the questions."""
        raise NotImplementedError

    def compared(
        self, seen: Observation, one: Asked[Row], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Each input that can be judged by its index, with what is wrong there.

        answers: those to the questions of ``one``. What is not yielded is not judged.
        """
        raise NotImplementedError

    def probes(self, seen: Observation) -> list[Probe]:
        """The questions about each implementation in turn."""
        return [probe for one in self.asked(seen) for probe in one.probes]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare each implementation's answers."""
        judgement, rest = Judgement(), iter(answers)
        for one in self.asked(seen):
            theirs = list(islice(rest, len(one.probes)))
            for index, fault in self.compared(seen, one, theirs):
                judgement.exercised[one.name] += 1
                if fault is not None:
                    stage, parts = fault
                    judgement.violations.append(
                        Violation(self.name, index, seen.inputs[index], parts, (one.name,), stage)
                    )
        return judgement


class EncodesAnotherWay(AsksAgain[int]):
    """The same inputs, encoded by another way, have the same ids.

    Who does not know a way answers that it is unsupported.
    """

    stages: ClassVar[tuple[tuple[Way, str], ...]]
    """The ways, and what to call them."""

    def asked(self, seen: Observation) -> Iterator[Asked[int]]:
        """Each about the inputs that it encodes."""
        mode = seen.contract.mode
        for name, rows in encoded_by(seen):
            inputs = Inputs.of([seen.inputs[i] for i in rows])
            ways = [Encode(inputs, mode, way=way) for way, _ in self.stages]
            yield Asked(name, rows, [Probe(name, request) for request in ways])

    def compared(
        self, seen: Observation, one: Asked[int], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare each way with the first answers."""
        results, rows = seen.results[one.name], one.rows
        for (way, stage), answer in zip(self.stages, answers, strict=True):
            if answer.unsupported:
                continue
            whole = len(rows) == len(results) and answer.text_ends is None
            if whole and results.same_as(answer):
                yield from ((index, None) for index in rows)
                continue
            for row, index in enumerate(rows):
                first, again = results.outcome(index), answer.outcome(row)
                if not isinstance(again, Unsupported):
                    words = f"{one.name} ({way.words})"
                    parts = (Part((one.name,), first), Part((words,), again))
                    yield index, None if first == again else (stage, parts)
