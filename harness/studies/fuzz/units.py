"""Units of a campaign: a target is opened, a round is done, the canary is looked for.

An executor has them performed, on this machine or on others. A place keeps the target that was
opened there last, so that the next round need not load its vocabulary: who asks for a round names
the state that it knows, by a mark, and has the target opened again where the place does not have
it.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.cluster.executor import UnitError
from harness.core import stored
from harness.engine.portable import Portable, packed, packed_files, unpacked
from harness.findings.folder import FindingsFolder
from harness.studies.fuzz import canary
from harness.studies.fuzz.state import Round
from harness.studies.fuzz.target import Target
from harness.studies.selftest import canary as planted
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.target import Save
    from impls.interface import Recipe

PLACE, CANARY = "target", "canary"
"""Under which a place keeps them."""

MAX_BYTES = 256 << 20
"""The greatest size of what one round came to, unpacked."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What all units share. portable: of the plan; None on the machine of the driver, where save
    writes the folder of a finding."""

    plan: FuzzPlan
    portable: Portable | None = None
    save: Save | None = None

    @classmethod
    def of(cls, plan: FuzzPlan) -> Campaign:
        """What travels of a campaign. Raises SelectionError for one that cannot."""
        bare = Portable.of(plan.plan)
        return cls(replace(plan, plan=bare.plan), bare)

    def here(self, vocabularies: Mapping[str, Callable[[], Vocabulary]]) -> FuzzPlan:
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


class NodeFolder(FindingsFolder):
    """A folder whose files are sent elsewhere, where those of other nodes are, too.

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
        self._folder = NodeFolder(Path())

    def open(
        self, campaign: Campaign, load: Callable[[], Vocabulary], name: str,
        parts: Mapping[str, bytes],
    ) -> None:  # fmt: skip
        """Take up a target as it was committed last, in place of the one that is open."""
        self.mark = ""
        plan = campaign.here({name.rpartition("#")[0]: load})
        if self._pool is None or self._pool.stopped:
            self.close()
            self._pool = WorkerPool(plan.plan.participants, plan.plan.limits)
        self._target = Target(plan, name, campaign.save or self._save, parts, self._pool)

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
            self._folder = NodeFolder(Path(home))
            try:
                done = work(target)
            except Stopped:
                # Who owes nothing can be blamed for what it leaves behind.
                pool.abandon(
                    [one for one in (*pool.loaded(), *pool.loading()) if pool.at_work(one)]
                )
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
    place.open(campaign, load, name, parts)

    def work(target: Target) -> Round | None:
        target.open(others)
        return target.ask_again() if again else None

    return place.perform(work, left).packed()


def rounded(keep: dict[str, Any], mark: str, left: float) -> bytes:
    """Do a round of the target that is open here, in the state of that mark."""
    place: Place = keep.setdefault(PLACE, Place())
    if place.mark != mark:
        return Came(cold=True).packed()
    return place.perform(Target.round, left).packed()


def closed(keep: dict[str, Any]) -> bytes:
    """Close a place; gives what its workers left behind, by implementation."""
    place: Place = keep.setdefault(PLACE, Place())
    place.close()
    left, place.left = place.left, {}
    return json.dumps(left).encode()


def watched(keep: dict[str, Any], campaign: Campaign) -> bytes:
    """Look for the canary of a session; gives whether it was found, and what is said of it.

    Rounds of its own follow one another until it is found, or there is no hope.
    """
    plan = canary.plan_of(campaign.here({}))
    [(source, load)] = plan.plan.vocabularies.items()
    place = keep[CANARY] = Place()
    place.open(Campaign(plan, None, lambda *_: None), load, f"{source}#0", {})
    came = place.perform(Target.open, math.inf)
    found, cases = False, 0
    while came.mark and not found and cases < canary.ENOUGH_CASES:
        came = place.perform(Target.round, math.inf)
        if came.done is None:
            break
        found, cases = planted.is_caught(came.done.findings), came.done.cases
    place.close()
    return json.dumps([found, canary.said(cases, found=found)]).encode()
