"""What makes inputs runs libraries and plug-ins, so it is confined as a worker is."""

import os
import resource

import pytest

from corpora.grammars.corpus import SchemaCase
from harness.confinement import probe
from harness.confinement.plan import OFF
from harness.studies.forced import pool
from harness.studies.forced.jobs import Task, WalkSchema
from harness.studies.fuzz import coverage
from harness.workers import inside
from impls.errors import ImplementationError

HELD = probe.held_here()


def attempts(request):
    """Say what this process may do: write here, and how much memory it may take."""
    found = []
    for name in (os.environ["TMPDIR"], str(request)):
        try:
            with open(f"{name}/written", "w") as file:  # noqa: PTH123 (as a plug-in would)
                file.write("x")
            found.append(b"written")
        except PermissionError:
            found.append(b"refused")
    return [*found, str(resource.getrlimit(resource.RLIMIT_DATA)[0]).encode()]


def main(arguments, held=OFF):
    """Serve as a helper does."""
    inside.serve(arguments, lambda progress: lambda request, beat: attempts(request))


@pytest.mark.skipif(not HELD.files, reason=f"no Landlock here: {HELD.missing}")
def test_a_helper_writes_to_its_own_folder_alone(tmp_path):
    answer = coverage.ask(__name__, str(tmp_path), lambda: False)
    assert answer == [b"written", b"refused", str(coverage.MEMORY).encode()]


def test_where_no_process_can_be_started_it_is_one_line(monkeypatch):
    def full(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(pool, "Process", full)
    task = Task(None, ["none"], "flexible")
    jobs = [WalkSchema(SchemaCase("a", {}, ()))] * 4
    with pytest.raises(ImplementationError, match="could not be started: OSError: no more"):
        list(pool.results(task, jobs, 3))
