"""What was found, made small: the shortest pattern and input that are as bad as the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corpora.families.pattern import Pattern
from harness.core.messages import Meter
from harness.studies.worst.candidates import Aim, Candidate, Scale
from harness.studies.worst.minimise import minimise
from harness.studies.worst.results import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.core.countdown import Countdown
    from harness.studies.worst.deaths import Death, Deaths
    from harness.studies.worst.gauge import Gauge
    from harness.studies.worst.minimise import Keeps

AS_BAD = 0.93
"""Share of the cost that a smaller pattern has to keep: the least of three times on a busy machine
differs by some hundredths."""

AS_STEEP = 0.05
"""The exponent of a polished pattern may be less by so much."""

AS_BIG = 0.8
"""Share of the memory: it goes by pages and doublings of arrays."""

LOOKS = 3
"""Inputs by which a smaller pattern is compared."""

DEATHS_SHOWN, OF_A_KIND = 6, 2
"""Deaths that are minimised and told: in all, and of one status."""


@dataclass(slots=True)
class Found:
    """A pattern that stands out, and what became of it. memory: bytes a byte, None if not known."""

    pattern: Pattern
    aim: Aim
    origin: str
    memory: float | None
    smallest: Pattern = field(init=False)

    def __post_init__(self) -> None:
        self.smallest = self.pattern


def polished(
    gauge: Gauge, candidates: Sequence[tuple[Aim, Candidate]], scale: Scale, countdown: Countdown
) -> list[Found]:
    """The smallest patterns for these candidates, each pattern once, in equal shares of time."""
    chosen: dict[Pattern, Found] = {}
    for aim, one in candidates:
        memory = one.memory(scale.large)
        chosen.setdefault(one.pattern, Found(one.pattern, aim, one.origin, memory))
    for number, found in enumerate(chosen.values()):
        in_time = until(countdown.part(countdown.left / (len(chosen) - number)), gauge)
        found.smallest = minimise(found.pattern, as_bad(gauge, found, scale), in_time)
    return list(chosen.values())


def as_bad(gauge: Gauge, found: Found, scale: Scale) -> Keeps:
    """Which patterns are as bad as the first one was, by measuring all of them side by side."""

    def keeps(patterns: Sequence[Pattern]) -> list[bool]:
        every = [Candidate(pattern, "") for pattern in (found.pattern, *patterns)]
        meter = Meter.MEMORY if found.aim is Aim.MEMORY else Meter.TIME
        for _ in range(1 if meter is Meter.MEMORY else LOOKS):
            for size in (scale.small, scale.large):
                asked = [one for one in every if size == scale.small or one.samples]
                inputs = [one.pattern.make(size, one.looks(size)) for one in asked]
                for one, data, reading in zip(
                    asked, inputs, gauge.read(inputs, meter), strict=True
                ):
                    if reading.answered:
                        one.take(size, len(data), reading.cost)
        first, *others = every
        return [
            scale.large in one.samples and worse(one, first, found.aim, scale) for one in others
        ]

    return keeps


def worse(one: Candidate, first: Candidate, aim: Aim, scale: Scale) -> bool:
    """Whether a candidate is as bad as the first, for an aim. Of memory, samples hold bytes."""
    share = one.cost(scale.large) / max(first.cost(scale.large), 1e-9)
    if aim is Aim.GROWTH:
        own, its = (it.growth(scale.small, scale.large) or 0.0 for it in (one, first))
        return own >= its - AS_STEEP and share >= AS_BAD / 2
    return share >= (AS_BIG if aim is Aim.MEMORY else AS_BAD)


def smallest_deaths(gauge: Gauge, deaths: Deaths, countdown: Countdown) -> list[Entry]:
    """Deaths of each status, each with its smallest pattern and its shortest input."""
    chosen: list[Death] = []
    for death in deaths.all():
        same = sum(one.status is death.status for one in chosen)
        if same < OF_A_KIND and len(chosen) < DEATHS_SHOWN:
            chosen.append(death)
    found: dict[str, Entry] = {}
    for number, death in enumerate(chosen):
        share = countdown.part(countdown.left / (len(chosen) - number))
        entry = smallest_death(gauge, death, until(share, gauge))
        found.setdefault(f"{entry.kind} {entry.expression}", entry)
    return list(found.values())


def smallest_death(gauge: Gauge, death: Death, in_time: Callable[[], bool]) -> Entry:
    """The same end by less; as it was met where there is no time for more."""
    message = death.message

    def dies(pattern: Pattern, size: int) -> bool:
        nonlocal message
        reading = gauge.read([pattern.make(size)], Meter.TIME)[0]
        if reading.status is death.status:
            message = reading.message
        return reading.status is death.status

    pattern, size = death.pattern, death.size
    while size > 1 and in_time() and dies(pattern, size // 2):
        size //= 2

    def keeps(patterns: Sequence[Pattern]) -> list[bool]:
        # One at a time, up to the first: each costs a process.
        answers: list[bool] = []
        for one in patterns:
            answers.append(not any(answers) and in_time() and dies(one, size))
        return answers

    pattern = minimise(pattern, keeps, in_time)
    return Entry(
        name=death.status.label,
        kind=death.status.label,
        length=len(pattern.make(size)),
        message=message.split("\n", 1)[0],
        expression=pattern.expression(),
        origin="search",
        pattern=pattern.to_dict(),
    )


def until(countdown: Countdown, gauge: Gauge) -> Callable[[], bool]:
    """Whether there is time left, and somebody to ask."""
    return lambda: not countdown.over and not gauge.over
