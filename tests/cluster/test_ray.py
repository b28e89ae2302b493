"""A run on a Ray cluster is the run itself, whatever is killed meanwhile."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.cluster.executor import ClusterError, Executor, Unit, UnitError
from harness.events import Event, NodeJoined, NodeLeft, UnitDone, UnitLost, UnitStarted
from tests.cluster.plans import files_of, finished, plug_in, record_of, small_plan, verdict_of

ray: Any = pytest.importorskip("ray", reason="Ray is not installed: the extra 'ray'")

pytestmark = pytest.mark.thorough  # a cluster of several processes each


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that does not work, and three nodes of one CPU each in raylets of their own."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(3):
        made.add_node(num_cpus=1)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def executor(cluster: Any) -> Executor:
    """An executor of ours on it."""
    from harness.cluster.ray_executor import RayExecutor, connect

    connect(cluster.address)
    return RayExecutor("auto", 4, 1 << 20)


def equal(here: Path, there: Path) -> None:
    """Hold what a run came to elsewhere to what it comes to here."""
    assert record_of(there) == record_of(here)
    assert files_of(there) == files_of(here)


def test_a_run_on_three_nodes_is_the_run_itself(cluster: Any, tmp_path: Path) -> None:
    plan = small_plan(plug_in(tmp_path))
    events: list[Event] = []
    usual = finished(plan, tmp_path / "here")
    there = finished(plan, tmp_path / "there", executor(cluster), events.append)
    assert verdict_of(there) == verdict_of(usual)
    equal(tmp_path / "here", tmp_path / "there")
    assert sum(isinstance(one, NodeJoined) for one in events) == 3
    done = Counter(one.unit for one in events if isinstance(one, UnitDone))
    assert done == Counter(plan.visited)
    assert len({one.node for one in events if isinstance(one, UnitDone)}) > 1


def actors() -> list[psutil.Process]:
    """The processes of our actors on this machine."""
    return [
        one
        for one in psutil.Process().children(recursive=True)
        if "ray::Performer" in " ".join(one.cmdline() or ["-"])
    ]


class Killing:
    """Kills something when the second unit is on its way."""

    def __init__(self, cluster: Any, what: str) -> None:
        self.cluster, self.what = cluster, what
        self.events: list[Event] = []
        self.killed = False

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        begun = sum(isinstance(one, UnitStarted) for one in self.events)
        if begun < 2 or self.killed:
            return
        self.killed = True
        if self.what == "raylet":
            names = {one.node for one in self.events if isinstance(one, UnitStarted)}
            node = next(
                n for n in self.cluster.worker_nodes if any(n.unique_id[:6] in m for m in names)
            )
            (raylet,) = node.all_processes["raylet"]
            os.kill(raylet.process.pid, signal.SIGKILL)
        else:
            time.sleep(1)  # so that it is at work; what is killed before is lost all the same
            for one in actors():
                if "perform" in " ".join(one.cmdline()):
                    one.kill()
                    return


@pytest.mark.parametrize("what", ["worker", "raylet"])
def test_whatever_is_killed_nothing_is_lost_and_nothing_comes_twice(
    cluster: Any, tmp_path: Path, what: str
) -> None:
    plan = small_plan(plug_in(tmp_path))
    usual = finished(plan, tmp_path / "here")
    killing = Killing(cluster, what)
    there = finished(plan, tmp_path / "there", executor(cluster), killing)
    assert killing.killed
    assert [one for one in killing.events if isinstance(one, UnitLost)]
    assert verdict_of(there) == verdict_of(usual)
    equal(tmp_path / "here", tmp_path / "there")
    done = Counter(one.unit for one in killing.events if isinstance(one, UnitDone))
    assert done == Counter(plan.visited)


def elsewhere_only(banned: str, number: int) -> bytes:
    """A unit that fails on one node."""
    if ray.get_runtime_context().get_node_id().startswith(banned):
        raise OSError("no disk here")
    return bytes([number])


def all_of(made: Executor, count: int) -> list[bytes]:
    """The results of so many units."""
    results: list[bytes] = []
    while len(results) < count:
        done = made.next(60)
        assert done is not None
        results.append(done.result)
    return sorted(results)


def test_a_node_that_always_fails_is_excluded(cluster: Any) -> None:
    made = executor(cluster)
    events: list[Event] = []
    made.listen(events.append)
    banned = next(one.node for one in events if isinstance(one, NodeJoined)).rpartition("-")[2]
    for number in range(12):
        made.submit(Unit(str(number), elsewhere_only, arguments=(banned, number)))
    assert all_of(made, 12) == [bytes([number]) for number in range(12)]
    made.close()
    (left,) = [one for one in events if isinstance(one, NodeLeft)]
    assert left.excluded
    assert left.node.endswith(banned)
    assert "no disk here" in left.reason
    assert {one.node for one in events if isinstance(one, UnitLost)} == {left.node}


def never() -> bytes:
    """A unit that fails everywhere."""
    raise ValueError("wrong in itself")


def test_a_unit_that_fails_everywhere_ends_the_work(cluster: Any) -> None:
    made = executor(cluster)
    made.submit(Unit("poison", never))
    with pytest.raises((UnitError, ClusterError), match="wrong in itself"):
        made.next(60)
    made.close()


def test_no_cluster_is_one_line() -> None:
    from harness.cluster.opening import opened

    with pytest.raises(ClusterError, match="no cluster is reached there") as said:
        opened("ray://127.0.0.1:1", 1)
    assert "\n" not in str(said.value)
