"""Forced tokens walked in units are those walked here, whoever walks them."""

from dataclasses import asdict, replace

import pytest

from corpora.vocabularies import sources
from harness.cluster.executor import ClusterError, Done, UnitError
from harness.cluster.local import LocalExecutor
from harness.engine.selection import SelectionError
from harness.events import ClusterUsed, Finished, UnitDone
from harness.studies.forced import pool
from harness.studies.forced.jobs import Task, WalkSchema
from harness.studies.forced.pool import Walks, Worker, read, sendable
from harness.studies.forced.run import ForcedPlan, execute

VOCABULARY = "tekken_240911"
"""With merges: a policy can err."""

SCHEMAS = 12


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Larger batches, since each loads the vocabulary."""
    monkeypatch.setattr(pool, "BATCHES", 4)


def plan(limit=SCHEMAS):
    """A walk of some of the schemas that are shipped."""
    task = Task(sources.resolve(VOCABULARY), ["none", "exact"], "flexible")
    return ForcedPlan("own", VOCABULARY, task, limit, minimised=0)


def walked(out, executor=None, consume=lambda event: None):
    """The events of a walk, but for those of the machine and all times."""
    events = []

    def tell(event):
        events.append(event)
        consume(event)

    walks = None if executor is None else Walks(executor, tell)
    one = plan()
    execute(one, one.journal(out), tell, lambda share, text: None, "test", walks)
    return events


def timeless(events):
    """What a walk found and says, without times and machines."""
    found = []
    for one in events:
        if type(one).__name__ in {"ForcedCorpus", "Forced", "ForcedWitness", "Finished"}:
            fields = asdict(replace(one, seconds=0.0) if isinstance(one, Finished) else one)
            found.append({name: value for name, value in fields.items() if name != "seconds"})
    return found


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """The walk of this machine."""
    found = timeless(walked(tmp_path_factory.mktemp("usual")))
    assert sum(one.get("non_canonical", 0) for one in found) > 0
    return found


def test_a_walk_in_units_is_the_walk_itself(usual, tmp_path):
    events = walked(tmp_path, LocalExecutor(2))
    assert timeless(events) == usual
    (told,) = [one for one in events if isinstance(one, ClusterUsed)]
    assert told.units == sum(isinstance(one, UnitDone) for one in events) == 6
    assert sum(one.cases for one in told.nodes) == events[-1].cases


@pytest.mark.thorough  # three walks
def test_an_interrupted_walk_goes_on(usual, tmp_path):
    def interrupt(event):
        if isinstance(event, UnitDone):
            done.append(event)
            if len(done) == 3:
                raise KeyboardInterrupt

    done = []
    first = walked(tmp_path, LocalExecutor(1), interrupt)
    assert not first[-1].complete
    second = walked(tmp_path, LocalExecutor(1))
    assert timeless(second) == usual
    again = [one for one in second if isinstance(one, UnitDone)]
    schemas = sum(1 + int(one.unit.split()[-2]) for one in [*done[:2], *again])
    assert schemas == SCHEMAS, "two batches were kept, and the others walked once"


def done(result):
    """A unit that was performed once."""
    return Done("schemas 1", result, "a node", "0", 1, 1.0)


def test_where_no_worker_starts_it_is_told(monkeypatch):
    def failing(*_):
        raise SelectionError("no vocabulary for this")

    monkeypatch.setattr(Worker, "load", failing)
    jobs = [WalkSchema(next(plan().cases()))]
    with pytest.raises(SelectionError, match="no vocabulary for this"):
        read(done(pool.perform({}, plan().task, jobs)), jobs)


def test_what_is_no_result_is_one_line():
    with pytest.raises(UnitError, match="schemas 1: its result cannot be read"):
        read(done(b"nothing"), [])


def test_a_healer_that_nodes_do_not_have_is_refused():
    sendable(["none", "healed:tokens=4", "module:attr", "/opt/mine.py:Mine"])
    with pytest.raises(ClusterError, match=r"mine\.py:Mine names a file of this machine"):
        sendable(["mine.py:Mine"])
