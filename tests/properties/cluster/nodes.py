"""Ray clusters for tests, of three nodes of one CPU in raylets of their own, and what is killed
of them."""

import contextlib
import os
import signal
import time

import psutil
import pytest

from harness.events import UnitStarted

MEMORY = 64 << 20
"""That a unit of these tests is declared to take."""


@contextlib.contextmanager
def three_nodes():
    """A head that does not work, and three nodes of one CPU each in raylets of their own."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: the extra 'ray'")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(3):
        made.add_node(num_cpus=1)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def cluster():
    """A cluster to do anything to."""
    with three_nodes() as made:
        yield made


@pytest.fixture(scope="module")
def lasting():
    """A cluster whose nodes are left as they are."""
    with three_nodes() as made:
        yield made


def executor(cluster, workers=4):
    """An executor of ours on it."""
    import ray

    from harness.cluster.ray_executor import RayExecutor, connect

    ray.shutdown()
    connect(cluster.address)
    return RayExecutor("auto", workers, MEMORY)


class Watching:
    """Remembers events, and does something when units were begun so often."""

    def __init__(self, begun, act):
        self.events = []
        self._begun, self._act = begun, act

    def __call__(self, event):
        self.events.append(event)
        if isinstance(event, UnitStarted) and len(self.of(UnitStarted)) == self._begun:
            self._act()

    def of(self, kind):
        return [one for one in self.events if isinstance(one, kind)]


def kill_raylet(cluster):
    """Kill the raylet of a node, and with it all that the node is at."""
    (raylet,) = next(iter(cluster.worker_nodes)).all_processes["raylet"]
    os.kill(raylet.process.pid, signal.SIGKILL)


def kill_worker(cluster):
    """Kill an actor's process that is at work."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for one in psutil.Process().children(recursive=True):
            if one.status() != psutil.STATUS_ZOMBIE and "perform" in " ".join(one.cmdline()):
                one.kill()
                return
    raise AssertionError("nobody is at work")
