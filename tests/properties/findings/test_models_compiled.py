"""Models that explain findings are compiled before a run, and no judge waits for them."""

import os
import subprocess

import pytest

from corpora.vocabularies.sources import resolve
from harness.findings.diagnosis import compile_models, modelled
from impls import registry
from tests.doubles.command import TOKGATE
from tests.properties.findings.test_explain import Pipeline


def test_each_model_of_an_algorithm_is_run_once_until_the_run_is_stopped(monkeypatch):
    """One that fails explains nothing, and ends no run."""
    ran = []

    class Model(Pipeline):
        def steps(self, vocabulary, data, mode):
            ran.append(self.name)
            raise ValueError("no idea")

    monkeypatch.setattr(registry, "resolve", Model)
    compile_models(resolve("toy_characters"), bool)
    assert ran == ["spm.llama-cpp", "spm.sentencepiece"]
    compile_models(resolve("toy_characters"), lambda: True)
    compile_models(resolve("toy_bytes"), bool)
    assert modelled(resolve("toy_unigram")) == "unigram"
    for name in ("toy_file_characters", "toy_file_scores", "toy_file_subwords"):
        assert modelled(resolve(name)) == "", "what only its file says has no model"
        compile_models(resolve(name), bool)
    assert len(ran) == 2


@pytest.mark.thorough  # compiles afresh
def test_prepared_is_prepared(tmp_path):
    """What ``tokgate prepare`` has compiled, a run does not compile again."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for name in ("NUMBA_CACHE_DIR", "TOKGATE_CACHE_DIR"):
        environment.pop(name, None)
    compiled = []
    for line in (
        "prepare --vocab=toy_wordpiece",
        "run --vocab=toy_wordpiece --impl=wordpiece.bert --impl=tokenizers --check=equivalence"
        f" --budget=300cases --out={tmp_path / 'out'}",
    ):
        subprocess.run([TOKGATE, *line.split()], env=environment, check=True)
        compiled.append(set(tmp_path.rglob("*.nbi")))
    assert compiled[0] and compiled[0] == compiled[1]
