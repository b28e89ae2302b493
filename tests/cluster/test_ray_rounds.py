"""A campaign on a Ray cluster is the campaign itself, whatever is killed meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.events import ClusterUsed, NodeLeft, UnitDone, UnitLost, UnitStarted
from harness.studies.fuzz.state import Round
from tests.cluster.campaigns import Quiet, campaign, everything, session
from tests.cluster.nodes import cluster, executor, kill_raylet, kill_worker, lasting
from tests.cluster.plans import content_of, plug_in

pytest.importorskip("ray", reason="Ray is not installed: the extra 'ray'")

__all__ = ["cluster", "lasting"]  # fixtures

pytestmark = pytest.mark.thorough  # a cluster of several processes each

ROOT = Path(__file__).parents[2]


class Usual:
    """The campaign of this machine that others are held to, made in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.spec = plug_in(folder)
        self.out, self.where = folder / "usual", str(folder / "usual.db")
        ended = driver(self.where, self.out, self.spec)
        assert ended.returncode == 0, ended.stderr

    def equals(self, where: str, out: Path) -> None:
        """Hold another campaign to it."""
        whole = everything(self.where)
        assert everything(where) == whole
        assert len(whole["findings"]) > 2, "else the rest says little"
        assert findings_in(out) == findings_in(self.out)


def findings_in(out: Path) -> dict[str, bytes]:
    """The folders of findings; each has a reproducer, which may name vocabularies in other ways."""
    return {
        str(path.relative_to(out)): b"" if path.name == "repro.py" else content_of(path)
        for path in sorted((out / "findings").rglob("*"))
        if path.is_file()
    }


def driver(where: str, out: Path, spec: str, *rest: str) -> subprocess.CompletedProcess[str]:
    """A driver in a process of its own."""
    command = [sys.executable, "-m", "tests.cluster.campaigns", where, str(out), spec, *rest]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False
    )


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Usual:
    """It is made once."""
    return Usual(tmp_path_factory.mktemp("usual"))


class Seen(Quiet):
    """Does something once so many rounds were begun after the first were committed."""

    def __init__(self, begun: int, act: Any) -> None:
        super().__init__()
        self._begun, self._act = begun, act

    def announce(self, event: Any) -> None:
        super().announce(event)
        if isinstance(event, UnitStarted) and len(self.of(UnitStarted)) == self._begun:
            self._act()


def test_a_campaign_on_three_nodes_is_the_campaign_itself(
    lasting: Any, usual: Usual, tmp_path: Path
) -> None:
    where, out, seen = str(tmp_path / "there.db"), tmp_path / "there", Quiet()
    there = session(campaign(usual.spec), where, out, executor(lasting, 3), seen)
    usual.equals(where, out)
    (told,) = [one for one in there.events if isinstance(one, ClusterUsed)]
    assert len([one for one in told.nodes if one.units]) == 3
    assert sum(one.cases for one in told.nodes) == there.session_cases
    assert not seen.of(UnitLost)


@pytest.mark.parametrize("kill", [kill_worker, kill_raylet])
def test_whatever_is_killed_nothing_is_lost_and_nothing_comes_twice(
    cluster: Any, usual: Usual, tmp_path: Path, kill: Any
) -> None:
    where, out = str(tmp_path / "there.db"), tmp_path / "there"
    seen = Seen(9, lambda: kill(cluster))
    committed: Counter[tuple[str, int]] = Counter()

    def count(done: Round) -> None:
        committed[done.target, done.cases] += 1

    there = session(campaign(usual.spec), where, out, executor(cluster, 3), seen, count)
    usual.equals(where, out)
    assert seen.of(UnitLost)
    assert bool(seen.of(NodeLeft)) == (kill is kill_raylet)
    assert set(committed.values()) == {1}
    assert sum(one.cases for one in seen.of(UnitDone)) == there.session_cases


def test_a_driver_that_is_killed_is_gone_on_with(
    lasting: Any, usual: Usual, tmp_path: Path
) -> None:
    where, out = str(tmp_path / "there.db"), tmp_path / "there"
    killed = driver(where, out, usual.spec, lasting.address, "6")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    ended = driver(where, out, usual.spec, lasting.address)
    assert ended.returncode == 0, ended.stderr
    usual.equals(where, out)
