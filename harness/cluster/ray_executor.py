"""The executor of a Ray cluster: actors on its nodes, which units are handed to.

Ray starts and watches the actors and carries what travels. An actor that is lost, with its process
or with its node, has its unit performed by another one, on another node where there is one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from harness.cluster.executor import ClusterError, Done, UnitError
from harness.core.interruption import Terminated
from harness.events.cluster import NodeJoined, NodeLeft, UnitLost, UnitStarted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from harness.cluster.executor import Unit
    from harness.events import Event

TRIES = 3
"""A unit that has failed so often is to blame, and a node on which so many actors never began."""

LOOK_SECONDS = 1.0
"""Seconds between two looks at which nodes there are."""

POLL_SECONDS = 0.2
"""A thread that only waits is deaf to Ctrl-C."""

NOBODY_SECONDS = 120.0
"""For so long a cluster may have no node that takes part: one that grows takes minutes to."""

TERMINATED = threading.Event()
"""Whether SIGTERM has come."""


class Performer:
    """The actor: performs one unit after another, in a process of its own."""

    def __init__(self) -> None:
        self._keep: dict[str, Any] = {}

    def hello(self) -> bool:
        """Answer: whoever does is ready."""
        return True

    def perform(self, work: Callable[..., bytes], *arguments: Any) -> bytes:
        """Perform a unit."""
        return work(self._keep, *arguments)


@dataclass(slots=True, eq=False)
class Actor:
    """An actor of ours, what it was asked last, and the unit that it is at."""

    place: str
    node: Node
    handle: Any
    asked: Any
    ready: bool = False
    unit: Unit | None = None
    began: float = 0.0


@dataclass(slots=True, eq=False)
class Node:
    """A node that takes part. cpus, memory: of each of its slots. unstarted: actors that never
    answered, one after another; where there are too many, it is given no more. reason: the last."""

    identity: str
    name: str
    slots: int
    cpus: int
    memory: int
    unstarted: int = 0
    reason: str = ""

    @property
    def excluded(self) -> bool:
        """Whether nothing is performed there."""
        return self.unstarted >= TRIES


class RayExecutor:
    """Performs units on a cluster.

    address: ``auto``, ``ray://HOST:PORT``, or ``local:N``. workers: how many processes a unit keeps
    busy, each of which is declared to Ray as a CPU. memory: that a unit may take, in bytes. Of a
    node that has less of either, a unit gets all. Raises ClusterError.
    """

    def __init__(self, address: str, workers: int, memory: int) -> None:
        self._tell: Callable[[Event], None] = lambda event: None
        self._workers, self._memory = workers, memory
        self._nodes: dict[str, Node] = {}
        self._actors: list[Actor] = []
        self._made = 0
        self._waiting: list[Unit] = []
        self._finished: list[Done] = []
        self._failed: dict[str, list[Node]] = {}
        self._lost: Counter[str] = Counter()
        self._shared: dict[str, Any] = {}
        self._looked = 0.0
        self._somebody = time.monotonic()
        self._ours = not ray.is_initialized()
        if self._ours:
            connect(address)
        self._look()
        if not self._nodes:
            self.close()
            raise ClusterError(
                f"--cluster {address}: no node of it has a CPU to give; add nodes that have one"
            )

    def listen(self, tell: Callable[[Event], None]) -> None:
        """Tell which nodes there are, and from now on what becomes of them and of units."""
        self._tell = tell
        for node in self._nodes.values():
            tell(NodeJoined(node.name, node.slots))

    @property
    def slots(self) -> int:
        """How many units are performed at a time by the nodes of now."""
        return max(1, sum(node.slots for node in self._nodes.values() if not node.excluded))

    def share(self, key: str, value: Any) -> Any:
        """Put a value into the object store, which brings it to each node once."""
        if key not in self._shared:
            self._shared[key] = ray.put(value)
        return self._shared[key]

    def submit(self, unit: Unit) -> None:
        """Have a unit performed."""
        self._waiting.append(unit)
        self._hand_out()

    def next(self, seconds: float) -> Done | None:
        """Return the next that is done, if there is one in time.

        Raises UnitError and ClusterError.
        """
        try:
            return self._next(seconds)
        except KeyboardInterrupt as interrupt:
            if TERMINATED.is_set():  # Ray makes one of any signal's that comes while it waits
                raise Terminated from interrupt
            raise

    def _next(self, seconds: float) -> Done | None:
        end = time.monotonic() + seconds
        while not self._finished:
            if time.monotonic() - self._looked > LOOK_SECONDS:
                self._look()
            self._hand_out()
            left = end - time.monotonic()
            if left <= 0:
                return None
            asked = {actor.asked: actor for actor in self._actors if actor.asked is not None}
            if not asked:
                time.sleep(min(POLL_SECONDS, left))
                continue
            ready, _ = ray.wait(list(asked), num_returns=1, timeout=min(POLL_SECONDS, left))
            if ready:  # and all that have come with it
                ready, _ = ray.wait(list(asked), num_returns=len(asked), timeout=0)
            for one in ready:
                if asked[one] in self._actors:  # it may be dismissed by what another one said
                    self._answered(asked[one])
        return self._finished.pop(0)

    def close(self) -> None:
        """Kill all actors, and with them what they have started."""
        for actor in list(self._actors):
            self._dismiss(actor)
        self._shared.clear()
        if self._ours:
            ray.shutdown()

    def _look(self) -> None:
        """Take note of nodes that came and went, and have an actor in each slot."""
        alive = {
            raw["NodeID"]: raw
            for raw in ray.nodes()
            if raw["Alive"] and raw["Resources"].get("CPU", 0) >= 1
        }
        for identity in [one for one in self._nodes if one not in alive]:
            self._leave(self._nodes.pop(identity), "its node is gone", excluded=False)
        for identity, raw in alive.items():
            if identity not in self._nodes:
                node = self._nodes[identity] = self._node(identity, raw)
                self._tell(NodeJoined(node.name, node.slots))
        present = Counter(actor.node.identity for actor in self._actors)
        eligible = [node for node in self._nodes.values() if not node.excluded]
        for node in eligible:
            for _ in range(node.slots - present[node.identity]):
                self._place(node)
        now = self._looked = time.monotonic()
        if eligible:
            self._somebody = now
        elif self._nodes:
            reasons = " ".join(f"{node.name}: {node.reason}" for node in self._nodes.values())
            raise ClusterError(f"every node of the cluster fails: {reasons}")
        elif now - self._somebody > NOBODY_SECONDS:
            raise ClusterError("no node of the cluster is left; add some, and run again")

    def _node(self, identity: str, raw: dict[str, Any]) -> Node:
        """Return a node, divided into slots by what a unit takes of its CPUs and its memory."""
        resources = raw["Resources"]
        cpus = min(self._workers, int(resources["CPU"]))
        memory = min(self._memory, int(resources.get("memory", 0)))
        by_memory = int(resources["memory"] // memory) if memory else int(resources["CPU"])
        slots = max(1, min(int(resources["CPU"]) // cpus, by_memory))
        name = f"{raw['NodeManagerHostname']}-{identity[:6]}"
        return Node(identity, name, slots, cpus, memory)

    def _place(self, node: Node) -> None:
        """Begin an actor on a node. It is placed there by name: who has failed where is known."""
        made = ray.remote(Performer).options(
            num_cpus=node.cpus,
            memory=node.memory or None,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.identity, soft=False),
        )
        handle = made.remote()
        self._made += 1
        place = f"{node.identity}/{self._made}"
        self._actors.append(Actor(place, node, handle, handle.hello.remote()))

    def _hand_out(self) -> None:
        """Give each idle actor a unit that may go there."""
        for actor in self._actors:
            if actor.ready and actor.asked is None and (unit := self._fitting(actor)) is not None:
                self._waiting.remove(unit)
                actor.unit = unit
                self._tell(UnitStarted(unit.name, actor.node.name, self._lost[unit.name] + 1))
                actor.began = time.monotonic()
                actor.asked = actor.handle.perform.remote(unit.work, *unit.shared, *unit.arguments)

    def _fitting(self, actor: Actor) -> Unit | None:
        """The first unit that prefers an actor, or else the first that no other idle one is warm
        for; none that has failed on its node, while there are nodes where it has not."""
        nodes = [node for node in self._nodes.values() if not node.excluded]
        idle = {one.place for one in self._actors if one.ready and one.asked is None}
        able = [
            unit
            for unit in self._waiting
            for failed in [self._failed.get(unit.name, [])]
            if actor.node not in failed or all(node in failed for node in nodes)
        ]
        own = (unit for unit in able if unit.prefers == actor.place)
        return next(own, next((unit for unit in able if unit.prefers not in idle), None))

    def _answered(self, actor: Actor) -> None:
        """Take what an actor has answered. Raises UnitError."""
        try:
            result = ray.get(actor.asked)
        except RayTaskError as error:  # the actor is well, and the unit raised
            line = str(error.cause or error).strip().split("\n", 1)[0]
            actor.asked = None
            self._again(actor, f"{type(error.cause).__name__}: {line}", blamed=True)
        except RayError as error:
            reason = line_of(error)
            self._dismiss(actor)
            if actor.ready:
                self._again(actor, reason, blamed=True)
                return
            actor.node.unstarted += 1
            actor.node.reason = reason
            if actor.node.excluded:
                self._leave(actor.node, reason, excluded=True)
        else:
            actor.asked = None
            unit, actor.unit = actor.unit, None
            if unit is None:
                actor.ready, actor.node.unstarted = True, 0
                return
            seconds = time.monotonic() - actor.began
            tries = self._lost[unit.name] + 1
            done = Done(unit.name, result, actor.node.name, actor.place, tries, seconds)
            self._finished.append(done)
            self._failed.pop(unit.name, None)

    def _again(self, actor: Actor, reason: str, *, blamed: bool) -> None:
        """Have the unit of an actor performed again, before those that wait.

        blamed: the unit may be at fault; it is where it has failed too often, which raises
        UnitError.
        """
        unit, actor.unit = actor.unit, None
        if unit is None:
            return
        self._lost[unit.name] += 1
        self._tell(UnitLost(unit.name, actor.node.name, reason))
        self._waiting.insert(0, replace(unit, prefers=""))
        if blamed:
            failed = self._failed.setdefault(unit.name, [])
            failed.append(actor.node)
            if len(failed) >= TRIES:
                raise UnitError(
                    f"{unit.name}: failed {len(failed)} times, the last time on "
                    f"{actor.node.name}: {reason}"
                )

    def _leave(self, node: Node, reason: str, *, excluded: bool) -> None:
        """Have what is on a node performed elsewhere, as it is gone, or is given no more."""
        for actor in [one for one in self._actors if one.node is node]:
            self._dismiss(actor)
            self._again(actor, reason, blamed=False)
        self._tell(NodeLeft(node.name, reason, excluded=excluded))

    def _dismiss(self, actor: Actor) -> None:
        """Take leave of an actor."""
        self._actors.remove(actor)
        with contextlib.suppress(RayError, ConnectionError):
            ray.kill(actor.handle)
        self._looked = 0.0  # another one is placed at once


def line_of(error: BaseException) -> str:
    """Say an error of Ray's in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__


