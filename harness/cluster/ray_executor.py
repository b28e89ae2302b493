"""The executor of a Ray cluster: actors on its nodes, which units are handed to.

Ray starts and watches the actors and carries what travels. Each actor is placed on a node that is
known by name, so that a node that always fails can be told from a unit that does (``blame.py``). An
actor that is lost, with its process or with its node, has its unit performed by another one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import warnings
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from harness.cluster.blame import FAILURES, Blame
from harness.cluster.executor import ClusterError, Done, UnitError
from harness.core.interruption import Terminated
from harness.events.cluster import NodeJoined, NodeLeft, UnitLost, UnitStarted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from harness.cluster.executor import Unit
    from harness.events import Event

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
    node: str
    handle: Any
    asked: Any
    ready: bool = False
    unit: Unit | None = None
    began: float = 0.0


@dataclass(slots=True)
class Node:
    """A node that takes part. cpus, memory: of each of its slots. unstarted: actors that never
    answered, one after another."""

    name: str
    slots: int
    cpus: int
    memory: int
    unstarted: int = 0
    excluded: bool = False


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
        self._waiting: deque[Unit] = deque()
        self._finished: deque[Done] = deque()
        self._blame = Blame()
        self._lost: Counter[str] = Counter()
        self._shared: dict[str, Any] = {}
        self._looked = 0.0
        self._somebody = time.monotonic()
        self._reasons: dict[str, str] = {}
        """By node, why something failed there last."""
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

    @property
    def _eligible(self) -> list[str]:
        return [identity for identity, node in self._nodes.items() if not node.excluded]

    def _look(self) -> None:
        """Take note of nodes that came and went, and have an actor in each slot."""
        alive = {
            raw["NodeID"]: raw
            for raw in ray.nodes()
            if raw["Alive"] and raw["Resources"].get("CPU", 0) >= 1
        }
        for identity in [one for one in self._nodes if one not in alive]:
            node = self._nodes.pop(identity)
            for actor in [one for one in self._actors if one.node == identity]:
                self._dismiss(actor)
                self._again(actor, node, "its node is gone")
            self._blame.gone(identity)
            if not node.excluded:
                self._tell(NodeLeft(node.name, "it is gone", excluded=False))
        for identity, raw in alive.items():
            if identity not in self._nodes:
                node = self._nodes[identity] = self._node(identity, raw)
                self._tell(NodeJoined(node.name, node.slots))
        self._place()
        now = self._looked = time.monotonic()
        if self._eligible:
            self._somebody = now
        elif self._nodes:
            reasons = " ".join(
                f"{self._nodes[one].name}: {why}" for one, why in self._reasons.items()
            )
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
        return Node(f"{raw['NodeManagerHostname']}-{identity[:6]}", slots, cpus, memory)

    def _place(self) -> None:
        present = Counter(actor.node for actor in self._actors)
        for identity in self._eligible:
            node = self._nodes[identity]
            for _ in range(node.slots - present[identity]):
                made = ray.remote(Performer).options(
                    num_cpus=node.cpus,
                    memory=node.memory or None,
                    max_restarts=0,
                    max_task_retries=0,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(identity, soft=False),
                )
                handle = made.remote()
                self._made += 1
                place = f"{identity}/{self._made}"
                self._actors.append(Actor(place, identity, handle, handle.hello.remote()))

    def _hand_out(self) -> None:
        """Give each idle actor a unit: such as prefers it first, then the first that may go there.

        Where nobody is at work, whatever waits may go anywhere.
        """
        nodes = self._eligible
        for actor in self._actors:
            if not self._waiting:
                return
            if not actor.ready or actor.asked is not None:
                continue
            if not self._blame.waits(actor.node, nodes):
                fitting = [u for u in self._waiting if self._blame.fits(u.name, actor.node, nodes)]
                unit = self._preferred(actor, fitting)
                if unit is not None:
                    self._hand(actor, unit)
        idle = [actor for actor in self._actors if actor.ready]
        if self._waiting and idle and not any(actor.asked for actor in self._actors):
            self._hand(idle[0], self._waiting[0])

    def _preferred(self, actor: Actor, units: list[Unit]) -> Unit | None:
        idle = {one.place for one in self._actors if one.ready and one.asked is None}
        for unit in units:
            if unit.prefers == actor.place:
                return unit
        # What another idle actor is warm for is left to that one.
        return next((unit for unit in units if unit.prefers not in idle), None)

    def _hand(self, actor: Actor, unit: Unit) -> None:
        self._waiting.remove(unit)
        actor.unit = unit
        self._tell(UnitStarted(unit.name, self._nodes[actor.node].name, self._lost[unit.name] + 1))
        actor.began = time.monotonic()
        actor.asked = actor.handle.perform.remote(unit.work, *unit.shared, *unit.arguments)

    def _answered(self, actor: Actor) -> None:
        node = self._nodes[actor.node]
        try:
            result = ray.get(actor.asked)
        except RayTaskError as error:
            # The actor is well, and the unit raised: here, or everywhere.
            line = str(error.cause or error).strip().split("\n", 1)[0]
            actor.asked = None
            self._failed(actor, node, f"{type(error.cause).__name__}: {line}")
        except RayError as error:
            self._dismiss(actor)
            if actor.ready:
                self._failed(actor, node, line_of(error))
            else:
                self._unstarted(actor.node, line_of(error))
        else:
            actor.asked = None
            unit, actor.unit = actor.unit, None
            if unit is None:
                actor.ready, node.unstarted = True, 0
                return
            seconds = time.monotonic() - actor.began
            tries = self._lost[unit.name] + 1
            done = Done(unit.name, result, node.name, actor.place, tries, seconds)
            self._finished.append(done)
            for identity in self._blame.done(unit.name, actor.node):
                self._exclude(identity)

    def _failed(self, actor: Actor, node: Node, reason: str) -> None:
        """Have a unit that failed performed again, unless it is to blame. Raises UnitError."""
        unit = actor.unit
        if unit is None:
            return
        self._blame.failed(unit.name, actor.node)
        self._reasons[actor.node] = reason
        self._again(actor, node, reason)
        if self._blame.hopeless(unit.name, self._eligible):
            raise UnitError(
                f"{unit.name}: failed {self._lost[unit.name]} times, the last time on "
                f"{node.name}: {reason}"
            )

    def _again(self, actor: Actor, node: Node, reason: str) -> None:
        """Have the unit of an actor performed again, before those that wait."""
        unit, actor.unit = actor.unit, None
        if unit is not None:
            self._lost[unit.name] += 1
            self._tell(UnitLost(unit.name, node.name, reason))
            self._waiting.appendleft(unit)

    def _unstarted(self, identity: str, reason: str) -> None:
        """Take note that an actor never answered, and exclude a node where none ever does."""
        node = self._nodes[identity]
        node.unstarted += 1
        self._reasons[identity] = reason
        if node.unstarted >= FAILURES:
            self._exclude(identity)

    def _exclude(self, identity: str) -> None:
        node = self._nodes[identity]
        node.excluded = True
        reason = self._reasons[identity]
        self._tell(NodeLeft(node.name, reason, excluded=True))
        for actor in [one for one in self._actors if one.node == identity]:
            self._dismiss(actor)
            self._again(actor, node, "its node is excluded")

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
