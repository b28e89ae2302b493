"""What a user asked for by name, and who joins a run in which nobody else would compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import comparing
from harness.engine.planning import Plan
from tests.harness.command import here


def plan_of(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> Plan:
    """The plan that ``tokgate run`` makes of these arguments."""
    made: list[Plan] = []

    def keep(plan: Plan, *_: object, **__: object) -> None:
        made.append(plan)
        raise SystemExit(0)

    monkeypatch.setattr(comparing, "perform", keep)
    ended = here("run", *arguments, folder=folder)
    assert made, ended.stderr
    return made[0]


def test_a_plan_knows_what_the_user_gave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("some words\n")
    plan = plan_of(
        monkeypatch, tmp_path, "--vocab=toy_bytes", "--vocab=toy_merges", "--impl=bpe.heap",
        "--impl=bpe.naive", "--check=round-trip", "--input=mine.txt",
    )  # fmt: skip
    assert plan.asked == {
        "implementations": ["bpe.heap", "bpe.naive"],
        "vocabularies": ["toy_bytes", "toy_merges"],
        "checks": ["round-trip"],
        "inputs": ["mine.txt"],
    }


def test_what_a_run_takes_by_itself_was_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan = plan_of(monkeypatch, tmp_path, "--vocab=random:2")
    assert len(plan.vocabularies) == 2
    # A number of random vocabularies names none of them.
    assert plan.asked == {"implementations": [], "vocabularies": [], "checks": [], "inputs": []}
