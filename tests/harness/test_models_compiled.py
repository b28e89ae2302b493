"""Models that explain findings are compiled before a run, and no judge waits for them."""

import os
import subprocess
import sys

import pytest

from corpora.vocabularies.sources import resolve
from harness.findings.diagnosis import compile_models, modelled
from impls import registry
from tests.harness.test_explain import Pipeline


@pytest.mark.parametrize("name", ["toy_file_characters", "toy_file_scores", "toy_file_subwords"])
def test_what_only_its_file_says_has_no_model(name, monkeypatch):
    monkeypatch.setattr(registry, "resolve", None)
    assert modelled(resolve(name)) == ""
    compile_models(resolve(name), bool)
    assert modelled(resolve("toy_unigram")) == "unigram"


def test_each_model_of_an_algorithm_is_run_once_until_the_run_is_stopped(
    monkeypatch,
):
    """One that fails explains nothing, and ends no run."""
    ran = []

    class Model(Pipeline):
        def steps(self, vocabulary, data, mode):
            ran.append(self.name)
            raise ValueError("no idea")

    monkeypatch.setattr(registry, "resolve", lambda name: Model(name, ()))
    compile_models(resolve("toy_characters"), bool)
    assert ran == ["spm.llama-cpp", "spm.sentencepiece"]
    compile_models(resolve("toy_characters"), lambda: True)
    compile_models(resolve("toy_bytes"), bool)
    assert len(ran) == 2


RUN = (
    "run", "--vocab=toy_wordpiece", "--impl=wordpiece.bert", "--impl=tokenizers",
    "--check=equivalence",
)  # fmt: skip


@pytest.mark.thorough  # compiles afresh
def test_prepared_is_prepared(tmp_path):
    """What `tokgate prepare` has compiled, a run does not compile again."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("TOKGATE_CACHE_DIR", None)

    def tokgate(*arguments):
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
    run = tokgate(*RUN, "--budget=300cases", f"--out={tmp_path / 'out'}")
    assert run.returncode == 0, run.stderr
    assert set(tmp_path.rglob("*.nbi")) == before
