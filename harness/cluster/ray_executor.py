"""The executor of a Ray cluster: actors on its nodes, which units are handed to.

Ray starts and watches the actors and carries what travels. Each actor is placed on a node that is
known by name, so that a node that always fails can be told from a unit that does. An actor that is
lost, with its process or with its node, has its unit performed by another one.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from harness.cluster.executor import ClusterError, Done, UnitError
from harness.events.cluster import NodeJoined, NodeLeft, UnitDone, UnitLost, UnitStarted

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.cluster.executor import Unit
    from harness.events import Event

FAILURES = 3
"""A node is excluded after so many failures one after another."""

TRIES = 5
"""A unit that was lost so often is what fails, and not the nodes."""

LOOK_SECONDS = 1.0
"""Seconds between two looks at which nodes there are."""

POLL_SECONDS = 0.2
"""A thread that only waits is deaf to Ctrl-C."""

NOBODY_SECONDS = 120.0
"""For so long a cluster may have no node that takes part: one that grows takes minutes to."""


class Performer:
    """The actor: performs one unit after another, in a process of its own."""

    def hello(self) -> str:
        """Say on which machine it is; whoever answers is ready."""
        return socket.gethostname()

    def perform(self, work: Callable[..., bytes], shared: int, *arguments: Any) -> bytes:
        """Perform a unit. shared: how many of the arguments Ray has brought by reference."""
        return work(*arguments)


@dataclass(slots=True, eq=False)
class Actor:
    """An actor of ours, what it was asked last, and the unit that it is at."""

    node: str
    handle: Any
    asked: Any
    ready: bool = False
    unit: Unit | None = None
    began: float = 0.0


@dataclass(slots=True)
class Node:
    """A node that takes part. failed: how often, one after another."""

    name: str
    slots: int
    failed: int = 0
    excluded: bool = False


class RayExecutor:
    """Performs units on a cluster.

    address: ``auto``, ``ray://HOST:PORT``, or ``local:N``. workers: how many processes a unit keeps
    busy; it is given so many CPUs, or all those of the smallest node. memory: that it may take, in
    bytes; of a smaller node, all. Raises ClusterError.
    """

    def __init__(self, address: str, workers: int, memory: int) -> None:
        self._tell: Callable[[Event], None] = lambda event: None
        self._workers, self._memory = workers, memory
        self._nodes: dict[str, Node] = {}
        self._actors: list[Actor] = []
        self._waiting: deque[Unit] = deque()
        self._finished: deque[Done] = deque()
        self._tries: Counter[str] = Counter()
        self._shared: dict[str, Any] = {}
        self._looked = 0.0
        self._somebody = time.monotonic()
        self._last = ""
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
            for one in ready:
                self._answered(asked[one])
        return self._finished.popleft()

    def close(self) -> None:
        """Kill all actors, and with them what they have started."""
        for actor in self._actors:
            with contextlib.suppress(RayError, ConnectionError):
                ray.kill(actor.handle)
        self._actors.clear()
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
            node = self._nodes.pop(identity)
            if not node.excluded:
                self._tell(NodeLeft(node.name, "it is gone", excluded=False))
            for actor in [one for one in self._actors if one.node == identity]:
                self._lost(actor, node.name, "its node is gone")
        if alive:
            cpus = min(self._workers, *(int(raw["Resources"]["CPU"]) for raw in alive.values()))
            for identity, raw in alive.items():
                if identity not in self._nodes:
                    name = f"{raw['NodeManagerHostname']}-{identity[:6]}"
                    slots = self._slots(raw["Resources"], cpus)
                    self._nodes[identity] = Node(name, slots)
                    self._tell(NodeJoined(name, slots))
            self._place(cpus)
        now = self._looked = time.monotonic()
        if any(not node.excluded for node in self._nodes.values()):
            self._somebody = now
        elif self._nodes:
            raise ClusterError(f"every node of the cluster fails: {self._last}")
        elif now - self._somebody > NOBODY_SECONDS:
            raise ClusterError("no node of the cluster is left; add some, and run again")

    def _slots(self, resources: dict[str, float], cpus: int) -> int:
        by_memory = int(resources.get("memory", 0) // max(1, self._memory))
        return max(1, min(int(resources["CPU"]) // cpus, by_memory))

    def _place(self, cpus: int) -> None:
        present = Counter(actor.node for actor in self._actors)
        for identity, node in self._nodes.items():
            if node.excluded:
                continue
            for _ in range(node.slots - present[identity]):
                made = ray.remote(Performer).options(
                    num_cpus=cpus,
                    max_restarts=0,
                    max_task_retries=0,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(identity, soft=False),
                )
                handle = made.remote()
                self._actors.append(Actor(identity, handle, handle.hello.remote()))

    def _hand_out(self) -> None:
        for actor in self._actors:
            if not self._waiting:
                return
            if actor.ready and actor.asked is None:
                unit = actor.unit = self._waiting.popleft()
                self._tries[unit.name] += 1
                self._tell(
                    UnitStarted(unit.name, self._nodes[actor.node].name, self._tries[unit.name])
                )
                actor.began = time.monotonic()
                actor.asked = actor.handle.perform.remote(
                    unit.work, len(unit.shared), *unit.shared, *unit.arguments
                )

    def _answered(self, actor: Actor) -> None:
        node = self._nodes[actor.node]
        try:
            result = ray.get(actor.asked)
        except RayTaskError as error:
            # The actor is well, and the unit raised: here, or everywhere.
            line = str(error.cause or error).strip().split("\n", 1)[0]
            actor.asked = None
            unit, actor.unit = actor.unit, None
            self._again(unit, node, f"{type(error.cause).__name__}: {line}")
            self._failed(actor.node, node)
        except (RayActorError, RayError) as error:
            self._lost(actor, node.name, line_of(error))
            self._failed(actor.node, node)
        else:
            actor.asked = None
            if actor.unit is None:
                actor.ready = True
                return
            unit, actor.unit = actor.unit, None
            node.failed = 0
            seconds = time.monotonic() - actor.began
            tries = self._tries[unit.name]
            self._tell(UnitDone(unit.name, node.name, tries, seconds, len(result)))
            self._finished.append(Done(unit.name, result, node.name, tries, seconds))

    def _lost(self, actor: Actor, node: str, reason: str) -> None:
        """Take leave of an actor, and have its unit performed by another one."""
        self._actors.remove(actor)
        with contextlib.suppress(RayError, ConnectionError):
            ray.kill(actor.handle)
        self._looked = 0.0  # another one is placed at once
        self._last = f"{node}: {reason}"
        if actor.unit is not None:
            self._again(actor.unit, None, reason, node)

    def _again(self, unit: Unit | None, node: Node | None, reason: str, name: str = "") -> None:
        if unit is None:
            return
        name = node.name if node is not None else name
        self._last = f"{name}: {reason}"
        self._tell(UnitLost(unit.name, name, reason))
        if self._tries[unit.name] >= TRIES:
            raise UnitError(f"{unit.name}: failed {TRIES} times, the last time on {name}: {reason}")
        self._waiting.appendleft(unit)

    def _failed(self, identity: str, node: Node) -> None:
        """Count a failure of a node, and exclude one that fails always, if it is not the last."""
        node.failed += 1
        if node.failed < FAILURES or node.excluded:
            return
        node.excluded = True
        self._tell(NodeLeft(node.name, self._last, excluded=True))
        for actor in [one for one in self._actors if one.node == identity]:
            self._lost(actor, node.name, "its node is excluded")


def line_of(error: BaseException) -> str:
    """Say an error of Ray's in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__


def connect(address: str) -> None:
    """Begin with a cluster. Raises ClusterError."""
    # Ray would ask the terminal, and tell its makers what it is used for.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address.startswith("local:"):
            ray.init(address="local", num_cpus=count_of(address), include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, OSError, TimeoutError, RayError) as error:
        raise ClusterError(
            f"--cluster {address}: no cluster is reached there ({line_of(error)}); start one with "
            "`ray start --head`, or try `--cluster local:4`"
        ) from error


def count_of(address: str) -> int:
    """Return N of ``local:N``."""
    return int(address.removeprefix("local:"))
