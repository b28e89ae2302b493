"""A round of a campaign as a unit of work: what travels, and what is done with it on a node.

A target that was opened stays so at its place, so that the next round need not load its vocabulary:
who asks for a round names the state that it knows, by a mark, and gives the state itself only where
the place does not have it. A place keeps the targets that fit into its memory.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil

from corpora.vocabularies import scratch
from harness.cluster.executor import UnitError
from harness.core import stored
from harness.events import Event, Found
from harness.findings.folder import FindingsFolder
from harness.studies.fuzz.canary import CanaryWatch
from harness.studies.fuzz.corpus import Entry
from harness.studies.fuzz.leaving import left_behind
from harness.studies.fuzz.plan import FuzzPlan, target_name
from harness.studies.fuzz.sizing import ROUND_SECONDS, TooLong
from harness.studies.fuzz.state import MAX_BYTES, Round, State
from harness.studies.fuzz.target import Guides, Target
from harness.studies.portable import Portable
from harness.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.studies.fuzz.store import Kept
    from impls.interface import Recipe

WARM = "targets of a campaign"
"""Under which a place keeps its targets."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What all rounds share. mark: of the campaign. memory: that a place may take, in bytes."""

    mark: str
    portable: Portable
    plan: FuzzPlan
    memory: int

    @classmethod
    def of(cls, plan: FuzzPlan, mark: str, memory: int) -> Campaign:
        """What travels of a campaign. Raises SelectionError for one that cannot."""
        bare = Portable.of(plan.plan)
        return cls(mark, bare, replace(plan, plan=bare.plan), memory)

    def here(self, vocabularies: Mapping[str, Callable[[], Vocabulary]]) -> FuzzPlan:
        """Return the campaign on this machine, with some of its vocabularies."""
        return replace(self.plan, plan=self.portable.here(vocabularies))


@dataclass(frozen=True, slots=True)
class Came:
    """What a round came to.

    mark: of the state that its place has now. cold: the place does not have the state that was
    named, and did nothing. too_long: the size that the next round is to have, as this one was given
    up. done: None where there is nothing left to ask, too. files: of findings, by their paths.
    opened: seconds that loading took, where it did. asked: who was.
    """

    mark: str = ""
    cold: bool = False
    too_long: int | None = None
    done: Round | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    opened: float = 0.0
    asked: tuple[str, ...] = ()

    def packed(self) -> bytes:
        """The form in which it travels."""
        fields = {name: getattr(self, name) for name in _Came.__struct_fields__ if name != "done"}
        message = _Came(**fields, done=None if self.done is None else _to_message(self.done))
        return zlib.compress(msgspec.msgpack.encode(message), 1)

    @classmethod
    def unpacked(cls, packed: bytes) -> Came:
        """Return what :meth:`packed` made. Raises UnitError for what no node of ours sends."""
        try:
            message = msgspec.msgpack.decode(stored.unzipped(packed, MAX_BYTES), type=_Came)
            fields = {name: getattr(message, name) for name in _Came.__struct_fields__}
            return cls(**fields | {"done": None if message.done is None else _done(message.done)})
        except (ValueError, TypeError) as error:  # those of msgspec among them
            raise UnitError(f"the result of a round cannot be read: {error}") from error


class _Round(msgspec.Struct):
    """See :class:`harness.studies.fuzz.state.Round`."""

    target: str
    state: bytes
    map: bytes
    first: int
    joined: list[tuple[bytes, str, int]]
    findings: list[str]
    gone: list[str]
    events: list[str]
    seconds: float


class _Came(msgspec.Struct):
    """See :class:`Came`."""

    mark: str
    cold: bool
    too_long: int | None
    done: _Round | None
    files: dict[str, bytes]
    opened: float
    asked: tuple[str, ...]


def _to_message(done: Round) -> _Round:
    return _Round(
        target=done.target,
        state=done.state.packed(),
        map=done.map,
        first=done.first,
        joined=[(one.data, one.origin, one.fresh) for one in done.joined],
        findings=[found.to_json() for found in done.findings],
        gone=list(done.gone),
        events=[event.to_json() for event in done.events],
        seconds=done.seconds,
    )


def _done(message: _Round) -> Round:
    findings = [Event.from_json(line) for line in message.findings]
    events = [Event.from_json(line) for line in message.events]
    return Round(
        target=message.target,
        state=State.unpacked(message.state),
        map=message.map,
        first=message.first,
        joined=[Entry(*one) for one in message.joined],
        findings=[found for found in findings if isinstance(found, Found)],
        gone=message.gone,
        events=[event for event in events if event is not None],
        seconds=message.seconds,
    )


class NodeFolder(FindingsFolder):
    """A folder whose files are sent elsewhere, where those of other nodes are, too.

    What vocabularies are called there depends on what they hold alone.
    """

    def _place(self, recipe: Recipe, contract: Contract) -> str:
        if recipe.artifact_name:
            digest = hashlib.sha256(recipe.artifact).hexdigest()[:8]
            recipe = replace(recipe, artifact_name=f"{digest}-{recipe.artifact_name}")
        return super()._place(recipe, contract)


@dataclass(slots=True, eq=False)
class Warm:
    """A target that is open at a place. mark: of its state. sent: paths of files that were."""

    target: Target
    pool: WorkerPool
    folder: NodeFolder
    temporary: scratch.Temporary
    mark: str
    used: float
    sent: set[str]

    def close(self) -> None:
        """Let go of processes and files."""
        self.target.close()
        self.pool.close()
        self.temporary.cleanup()


