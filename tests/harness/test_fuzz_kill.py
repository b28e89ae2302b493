"""A campaign that is killed goes on as if nothing had happened, and ends with the same findings."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.events import Found
from tests.harness.fuzz_campaign import everything, run, small_plan
from tests.harness.postgres import server

# Whole campaigns, several a test. In test_fuzz.py there is one that is interrupted and goes on.
pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
CASES = 2000
"""Some eight rounds: enough for five kills."""

SECONDS = 300
"""For a hang."""


def session(where: str, out: Path, dies_at: int = 0) -> int:
    """A session in a process of its own; its exit status."""
    command = [sys.executable, "-m", "tests.harness.fuzz_campaign", where, str(out), str(CASES)]
    ended = subprocess.run(
        [*command, str(dies_at)], cwd=ROOT, timeout=SECONDS, capture_output=True, check=False
    )
    if not dies_at:
        assert ended.returncode == 0, ended.stderr.decode()
    return ended.returncode


@pytest.mark.parametrize(
    ("kind", "kills"), [("sqlite", (1, -1, 1, -2, 1)), ("postgresql", (-2, 1))]
)
def test_kills_change_nothing(kind: str, kills: tuple[int, ...], tmp_path: Path) -> None:
    with server() if kind == "postgresql" else nothing(tmp_path) as new:
        undisturbed, killed = new(), new()
        run(small_plan(CASES), undisturbed, tmp_path / "undisturbed")
        # After the first commit, inside the second's transaction, and so on.
        for dies_at in kills:
            assert session(killed, tmp_path / "killed", dies_at) == -signal.SIGKILL
        assert session(killed, tmp_path / "killed") == 0
        expected, found = everything(undisturbed), everything(killed)
    assert len(expected["findings"]) >= 2
    assert len(expected["inputs"]) > 100
    (target,) = expected["strands"].values()
    assert target[2]["losses"] or target[2]["counts"], "the one that dies has died"
    assert found == expected
    folders = {path.name for path in (tmp_path / "killed" / "findings").iterdir()}
    assert folders == {identity for _, identity, _, _ in expected["findings"]}


class nothing:  # noqa: N801 (a context manager, as ``server`` is)
    """In place of a server: new SQLite files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def __enter__(self) -> nothing:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self) -> str:
        self.count += 1
        return str(self.folder / f"{self.count}.db")


def test_another_seed_is_another_campaign(tmp_path: Path) -> None:
    """The comparison above can fail."""
    one, other = str(tmp_path / "1.db"), str(tmp_path / "2.db")
    run(small_plan(600), one, tmp_path / "1")
    run(small_plan(600, seed=1), other, tmp_path / "2")
    assert everything(one)["inputs"] != everything(other)["inputs"]


def test_more_cases_go_on_as_if_asked_for_at_once(tmp_path: Path) -> None:
    parts, whole = str(tmp_path / "1.db"), str(tmp_path / "2.db")
    first = run(small_plan(600), parts, tmp_path / "1")
    second = run(small_plan(2400), parts, tmp_path / "1")
    at_once = run(small_plan(2400), whole, tmp_path / "2")
    assert everything(parts) == everything(whole)
    # Only what the second session found is new to it.
    old = {found.id for found in first.new}
    assert old
    assert not old & {found.id for found in second.new}
    assert {f.id for f in second.findings} == {f.id for f in at_once.findings}
    assert [e for e in second.events if isinstance(e, Found)] == second.findings


def test_targets_do_not_disturb_one_another(tmp_path: Path) -> None:
    """Two vocabularies side by side come to what each comes to alone."""
    from dataclasses import replace

    impls = ("bpe.naive", "bpe.heap")
    both = small_plan(600, impls, ("toy_bytes", "toy_acbb"))
    side_by_side = replace(both, plan=replace(both.plan, jobs=2), shards=2)
    together, alone = str(tmp_path / "1.db"), str(tmp_path / "2.db")
    run(side_by_side, together, tmp_path / "1")
    run(small_plan(600, impls, ("toy_bytes",)), alone, tmp_path / "2")
    targets = everything(together)["strands"]
    assert set(targets) == {f"toy_{kind}#{n}" for kind in ("bytes", "acbb") for n in (0, 1)}
    assert targets["toy_bytes#0"] == everything(alone)["strands"]["toy_bytes#0"]
    assert targets["toy_bytes#1"][3] != targets["toy_bytes#0"][3]
