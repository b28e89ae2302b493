"""A run on a Ray cluster is the run itself, whatever is killed meanwhile."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from harness.cluster.executor import ClusterError, Unit, UnitError
from harness.engine import streams
from harness.engine.journal import Journal
from harness.events import NodeJoined, NodeLeft, UnitDone, UnitLost
from tests.doubles.command import TOKGATE, record, tokgate
from tests.properties.cluster.nodes import (
    MEMORY,
    Watching,
    cluster,
    executor,
    kill_raylet,
    kill_worker,
    lasting,
)
from tests.properties.cluster.plans import equal, finished, plug_in, small_plan

ray = pytest.importorskip("ray", reason="Ray is not installed: the extra 'ray'")

__all__ = ["cluster", "lasting"]  # fixtures

pytestmark = pytest.mark.thorough  # a cluster of several processes each

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def usual_batches(monkeypatch):
    """Batches as large as on the nodes: other tests of this process make them small on import."""
    monkeypatch.setattr(streams, "FIRST_BATCH_CASES", 128)
    monkeypatch.setattr(streams, "BATCH_CASES", 2048)


def test_a_run_on_three_nodes_is_the_run_itself(lasting, tmp_path):
    """The plug-in's file is gone from here before anybody there could read it."""
    spec = plug_in(tmp_path)
    plan = small_plan(spec)
    here = finished(plan, tmp_path / "here")
    watching = Watching(1, Path(spec.rpartition(":")[0]).unlink)
    there = finished(plan, tmp_path / "there", executor(lasting), watching)
    equal(there, here, tmp_path / "there", tmp_path / "here")
    assert len(watching.of(NodeJoined)) == 3
    done = watching.of(UnitDone)
    assert Counter(one.unit for one in done) == Counter(plan.visited)
    assert len({one.node for one in done}) == 3
    assert sum(one.cases for one in done) == here.finished.cases
    assert not watching.of(UnitLost)


@pytest.mark.parametrize("kill", [kill_worker, kill_raylet])
def test_whatever_is_killed_nothing_is_lost_and_nothing_comes_twice(cluster, tmp_path, kill):
    plan = small_plan(plug_in(tmp_path))
    here = finished(plan, tmp_path / "here")
    # All three nodes are at work when the third unit was begun.
    watching = Watching(3, lambda: kill(cluster))
    there = finished(plan, tmp_path / "there", executor(cluster), watching)
    equal(there, here, tmp_path / "there", tmp_path / "here")
    assert watching.of(UnitLost)
    assert bool(watching.of(NodeLeft)) == (kill is kill_raylet)
    assert not [one for one in watching.of(NodeLeft) if one.excluded]
    assert Counter(one.unit for one in watching.of(UnitDone)) == Counter(plan.visited)


def drive(address, out, spec):
    """Be a driver that kills itself when two units are done, of which one is kept."""
    from harness.cluster.ray_executor import RayExecutor, connect

    def kill(event):
        if isinstance(event, UnitDone):
            done.append(event)
            if len(done) == 2:
                os.kill(os.getpid(), signal.SIGKILL)

    done = []
    plan = small_plan(spec)
    connect(address)
    with Journal(out, plan) as journal:
        finished(plan, out, RayExecutor("auto", 4, MEMORY), kill, journal)


def test_a_driver_that_is_killed_is_gone_on_with(lasting, tmp_path):
    spec = plug_in(tmp_path)
    plan = small_plan(spec)
    here = finished(plan, tmp_path / "here")
    code = "import sys, pathlib; from tests.properties.cluster.test_ray import drive;"
    code += "drive(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3])"
    out = tmp_path / "there"
    command = [sys.executable, "-c", code, lasting.address, str(out), spec]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    watching = Watching(0, None)
    with Journal(out, plan) as journal:
        there = finished(plan, out, executor(lasting), watching, journal)
    equal(there, here, out, tmp_path / "here")
    resumed, done = (
        [one["unit"] for one in record(out, f"Unit{how}")] for how in ("Resumed", "Done")
    )
    assert len(resumed) == 1, "the second was not kept yet"
    assert Counter(resumed + done) == Counter(plan.visited)


