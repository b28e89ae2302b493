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
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.cluster.executor import UnitError
from harness.core import stored
from harness.engine.portable import Portable, packed, unpacked
from harness.engine.waiting import LONGEST_WAIT, SUSPECT_SECONDS
from harness.findings.folder import FindingsFolder
from harness.studies.fuzz import canary
from harness.studies.fuzz.sizing import ROUND_SECONDS, TooLong
from harness.studies.fuzz.state import Round
from harness.studies.fuzz.target import Target
from harness.studies.selftest import canary as planted
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Kept
    from impls.interface import Recipe

    Save = Callable[[str, Violation, Contract], str | None]

PLACE, CANARY = "target", "canary"
"""Under which a place keeps them."""

LAST_LOOKS_SECONDS = 10.0
"""What was found is looked into for so many seconds after a campaign's last case: enough to make
one slow finding minimal, or dozens of quick ones."""

POLL_SECONDS = 0.2
"""Between two looks at who may hang, when time is up."""

MAX_BYTES = 256 << 20
"""The greatest size of what one round came to, unpacked."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What all units share. portable: of the plan; None on the machine of the driver, where save
    writes the folder of a finding. clock: of rounds."""

    plan: FuzzPlan
    portable: Portable | None = None
    save: Save | None = None
    clock: Callable[[], float] = time.monotonic

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
    the state that was named, and did nothing. too_long: the size that the next round is to have, as
    this one was given up. done: None where there is nothing left to ask, too. awaited: who might
    hang, and was waited for when time was up. files: of findings, by their paths.
    """

    mark: str
    cold: bool = False
    too_long: int | None = None
    done: Round | None = None
    awaited: list[str] = field(default_factory=list)
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
        self._folder: NodeFolder | None = None
        self._sent: set[str] = set()
        self._longest = 0.0
        self._after = ExitStack()

    def open(
        self, campaign: Campaign, load: Callable[[], Vocabulary], name: tuple[str, int],
        kept: Kept | None, left: float, round_seconds: float | None = ROUND_SECONDS,
    ) -> Came:  # fmt: skip
        """Open a target as it was committed last, in place of the one that is open.

        round_seconds: see :class:`Target`.
        """
        self._drop()
        source, shard = name
        plan = campaign.here({source: load})
        save = campaign.save
        if save is None:
            if self._folder is None:
                temporary = scratch.temporary("rounds-")
                self._after.callback(temporary.cleanup)
                self._folder = NodeFolder(Path(temporary.name))
            save = self._folder.save_finding
        if self._pool is None or self._pool.stopped:
            self._end()
            self._pool = WorkerPool(plan.plan.participants, plan.plan.limits)
            self._longest = LONGEST_WAIT * plan.plan.limits.seconds
        target = Target(plan, source, shard, save, kept, round_seconds, campaign.clock)
        self._target = target
        pool = self._pool
        return self._done(lambda: target.open(pool), left, lasting=False)

    def round(self, left: float, *, lasting: bool) -> Came:
        """Do a round. left: seconds until the session is over. lasting: it is not lost then."""
        target, pool = self._target, self._pool
        assert target is not None and pool is not None, "it has a mark"
        return self._done(lambda: target.round(pool), left, lasting=lasting)

    def _done(self, work: Callable[[], Round | None], left: float, *, lasting: bool) -> Came:
        """Do something with the target, and no longer than there is time.

        What lasts is brought to an end: who may hang is waited for, and nothing else is asked.
        """
        target, pool = self._target, self._pool
        assert target is not None and pool is not None
        end = time.monotonic() + left
        pool.limit_by(lambda: end - time.monotonic())
        target.limit_by(lambda: end - time.monotonic() + LAST_LOOKS_SECONDS)
        over, awaited = threading.Event(), set[str]()

        def in_time() -> None:
            if over.wait(left):
                return
            latest = time.monotonic() + self._longest
            while lasting and time.monotonic() < latest:
                working = {name: pool.at_work(name) for name in pool.loaded()}
                suspects = {name for name, spent in working.items() if spent > SUSPECT_SECONDS}
                awaited.update(suspects)
                pool.abandon([name for name in working if name not in suspects])
                if over.wait(POLL_SECONDS):
                    return
            if not over.is_set():
                pool.kill()

        if left < threading.TIMEOUT_MAX:
            threading.Thread(target=in_time, daemon=True).start()
        whole = False
        try:
            done = work()
            self.mark, whole = uuid.uuid4().hex, True
            return Came(self.mark, done=done, awaited=sorted(awaited), files=self._new_files())
        except TooLong as error:
            pool.abandon(error.owing)
            return Came("", too_long=error.size)
        except Stopped:
            return Came("", awaited=sorted(awaited))
        finally:
            over.set()
            if not whole:
                self._drop()

    def _new_files(self) -> dict[str, bytes]:
        """Return the files that findings left since the last time; vocabularies are sent once."""
        if self._folder is None:
            return {}
        root = self._folder.path
        paths = {str(one.relative_to(root)): one for one in root.rglob("*") if one.is_file()}
        found = {name: paths[name].read_bytes() for name in sorted(paths.keys() - self._sent)}
        for name in found:
            if name.startswith("vocabularies/"):
                self._sent.add(name)
            else:
                paths[name].unlink()
        return found

    def kill(self) -> None:
        """End what is on, from any thread."""
        target, pool = self._target, self._pool
        if target is not None:
            target.stop()
        if pool is not None:
            pool.kill()

    def _drop(self) -> None:
        """Close the target, and keep the workers."""
        target, self._target, self.mark = self._target, None, ""
        if target is not None:
            target.close()

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()
            self.left |= pool.left()

    def close(self) -> None:
        """Let go of processes and files."""
        self._drop()
        self._end()
        self._after.close()
        self._folder = None


def opened(
    keep: dict[str, Any], campaign: Campaign, load: Callable[[], Vocabulary],
    name: tuple[str, int], kept: Kept | None, left: float,
) -> bytes:  # fmt: skip
    """Open a target as it was committed last, None where it never was."""
    place: Place = keep.setdefault(PLACE, Place())
    return place.open(campaign, load, name, kept, left).packed()


def rounded(keep: dict[str, Any], mark: str, left: float, lasting: bool) -> bytes:
    """Do a round of the target that is open here, in the state of that mark."""
    place: Place = keep.setdefault(PLACE, Place())
    if place.mark != mark:
        return Came("", cold=True).packed()
    return place.round(left, lasting=lasting).packed()


def closed(keep: dict[str, Any]) -> bytes:
    """Close a place; gives what its workers left behind, by implementation."""
    place: Place = keep.setdefault(PLACE, Place())
    place.close()
    left, place.left = place.left, {}
    return json.dumps(left).encode()


def watched(keep: dict[str, Any], campaign: Campaign) -> bytes:
    """Look for the canary of a session; gives whether it was found, and what is said of it.

    Rounds of its own follow one another until it is found, or there is no hope. Raises Stopped.
    """
    plan = canary.plan_of(campaign.here({}))
    [(source, load)] = plan.plan.vocabularies.items()
    place = keep[CANARY] = Place()
    inner = Campaign(plan, None, lambda *_: None, campaign.clock)
    place.open(inner, load, (source, 0), None, math.inf, round_seconds=None)
    found, cases = False, 0
    while place.mark and not found and cases < canary.ENOUGH_CASES:
        done = place.round(math.inf, lasting=False).done
        if done is None:
            break
        found, cases = planted.is_caught(done.findings), done.cases
    place.close()
    return json.dumps([found, canary.said(cases, found=found)]).encode()
