"""What makes inputs runs libraries and plug-ins, so it is confined as a worker is."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

import pytest

from harness.confinement import probing
from harness.confinement.plan import OFF, Held
from harness.studies.forced import pool
from harness.studies.fuzz import coverage
from harness.workers import serving

HELD = probing.held_here()


def attempts(request: object) -> list[bytes]:
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


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve as a helper does."""
    serving.serve(arguments, lambda progress: lambda request, beat: attempts(request))


@pytest.mark.skipif(not HELD.files, reason=f"no Landlock here: {HELD.missing}")
def test_a_helper_writes_to_its_own_folder_alone(tmp_path: object) -> None:
    answer = coverage.ask(__name__, str(tmp_path), lambda: False)
    assert answer == [b"written", b"refused", str(coverage.MEMORY).encode()]


def test_workers_before_one_that_cannot_be_started_are_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = []

    class Starting:
        started = 0

        def __init__(self, task: object) -> None:
            Starting.started += 1
            if Starting.started == 3:
                raise OSError("no more processes")

        def close(self, left: object) -> None:
            ended.append(self)

    monkeypatch.setattr(pool, "Worker", Starting)
    with pytest.raises(OSError, match="no more"):
        list(pool.results(None, [object()], 4))  # type: ignore[arg-type, list-item]
    assert len(ended) == 2
