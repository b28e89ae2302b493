"""A vocabulary of a run as a unit of work: performed on a cluster, or kept when it is whole.

Findings on different vocabularies never depend on one another, so each has a tracker and a tally of
its own. What one came to is bytes, which travel from a node, or lie beside the record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.cluster.executor import UnitError
from harness.core import stored
from harness.engine.examiner import Ended, Examiner, Turn
from harness.engine.portable import Portable, packed, packed_files, unpacked
from harness.engine.state import NamedFailed, RunState
from harness.engine.suites import Budget
from harness.events import Event, Phase, Preparing, VocabularyLoaded
from harness.findings.folder import FindingsFolder

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.examiner import Studies
    from harness.engine.plan import Plan
    from harness.engine.state import Tell

    Prepare = Callable[[Plan, Tell, threading.Event], object]

MAX_BYTES = 1 << 30
"""The greatest size of a result, unpacked."""

OF_THE_MOMENT = (Phase, Preparing)
"""Events that say what was being done: when a part is whole that is over."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """All that a vocabulary has come to.

    events: as lines of a record. tally: as ``Tally.plain`` gives it. failed: the implementation,
    the vocabulary and the message where one that the user named could not load. unexpected: whether
    there is a finding that nobody expects. left: what workers left behind, by implementation.
    files: by their paths in the output folder.
    """

    events: list[str]
    tally: dict[str, Any]
    failed: list[str] = field(default_factory=list)
    unexpected: bool = False
    left: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, result: bytes) -> UnitResult:
        """Unpack what a unit came to. Raises UnitError for what is none."""
        try:
            told, files = unpacked(result, MAX_BYTES)
            return replace(stored.typed(told, cls), files=files)
        except ValueError as error:
            raise UnitError(f"{name}: its result cannot be read: {error}") from error

    def packed(self) -> bytes:
        """The form that travels."""
        return packed(replace(self, files={}), self.files)

    def lasting(self) -> list[Event]:
        """Its events, but for those of the moment: each is read from its line."""
        events = map(Event.from_json, self.events)
        return [one for one in events if one is not None and not isinstance(one, OF_THE_MOMENT)]


def are_of(events: Sequence[Event], vocabulary: Vocabulary) -> bool:
    """Whether events are of a vocabulary with this content."""
    loaded = [one for one in events if isinstance(one, VocabularyLoaded)]
    return [one.fingerprint for one in loaded[:1]] == [vocabulary.fingerprint]


def perform(
    keep: dict[str, Any],
    shared: Portable,
    studies: Studies,
    prepare: Prepare,
    load: Callable[[], Vocabulary],
    source: str,
    seconds: float | None,
) -> bytes:
    """Go through one vocabulary; a pure function of its arguments, but for what a clock decides.

    keep: nothing is. studies, prepare: found by their names on every node. seconds: from its first
    case on, where time is the limit.
    """
    plan = replace(
        shared.here({source: load}),
        scaled=[one for one in shared.plan.scaled if one == source or seconds is None],
        budget=shared.plan.budget if seconds is None else Budget(seconds),
        jobs=1,
    )
    events: list[Event] = []
    failed: list[str] = []
    left: dict[str, str] = {}
    ended = Ended()
    with scratch.temporary("unit-") as path:
        folder = FindingsFolder(Path(path))
        run = RunState(plan, events.append, folder)
        prepare(plan, run.emit, run.stop)
        examiner = Examiner(run, folder, studies, 1)
        try:
            turn = Turn(source, plan.weight(source), 0.0, len(plan.scaled))
            ended = examiner.examine(turn, run.emit)
        except NamedFailed as error:
            failed = list(error.args)
        finally:
            left = examiner.close()
        files = packed_files(Path(path))
    told = [event.to_json() for event in events]
    return UnitResult(told, ended.tally, failed, ended.unexpected, left, files).packed()
