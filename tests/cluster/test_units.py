"""A run in units is the run itself, whoever performs them and in whatever order."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cluster import opening
from harness.cluster.executor import ClusterError, Done, Unit, UnitError
from harness.cluster.local import LocalExecutor
from tests.cluster.plans import files_of, finished, plug_in, record_of, small_plan, verdict_of
from tests.harness.command import here


class Shuffled(LocalExecutor):
    """Hands results back late and in another order."""

    def __init__(self) -> None:
        super().__init__(8)
        self._kept: list[Done] = []
        self._asked = 0

    def submit(self, unit: Unit) -> None:
        self._asked += 1
        super().submit(unit)

    def next(self, seconds: float) -> Done | None:
        while len(self._kept) < self._asked:
            done = super().next(60)
            assert done is not None
            self._kept.append(done)
        if not self._kept:
            return None
        self._asked -= 1
        self._kept.sort(key=lambda one: one.name)
        return self._kept.pop(random.Random(3).randrange(len(self._kept)))


def test_a_run_in_units_is_the_run_itself(tmp_path: Path) -> None:
    plan = small_plan(plug_in(tmp_path))
    usual = finished(plan, tmp_path / "usual")
    in_units = finished(plan, tmp_path / "units", Shuffled())
    assert len(usual.findings) > 1
    assert record_of(tmp_path / "units") == record_of(tmp_path / "usual")
    assert in_units.findings == usual.findings
    assert verdict_of(in_units) == verdict_of(usual)
    assert files_of(tmp_path / "units") == files_of(tmp_path / "usual")


class Failing(LocalExecutor):
    """Breaks off after so many results."""

    left = 2

    def next(self, seconds: float) -> Done | None:
        if not self.left:
            raise KeyboardInterrupt
        done = super().next(seconds)
        self.left -= done is not None
        return done


def test_what_was_done_before_an_interruption_is_in_the_record(tmp_path: Path) -> None:
    plan = small_plan(plug_in(tmp_path))
    finished(plan, tmp_path / "usual")
    cut_off = finished(plan, tmp_path / "cut", Failing(1))
    whole, seen = record_of(tmp_path / "usual"), record_of(tmp_path / "cut")
    assert not cut_off.finished.complete
    assert "interrupted" in cut_off.finished.reasons[0]
    assert [e for e in seen if e["event"] == "Found"]
    assert seen == whole[: len(seen)]
    assert sum(one["event"] == "VocabularyLoaded" for one in seen) == 2


def raising(word: str) -> bytes:
    """A unit that fails."""
    raise ValueError(f"no {word}\nand more")


def test_a_unit_that_fails_is_named() -> None:
    executor = LocalExecutor(1)
    executor.submit(Unit("one", raising, arguments=("luck",)))
    with pytest.raises(UnitError, match=r"^one: ValueError: no luck$"):
        executor.next(60)
    executor.close()


def test_without_a_cluster_nothing_of_ray_is_imported() -> None:
    code = (
        "import sys, harness.cli.application, harness.studies.units, harness.cluster.opening;"
        "sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("address", ["", "local", "local:0", "ray://host", "http://host:1", "x y"])
def test_what_is_no_cluster_is_one_line(address: str) -> None:
    with pytest.raises(ClusterError, match=r"is no cluster; write auto, ray://HOST:10001") as said:
        opening.check(address)
    assert "\n" not in str(said.value)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r"Ray is not installed; pip install 'tokgate\[ray\]'"):
        opening.check("local:2")


def test_a_mistake_in_the_option_ends_with_status_2() -> None:
    ended = here("run", "--cluster", "nowhere")
    assert ended.returncode == 2
    assert "--cluster 'nowhere': is no cluster" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
