"""What workers and helpers answer is data of a type, or their clear end: nothing of it is run."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from corpora.vocabularies import sources
from harness.studies.forced.jobs import Task
from harness.studies.forced.pool import results
from harness.studies.fuzz.helper import Helper
from tests.breadth import thorough
from tests.harness.bomb import Bomb, fire


@dataclass(frozen=True)
class Bombed:
    """A job in which a library writes a pickle to the descriptor that leads to the harness."""

    path: str
    framed: int
    answer: ClassVar[Any] = str

    def fits(self, answer: str) -> bool:
        return True

    def run(self, policies: object, task: object, beat: Callable[[], None]) -> str:
        fire(self.path, self.framed)
        return "answered"

    def broken(self, how: str) -> str:
        return f"broken: {how}"


def test_the_bomb_is_one(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(str(tmp_path / "ran"))))
    assert (tmp_path / "ran").is_dir()


@pytest.mark.parametrize("framed", [0, thorough(1)])
def test_a_pickle_of_a_job_is_refused(framed: int, tmp_path: Path) -> None:
    task = Task(sources.resolve("toy_bytes"), ["none"], "flexible", seconds=60.0)
    jobs = [Bombed(str(tmp_path / "ran"), framed)]
    (said,) = results(task, jobs, 1)
    assert said.startswith("broken: broke the protocol: ")
    assert said.isprintable()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("framed", [0, 1])
def test_a_pickle_of_a_helper_is_refused(
    framed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    helper = Helper("tests.harness.bomb")
    with caplog.at_level(logging.WARNING):
        try:
            said = helper.ask((str(tmp_path / "ran"), framed), 120.0, lambda: False)
        finally:
            helper.close()
    assert said is None
    assert "tests.harness.bomb: " in caplog.text
    assert not (tmp_path / "ran").exists()