class Targets:
    """The targets that are open at a place. left: what workers of those that were left behind."""

    def __init__(self) -> None:
        self.warm: dict[str, Warm] = {}
        self.left: dict[str, str] = {}

    def close(self) -> None:
        """Close all of them."""
        for name in list(self.warm):
            self.drop(name)

    def drop(self, name: str) -> None:
        """Close one, if it is open."""
        one = self.warm.pop(name, None)
        if one is not None:
            one.close()
            self.left |= one.pool.left()

    def make_room(self, memory: int) -> None:
        """Close those that were longest not used, until the rest fits; one may always stay."""
        while len(self.warm) > 1 and held() > memory:
            self.drop(min(self.warm, key=lambda name: self.warm[name].used))


def held() -> int:
    """Bytes of memory that this process and all that it has started hold."""
    ours = psutil.Process()
    total = 0
    for one in [ours, *ours.children(recursive=True)]:
        try:
            total += one.memory_info().rss
        except psutil.Error:
            continue  # it has ended
    return total


def perform_warm(
    keep: dict[str, Any],
    campaign: Campaign,
    load: Callable[[], Vocabulary],
    source: str,
    shard: int,
    mark: str,
) -> bytes:
    """Do a round of a target that is open here; mark: of the state that was committed last."""
    targets: Targets = keep.setdefault(WARM, Targets())
    warm = targets.warm.get(key_of(campaign, source, shard))
    if warm is None or warm.mark != mark:
        return Came(cold=True).packed()
    return rounded(targets, campaign, warm, 0.0)


def perform_given(
    keep: dict[str, Any],
    campaign: Campaign,
    load: Callable[[], Vocabulary],
    source: str,
    shard: int,
    kept: Kept | None,
) -> bytes:
    """Do a round of a target from what was committed last, None where nothing was."""
    targets: Targets = keep.setdefault(WARM, Targets())
    name = key_of(campaign, source, shard)
    targets.drop(name)
    began = time.monotonic()
    warm = targets.warm[name] = open_target(campaign, load, source, shard, kept)
    return rounded(targets, campaign, warm, time.monotonic() - began)


def rounded(targets: Targets, campaign: Campaign, warm: Warm, opened: float) -> bytes:
    """Do a round of an open target: a function of the campaign and of its state alone."""
    name = key_of(campaign, warm.target.source, warm.target.shard)
    warm.used = time.monotonic()
    targets.make_room(campaign.memory)
    try:
        done = warm.target.round(warm.pool)
    except TooLong as error:
        warm.pool.abandon(error.owing)
        targets.drop(name)
        return Came(too_long=error.size, opened=opened).packed()
    except BaseException:
        targets.drop(name)
        raise
    if done is None:
        return Came(warm.mark, opened=opened).packed()
    warm.mark = uuid.uuid4().hex
    return Came(warm.mark, done=done, files=new_files(warm), opened=opened).packed()


def key_of(campaign: Campaign, source: str, shard: int) -> str:
    """Return under which name a place keeps a target."""
    return f"{campaign.mark}/{target_name(source, shard)}"


def open_target(
    campaign: Campaign,
    load: Callable[[], Vocabulary],
    source: str,
    shard: int,
    kept: Kept | None,
) -> Warm:
    """Open a target as it was committed last."""
    plan = campaign.here({source: load})
    temporary = scratch.temporary("rounds-")
    folder = NodeFolder(Path(temporary.name))
    guides = Guides(plan.structured, plan.coverage, plan.costly)
    pool = WorkerPool(plan.plan.participants, plan.plan.limits)
    target = Target(
        plan.alone(source), source, shard, folder.save_finding, kept, guides, ROUND_SECONDS
    )
    warm = Warm(target, pool, folder, temporary, "", time.monotonic(), set())
    try:
        target.open(pool)
    except BaseException:
        warm.close()
        raise
    return warm


def new_files(warm: Warm) -> dict[str, bytes]:
    """Return the files that findings left since the last time; vocabularies are sent once."""
    root = warm.folder.path
    paths = {str(one.relative_to(root)): one for one in root.rglob("*") if one.is_file()}
    found = {name: paths[name].read_bytes() for name in sorted(paths.keys() - warm.sent)}
    for name in found:
        if name.startswith("vocabularies/"):
            warm.sent.add(name)
        else:
            paths[name].unlink()
    return found


def close(keep: dict[str, Any]) -> bytes:
    """Close all targets of a place; gives what their workers left behind, by implementation."""
    targets: Targets = keep.setdefault(WARM, Targets())
    targets.close()
    left, targets.left = targets.left, {}
    return json.dumps(left).encode()


def leave(
    keep: dict[str, Any],
    campaign: Campaign,
    load: Callable[[], Vocabulary],
    source: str,
    shard: int,
    kept: Kept | None,
    left: Mapping[str, str],
) -> bytes:
    """Enter what workers left behind into a target that has asked them: no round, but a commit."""
    warm = open_target(campaign, load, source, shard, kept)
    try:
        asked = warm.target.asked
        mine = {name: line for name, line in left.items() if name in asked}
        plan = campaign.here({source: load}).plan
        name = target_name(source, shard)
        done = (
            left_behind(plan, name, kept, warm.folder.save_finding, mine, asked) if mine else None
        )
        return Came(done=done, files=new_files(warm), asked=tuple(asked)).packed()
    finally:
        warm.close()


def watch(keep: dict[str, Any], campaign: Campaign) -> bytes:
    """Look for the canary of a session; gives whether it was found, and what is said of it."""
    canary = CanaryWatch(campaign.here({}))
    canary.run()
    return json.dumps([canary.found, canary.said]).encode()