def test_cpus_and_memory_are_declared(cluster):
    cluster.add_node(num_cpus=9, memory=10 * MEMORY)
    cluster.add_node(num_cpus=9, memory=MEMORY)
    cluster.wait_for_nodes()
    made = executor(cluster, workers=4)
    events = []
    made.listen(events.append)
    slots = sorted(one.slots for one in events if isinstance(one, NodeJoined))
    assert slots == [1, 1, 1, 1, 2]
    for number in range(made.slots):
        made.submit(Unit(str(number), sleeping, arguments=(2.0,)))
    assert len(all_of(made, made.slots)) == 6
    there, free = ray.cluster_resources(), ray.available_resources()
    assert there["CPU"] - free.get("CPU", 0) == 3 * 1 + 3 * 4
    assert there["memory"] - free["memory"] == pytest.approx(6 * MEMORY, rel=0.01)
    made.close()


def sleeping(keep, seconds):
    """A unit that takes its time."""
    time.sleep(seconds)
    return b""


def elsewhere_only(keep, banned, number):
    """A unit that fails on one node, and takes a moment on the others."""
    if ray.get_runtime_context().get_node_id().startswith(banned):
        raise OSError("no disk here")
    time.sleep(0.2)
    return bytes([number])


def all_of(made, count):
    """What so many units came to."""
    results = []
    while len(results) < count:
        done = made.next(60)
        assert done is not None
        results.append(done)
    return results


def test_what_fails_on_one_node_is_done_on_others(lasting):
    made = executor(lasting)
    events = []
    made.listen(events.append)
    banned = next(one.node for one in events if isinstance(one, NodeJoined)).rpartition("-")[2]
    for number in range(24):
        made.submit(Unit(str(number), elsewhere_only, arguments=(banned, number)))
    assert sorted(one.result for one in all_of(made, 24)) == [bytes([n]) for n in range(24)]
    made.close()
    lost = [one for one in events if isinstance(one, UnitLost)]
    assert lost
    assert max(Counter(one.unit for one in lost).values()) == 1
    assert {one.node.rpartition("-")[2] for one in lost} == {banned}


def never(keep):
    """A unit that fails everywhere."""
    raise ValueError("wrong in itself")


def test_a_unit_that_fails_everywhere_ends_the_work_and_blames_no_node(lasting):
    made = executor(lasting)
    events = []
    made.listen(events.append)
    made.submit(Unit("poison", never))
    with pytest.raises(UnitError, match=r"poison: failed 3 times.*wrong in itself"):
        made.next(60)
    made.close()
    assert not [one for one in events if isinstance(one, NodeLeft)]
    assert len({one.node for one in events if isinstance(one, UnitLost)}) == 3


def counting(keep):
    """A unit that counts those of its place."""
    keep["count"] = keep.get("count", 0) + 1
    return bytes([keep["count"]])


def test_units_go_where_it_is_warm(lasting):
    made = executor(lasting)
    made.submit(Unit("first", counting))
    (first,) = all_of(made, 1)
    for number in range(5):
        made.submit(Unit(str(number), counting, prefers=first.place))
    done = all_of(made, 5)
    assert {one.place for one in done} >= {first.place}
    made.submit(Unit("last", counting, prefers=first.place))
    (last,) = all_of(made, 1)
    assert last.place == first.place
    made.close()


def test_no_cluster_is_one_line():
    from harness.cluster.addresses import opened

    ray.shutdown()
    with pytest.raises(ClusterError, match="no cluster is reached there") as said:
        opened("ray://127.0.0.1:1", 1)
    assert "\n" not in str(said.value)


def test_the_command_is_ended_by_a_signal_and_goes_on(tmp_path):
    """With reports, the exit status of SIGTERM, and what was done before."""
    command = [
        *(TOKGATE, "run", "--cluster", "local:2", "--impl", "bpe.naive", "--impl", "bpe.heap"),
        *("--vocab", "toy_bytes", "--vocab", "toy_acbb", "--vocab", "random:2"),
        *("--check", "equivalence", "--budget", "40000cases", "--out", str(tmp_path)),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        for line in running.stderr:
            if line.startswith("toy_acbb: "):
                running.terminate()
                break
        told = running.stderr.read()
    assert running.returncode == 143, told
    assert "INCOMPLETE" in told
    assert "toy_acbb" in (tmp_path / "report.html").read_text()
    ended = tokgate(*command[1:], seconds=300)
    assert ended.returncode == 0, ended.stderr
    assert "toy_acbb was done before" in ended.stderr
    assert re.search(r"PASSED .* 240,000 cases", ended.stderr)
