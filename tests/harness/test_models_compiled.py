"""Models that explain findings are compiled beside a run, and no judge waits for them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from corpora.vocabularies.sources import resolve
from harness.findings import models
from harness.findings.models import TAUGHT_BY, Compiling, models_of
from harness.studies.checks import Checks


def test_every_algorithm_whose_engines_have_models_has_a_vocabulary_to_compile_them_on() -> None:
    assert {algorithm for algorithm in TAUGHT_BY if models_of(algorithm)} == set(TAUGHT_BY)
    assert models_of("bpe") == []


def test_nothing_is_started_where_all_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(models, "_marker", lambda algorithm: tmp_path)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert Compiling("spm").ready()
    assert Compiling("bpe").ready()


@pytest.mark.parametrize("name", ["toy_file_characters", "toy_file_scores", "toy_file_subwords"])
def test_what_only_its_file_says_has_no_model(name: str) -> None:
    assert models.modelled(resolve(name)) == ""
    assert Compiling(models.modelled(resolve(name))).ready()
    assert models.modelled(resolve("toy_unigram")) == "unigram"


def test_a_process_of_its_own_compiles_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    marker = tmp_path / "marker"
    monkeypatch.setattr(models, "_marker", lambda algorithm: marker)
    monkeypatch.setattr(models, "COMMAND", (sys.executable, "-c", f"open({str(marker)!r}, 'w')"))
    compiling = Compiling("spm")
    compiling.wait(lambda: False)
    assert compiling.ready()
    assert marker.exists()
    compiling.close()


class Session:
    """The end of a session of a first run, whose models are still being compiled."""

    def __init__(self, *, waiting: bool, named: bool = True) -> None:
        self.waited = 0
        tally = SimpleNamespace(compiled=set(), unexplained=Counter())
        self.run = SimpleNamespace(
            plan=SimpleNamespace(named=frozenset({"mine"} if named else ())),
            stop=threading.Event(),
            lock=threading.Lock(),
            countdown=SimpleNamespace(over=True),
            left_for_questions=lambda: 0.0,
            tally=tally,
        )
        self._inquiry = SimpleNamespace(
            unready=lambda: waiting and not self.waited, drop_unready=int, finish=bool
        )
        self._session = SimpleNamespace(
            pool=SimpleNamespace(limit_by=id), vocabulary=SimpleNamespace(id="my.model")
        )
        self._compiling = SimpleNamespace(ready=lambda: bool(self.waited), wait=self._wait)

    def _wait(self, stopped: Any) -> None:
        self.waited += 1

    def end(self, *, owed: bool) -> set[str]:
        """The vocabularies for which the run is said to have gone on after its time."""
        checks = Checks.__new__(Checks)
        checks._run = cast("Any", self.run)
        arguments: Any = self._inquiry, self._compiling, self._session
        checks._end(*arguments, owed=owed)
        return cast("set[str]", self.run.tally.compiled)


def test_a_gate_waits_for_the_models_where_something_needs_them_and_says_so() -> None:
    """A clean first run ends in its time; one with a difference misses nothing."""
    assert Session(waiting=True).end(owed=False) == {"my.model"}
    assert Session(waiting=False).end(owed=True) == {"my.model"}
    clean = Session(waiting=False)
    assert clean.end(owed=False) == set()
    assert clean.waited == 0
    assert Session(waiting=True, named=False).end(owed=True) == set()


@pytest.mark.thorough  # compiles afresh
def test_prepared_is_prepared(tmp_path: Any) -> None:
    """What `tokgate prepare` has compiled, a run does not compile again."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("TOKGATE_CACHE_DIR", None)

    def tokgate(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = "from harness.cli.application import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    done = tokgate("prepare", "--vocab=toy_wordpiece")
    assert done.returncode == 0, done.stderr
    assert "prepared in" in done.stderr
    before = set(tmp_path.rglob("*.nbi"))
    assert before
    assert list(tmp_path.rglob("models-wordpiece-*"))
    run = tokgate(
        "run", "--vocab=toy_wordpiece", "--impl=wordpiece.bert", "--impl=tokenizers",
        "--check=equivalence", "--budget=300cases", f"--out={tmp_path / 'out'}",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert set(tmp_path.rglob("*.nbi")) == before
