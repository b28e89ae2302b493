"""What walks of forced tokens in units say where something is wrong; see ``test_commands.py``."""

import pytest

from corpora.vocabularies import sources
from harness.cluster.executor import ClusterError, Done, UnitError
from harness.engine.selection import SelectionError
from harness.studies.forced import pool
from harness.studies.forced.jobs import Task
from harness.studies.forced.pool import Worker, read, sendable


def done(result):
    """A unit that was performed once."""
    return Done("schemas 1", result, "a node", "0", 1, 1.0)


def test_where_no_worker_starts_it_is_told(monkeypatch):
    def failing(*_):
        raise SelectionError("no vocabulary for this")

    monkeypatch.setattr(Worker, "load", failing)
    task = Task(sources.resolve("toy_bytes"), ["none"], "flexible")
    with pytest.raises(SelectionError, match="no vocabulary for this"):
        read(done(pool.perform({}, task, [None])), [None])


def test_what_is_no_result_is_one_line():
    with pytest.raises(UnitError, match="schemas 1: its result cannot be read"):
        read(done(b"nothing"), [])


def test_a_healer_that_nodes_do_not_have_is_refused():
    sendable(["none", "healed:tokens=4", "module:attr", "/opt/mine.py:Mine"])
    with pytest.raises(ClusterError, match=r"mine\.py:Mine names a file of this machine"):
        sendable(["mine.py:Mine"])
