"""Units of a campaign: a target is opened, a round is done.

An executor has them performed, on this machine or on others. A place keeps the target that was
opened there last, so that the next round need not load its vocabulary: who asks for a round names
the state that it knows, by a mark, and has the target opened again where the place does not have
it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from corpora.vocabularies import scratch
from harness.cluster.executor import UnitError
from harness.core import stored
from harness.engine.portable import Portable, packed, packed_files, unpacked
from harness.findings.folder import FindingsFolder
from harness.studies.campaigns.state import FORM, Round
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.engine.plan import Plan
    from impls.interface import Recipe

    Save = Callable[[str, Violation, Contract], str | None]
    """Writes a finding's folder; the path of its reproducer."""

PLACE = "target"
"""Under which a place keeps it."""

MAX_BYTES = 256 << 20
"""The greatest size of what one round came to, unpacked."""


class Target(Protocol):
    """One vocabulary under one seed, in rounds, each of which is kept or lost whole.

    What a round does depends on what was committed before and on nothing else, so that one that was
    cut off is done again, alike, on any machine. Not thread-safe, but for :meth:`stop`.
    """

    def limit_by(self, left: Callable[[], float]) -> None:
        """End with the time of a session; left: the seconds until then."""
        ...

    def stop(self) -> None:
        """End what is on, from any thread: its workers are killed."""
        ...

    def open(self, others: Sequence[bytes] = ()) -> None:
        """Load the vocabulary, and be ready to go on where it was left.

        others: inputs of other targets, which are asked first. Raises Stopped.
        """
        ...

    def ask_again(self) -> Round | None:
        """What has become of what was found; None where nothing has changed. Raises Stopped."""
        ...

    def round(self) -> Round | None:
        """One round; None when there is nothing left to ask.

        Raises Stopped, also where time was up before all had answered: after that the target is not
        to be used, and a new one goes on from what was committed.
        """
        ...


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """What a campaign does: ``plan`` on each of its vocabularies, in ``shards`` targets each.

    doing: what it does, in words, for whoever watches.
    """

    plan: Plan
    shards: int = 1
    doing: ClassVar[str]

    @property
    def targets(self) -> dict[str, tuple[str, int]]:
        """Vocabulary and number of each target, by its name; those with number 0 come first."""
        return {
            f"{source}#{shard}": (source, shard)
            for shard in range(self.shards)
            for source in self.plan.vocabularies
        }

    def identity(self) -> dict[str, Any]:
        """All that decides what the campaign does, as plain data: other values, other campaign.

        Neither the budget, nor how many targets run side by side.
        """
        plan = self.plan
        return {
            "seed": plan.seed,
            "vocabulary": {
                source: load().fingerprint for source, load in plan.vocabularies.items()
            },
            "implementation": plan.versions,
            "timeout": plan.limits.seconds,
            "memory": plan.limits.memory,
            "tokgate": importlib.metadata.version("tokgate"),
            "form of the state": FORM,
            "python": platform.python_version(),
        }


Open = Callable[[Any, str, Mapping[str, bytes], WorkerPool, "Save"], Target]
"""Makes a target of a plan, by its name, as it was committed last; of no parts where it never was.
A finding's folder is written by the last argument."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What all units share. portable: of the plan; None on the machine of the driver."""

    plan: CampaignPlan
    target: Open
    portable: Portable | None = None

    @classmethod
    def of(cls, plan: CampaignPlan, target: Open) -> Self:
        """What travels of a campaign. Raises SelectionError for one that cannot."""
        bare = Portable.of(plan.plan)
        return cls(replace(plan, plan=bare.plan), target, bare)

    def here(self, vocabularies: Mapping[str, Callable[[], Vocabulary]]) -> CampaignPlan:
        """Return the campaign on this machine, with some of its vocabularies."""
        if self.portable is None:
            return self.plan
        return replace(self.plan, plan=self.portable.here(vocabularies))


