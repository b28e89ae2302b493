"""Hunts of a selftest as units of work: each is a group of mistakes, with its share of the time.

What a hunt is given is fixed before it begins, so that one that is lost is begun anew, alike. What
it comes to are the events of a hunt on this machine, and the time of the budget is counted by what
hunts say they took: how long units travel, or wait for a slot, is not charged to the mistakes.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.cluster.executor import Unit, UnitError
from harness.core import stored
from harness.events import Event, UnitDone
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.events import HuntDone, MistakeJudged
from harness.studies.selftest.gate import hunt_gate
from harness.studies.selftest.groups import REFERENCES, Group, Kind, groups
from harness.studies.selftest.hunt import Hunt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.cluster.executor import Executor
    from harness.engine.suites import Suite
    from harness.studies.selftest.mutant import Mutant

POLL_SECONDS = 0.5

MAX_BYTES = 1 << 28
"""The greatest size of a hunt's events, unpacked."""


def hunted(group: Group, suite: Suite, seed: int, share: float) -> list[Event]:
    """Hunt a group for its share, wherever this is called."""
    if group.kind is Kind.FORCED:
        from harness.studies.selftest.forced import hunt_forced  # noqa: PLC0415 (imports llguidance)

        return hunt_forced(group, seed, share, lambda: False)
    if group.kind is Kind.GATE:
        return hunt_gate(group, seed, lambda: False)
    return Hunt(group, suite, seed).run(share)


def perform(keep: dict[str, Any], group: Group, suite: Suite, seed: int, share: float) -> bytes:
    """Hunt a group. keep: nothing is.

    The mistakes are those of this machine by their names, as programs among them are run by its
    Python, which may lie elsewhere.
    """
    known = mistakes()
    group = replace(group, mistakes=tuple(known[one.name] for one in group.mistakes))
    lines = "\n".join(one.to_json() for one in hunted(group, suite, seed, share))
    return zlib.compress(lines.encode(), 6)


def unpacked(name: str, packed: bytes, group: Group) -> list[Event]:
    """Return the events of a hunt. Raises UnitError for what is none, or one of another group."""
    try:
        lines = stored.unzipped(packed, MAX_BYTES).decode().splitlines()
        events = [one for one in map(Event.from_json, lines) if one is not None]
    except ValueError as error:
        raise UnitError(f"{name}: its result cannot be read: {error}") from error
    judged = {one.name for one in events if isinstance(one, MistakeJudged)}
    done = [one.mistakes for one in events if isinstance(one, HuntDone)]
    names = [one.name for one in group.mistakes]
    if done != [names] or not judged.issuperset(names):
        raise UnitError(f"{name}: its result cannot be read: it is of other mistakes")
    specs = {one.name: one.spec for one in group.mistakes}
    return [
        replace(one, spec=specs.get(one.name, one.spec)) if isinstance(one, MistakeJudged) else one
        for one in events
    ]


def hunts(
    executor: Executor,
    shares: Sequence[tuple[Group, float]],
    suite: Suite,
    seed: int,
    again: int,
) -> Iterator[tuple[Group, list[Event]]]:
    """Have groups hunted, each for its share of seconds, and give the events of each as they come.

    again: how often mistakes of theirs were hunted before. Raises UnitError, ClusterError.
    """
    left: dict[str, Group] = {}
    for number, (group, share) in enumerate(shares, 1):
        round_ = f", round {again + 1}" if again else ""
        name = f"hunt {number} on {group.vocabulary}, {len(group.mistakes)} mistakes{round_}"
        left[name] = group
        executor.submit(Unit(name, perform, (), (group, suite, seed, share)))
    while left:
        done = executor.next(POLL_SECONDS)
        if done is None:
            continue
        group = left.pop(done.name)
        events = unpacked(done.name, done.result, group)
        cases = sum(sum(one.cases.values()) for one in events if isinstance(one, HuntDone))
        size = len(done.result)
        done_event = UnitDone(done.name, done.node, done.tries, done.seconds, size, cases)
        yield group, [*events, done_event]


def workers(planted: Sequence[Mutant]) -> int:
    """How many workers the greatest hunt has at a time: references, controls and mistakes."""
    trusted = max(len(one) for one in REFERENCES.values())
    return trusted + max(len(one.controls) + len(one.mistakes) for one in groups(planted))