def connect(address: str) -> None:
    """Begin with a cluster. Raises ClusterError."""
    # Ray would ask the terminal, and tell its makers what it is used for.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    terminating = signal.getsignal(signal.SIGTERM)
    if address.startswith("local:"):
        quiet |= {"num_cpus": count_of(address), "include_dashboard": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what matters is raised as well
            ray.init(address="local" if address.startswith("local:") else address, **quiet)
    except (ConnectionError, RuntimeError, OSError, TimeoutError, RayError) as error:
        raise ClusterError(
            f"--cluster {address}: no cluster is reached there ({line_of(error)}); start one with "
            "`ray start --head`, or try `--cluster local:4`"
        ) from error
    except SystemExit as ended:
        raise Terminated from ended  # Ray has made this of a SIGTERM
    finally:
        with contextlib.suppress(ValueError):  # signals are the main thread's
            # Ray's own handler would end us without a report.
            signal.signal(
                signal.SIGTERM, noted(terminating) if callable(terminating) else terminating
            )


def noted(handler: Callable[[int, FrameType | None], Any]) -> Callable[..., Any]:
    """Return a handler of SIGTERM that notes the signal, and does what another one does."""

    def handle(number: int, frame: FrameType | None) -> Any:
        TERMINATED.set()
        return handler(number, frame)

    return handle


def count_of(address: str) -> int:
    """Return N of ``local:N``."""
    return int(address.removeprefix("local:"))