@dataclass(frozen=True, slots=True)
class Came:
    """What a unit of a target came to.

    mark: of the state that its place has now; none where time was up. cold: the place does not have
    the state that was named, and did nothing. done: what is to be committed, if anything is.
    files: of findings, by their paths.
    """

    mark: str = ""
    cold: bool = False
    done: Round | None = None
    files: dict[str, bytes] = field(default_factory=dict)

    def packed(self) -> bytes:
        """The form in which it travels."""
        return packed(replace(self, files={}), self.files)

    @classmethod
    def unpacked(cls, sent: bytes) -> Came:
        """Return what :meth:`packed` made. Raises UnitError for what no unit of ours sends."""
        try:
            told, files = unpacked(sent, MAX_BYTES)
            return replace(stored.typed(told, cls), files=files)
        except ValueError as error:
            raise UnitError(f"the result of a round cannot be read: {error}") from error


class RoundFolder(FindingsFolder):
    """A folder whose files are put beside those of other targets, and of other nodes.

    What vocabularies are called there depends on what they hold alone.
    """

    def _place(self, recipe: Recipe, contract: Contract) -> str:
        if recipe.artifact_name:
            digest = hashlib.sha256(recipe.artifact).hexdigest()[:8]
            recipe = replace(recipe, artifact_name=f"{digest}-{recipe.artifact_name}")
        return super()._place(recipe, contract)


class Place:
    """A pool of workers, and the target that is open in it. left: what workers left behind."""

    def __init__(self) -> None:
        self.left: dict[str, str] = {}
        self.mark = ""
        self._pool: WorkerPool | None = None
        self._target: Target | None = None
        self._folder = RoundFolder(Path())

    def open(self, target: Open, plan: CampaignPlan, name: str, parts: Mapping[str, bytes]) -> None:
        """Take up a target as it was committed last, in place of the one that is open."""
        self.mark = ""
        if self._pool is None or self._pool.stopped.is_set():
            self.close()
            self._pool = WorkerPool(plan.plan.participants, plan.plan.limits)
        self._target = target(plan, name, parts, self._pool, self._save)

    def _save(self, name: str, violation: Violation, contract: Contract) -> str | None:
        return self._folder.save_finding(name, violation, contract)

    def perform(self, work: Callable[[Target], Round | None], left: float) -> Came:
        """Do something with the target. left: seconds until the session is over."""
        target, pool = self._target, self._pool
        assert target is not None and pool is not None
        end = time.monotonic() + left
        target.limit_by(lambda: end - time.monotonic())
        self.mark = ""  # what it was is no more, whatever comes of this
        with scratch.temporary("round-") as home:
            self._folder = RoundFolder(Path(home))
            try:
                done = work(target)
            except Stopped:
                # Who owes nothing can be blamed for what it leaves behind.
                here = (*pool.loaded, *pool.loading)
                pool.abandon([one for one in here if pool.workers[one].at_work])
                return Came()
            self.mark = uuid.uuid4().hex
            return Came(self.mark, done=done, files=packed_files(Path(home)))

    def kill(self) -> None:
        """End what is on, from any thread."""
        if (target := self._target) is not None:
            target.stop()

    def close(self) -> None:
        """End its workers, and take note of what they leave behind."""
        self._target, self.mark = None, ""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()
            self.left |= pool.left()


def opened(
    keep: dict[str, Any],
    campaign: Campaign,
    load: Callable[[], Vocabulary],
    name: str,
    parts: Mapping[str, bytes],
    others: Sequence[bytes],
    left: float,
    again: bool,
) -> bytes:
    """Open a target as it was committed last. again: ask again what it has found."""
    place: Place = keep.setdefault(PLACE, Place())
    place.open(campaign.target, campaign.here({name.rpartition("#")[0]: load}), name, parts)

    def work(target: Target) -> Round | None:
        target.open(others)
        return target.ask_again() if again else None

    return place.perform(work, left).packed()


def rounded(keep: dict[str, Any], mark: str, left: float) -> bytes:
    """Do a round of the target that is open here, in the state of that mark."""
    place: Place = keep.setdefault(PLACE, Place())
    if place.mark != mark:
        return Came(cold=True).packed()
    return place.perform(lambda target: target.round(), left).packed()


def closed(keep: dict[str, Any]) -> bytes:
    """Close a place; gives what its workers left behind, by implementation."""
    place: Place = keep.setdefault(PLACE, Place())
    place.close()
    left, place.left = place.left, {}
    return json.dumps(left).encode()
