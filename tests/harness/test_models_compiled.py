"""Models that explain findings are compiled before a run, and no judge waits for them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from corpora.vocabularies.sources import resolve
from harness.findings import models
from harness.findings.models import TAUGHT_BY, compile_models, models_of


def test_every_algorithm_whose_engines_have_models_has_a_vocabulary_to_compile_them_on() -> None:
    assert {algorithm for algorithm in TAUGHT_BY if models_of(algorithm)} == set(TAUGHT_BY)
    assert models_of("bpe") == []


def test_nothing_is_started_where_all_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(models, "marker", lambda name: tmp_path)
    monkeypatch.setattr(subprocess, "Popen", None)
    compile_models("spm", bool)
    compile_models("bpe", bool)


@pytest.mark.parametrize("name", ["toy_file_characters", "toy_file_scores", "toy_file_subwords"])
def test_what_only_its_file_says_has_no_model(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    assert models.modelled(resolve(name)) == ""
    compile_models(models.modelled(resolve(name)), bool)
    assert models.modelled(resolve("toy_unigram")) == "unigram"


def test_a_process_of_its_own_compiles_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    marker = tmp_path / "marker"
    monkeypatch.setattr(models, "marker", lambda name: marker)
    monkeypatch.setattr(models, "COMMAND", (sys.executable, "-c", f"open({str(marker)!r}, 'w')"))
    compile_models("spm", bool)
    assert marker.exists()


def test_a_run_that_is_stopped_does_not_wait_for_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(models, "marker", lambda name: tmp_path / "marker")
    monkeypatch.setattr(models, "COMMAND", (sys.executable, "-c", "import time; time.sleep(3600)"))
    compile_models("spm", lambda: True)  # would wait for an hour


RUN = (
    "run", "--vocab=toy_wordpiece", "--impl=wordpiece.bert", "--impl=tokenizers",
    "--check=equivalence",
)  # fmt: skip


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
    assert "compiling and building what this run needs" in done.stderr
    before = set(tmp_path.rglob("*.nbi"))
    assert before
    assert list(tmp_path.rglob("models-wordpiece-*"))
    run = tokgate(*RUN, "--budget=300cases", f"--out={tmp_path / 'out'}")
    assert run.returncode == 0, run.stderr
    assert set(tmp_path.rglob("*.nbi")) == before
