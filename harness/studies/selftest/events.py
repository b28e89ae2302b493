"""The stream of a selftest: what the terminal, the page and the JSON are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.events.base import Event, event


@dataclass(frozen=True, slots=True)
class Sighting:
    """The first time that a check showed a mistake on a case of one generator.

    generator: for growth, the family. cases: of that generator, up to and with this one;
    seconds: spent on them. all_cases, all_seconds: likewise of all generators together, as the
    campaign gave them in turn. Findings are minimised beside the batches, in the same time.
    """

    generator: str
    check: str
    cases: int
    seconds: float
    all_cases: int
    all_seconds: float


@event
class SelftestStarted(Event):
    """A selftest begins. generators, checks: all that take part, by name."""

    time: str
    command: str
    seed: int
    budget: float
    suite: str
    versions: dict[str, str]
    machine: str
    mistakes: int
    generators: list[str]
    checks: list[str]


@event
class MistakeJudged(Event):
    """What became of one planted mistake, or of a control, which has none.

    check: under which it should be found, empty for a control. named: ``check/stage`` of the
    findings that it came to, minimised; bucket, input: of the first one under the right name (or
    else of the first), input in base64. sightings: see :class:`Sighting`. trouble: why it could
    not be hunted, if so.
    """

    name: str
    family: str
    summary: str
    spec: str
    vocabulary: str
    mode: str
    check: str
    stages: list[str]
    named: list[str]
    bucket: str
    input_b64: str
    sightings: list[dict[str, Any]]
    trouble: str

    @property
    def caught(self) -> bool:
        """Whether anything was found of it."""
        return bool(self.named)

    @property
    def rightly(self) -> bool:
        """Whether it was found under its name."""
        stages = self.stages
        return any(
            check == self.check and (not stages or stage in stages)
            for check, _, stage in (one.partition("/") for one in self.named)
        )


@event
class HuntDone(Event):
    """One group was hunted. cases: by generator, over all contracts. seconds: loading and all."""

    vocabulary: str
    kind: str
    mistakes: list[str]
    references: list[str]
    seconds: float
    cases: dict[str, int]
