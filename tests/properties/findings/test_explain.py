"""Two pipelines side by side: the first stage that differs is named, and nothing is made up."""

import os
import subprocess
from dataclasses import dataclass, replace

import pytest

from corpora.vocabularies.sources import resolve
from harness.core.outcomes import Encoded, Rejected
from harness.core.participants import Participant
from harness.findings.diagnosis import LONGEST, compile_models, explain, modelled
from impls import registry
from impls.interface import About, Mode, Step
from tests.doubles.command import TOKGATE
from tests.doubles.samples import contract, encoded, violation
from tests.properties.findings.test_diagnosis import spelled

TEXT = Mode()


@dataclass
class Pipeline:
    """An implementation that says what it was told to say of its stages, or raises."""

    name: str
    stages: tuple[tuple[str, str], ...] | None = None

    @property
    def about(self):
        return About(name=self.name, version="1")

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        raise NotImplementedError

    def steps(self, vocabulary, data, mode):
        return [Step(*stage) for stage in self.stages]


LEFT = (("normalization", "x"), ("segmentation", "a b"), ("byte-fallback", "z"), ("ids", "1 2"))
RIGHT = (("normalization", "x"), ("segmentation", "a c"), ("ids", "1 3"))


def parted(other, ids=None, data=b"ab"):
    terms = contract("unigram_nfkc", "sentencepiece", "tokenizers")
    sides = Pipeline("left", LEFT), Pipeline("right", other)
    members = tuple(Participant(one.name, one.name, one.about, one) for one in sides)
    parts = ("left", Encoded((1, 2))), ("right", ids or Encoded((1, 3)))
    return explain(violation("equivalence", data, *parts), replace(terms, participants=members))


def test_the_first_stage_that_differs_is_named_and_one_of_one_side_only_is_left_out():
    explanation = parted(RIGHT)
    assert explanation["parted"] == "segmentation"
    assert [(one["name"], one["left"] == one["right"]) for one in explanation["stages"]] == [
        ("normalization", True), ("segmentation", False), ("ids", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("other", "how"),
    [
        (RIGHT, {"ids": Encoded((1, 4))}),  # a model that gives other ids than its engine
        (RIGHT, {"ids": Rejected("no")}),
        (LEFT, {"ids": Encoded((1, 2))}),
        (None, {}),
        (RIGHT, {"data": b"a" * (LONGEST + 1)}),
    ],
)
def test_what_explains_nothing(other, how):
    assert parted(other, **how) is None


@pytest.mark.parametrize(
    ("one", "other", "stage"),
    [
        (("the", " ", " ", "12"), ("th", "e", " ", " ", "12"), "segmentation"),
        (("the", " ", " ", "12"), ("the", "  ", "12"), "pre-tokens"),
        (("the", "  ", "12"), ("the", "  ", "1", "3"), "text"),
    ],
)
@pytest.mark.parametrize("culprit", ["bpe.heap", "mine", "rs-bpe"])
def test_ids_of_byte_level_bpe_tell_the_stage_of_who_is_known(one, other, stage, culprit):
    """Neither of a plug-in, whatever it calls itself, nor of a library without a model of ours."""
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap", "rs-bpe", mode=TEXT)
    plugged = replace(terms.participants[1], name="mine", spec="mine.py:Mine")
    terms = replace(terms, participants=(*terms.participants, plugged))
    first, second = (spelled(terms.vocabulary, *texts) for texts in (one, other))
    parts = ("bpe.naive", first), (culprit, second)
    told = explain(violation("equivalence", b"the  12", *parts), terms)
    assert (told and told["parted"]) == (stage if culprit == "bpe.heap" else None)


def test_an_engine_is_explained_by_its_model_and_a_plug_in_of_its_name_is_not():
    names, data = ("sentencepiece", "llama.cpp"), b"a\xff"
    terms = contract("toy_characters", *names, mode=TEXT)
    wrong = violation("equivalence", data, *((name, encoded(terms, name, data)) for name in names))
    own = replace(terms.participants[1], spec="mine.py:Mine")
    told = explain(wrong, terms)
    assert (told["left_model"], told["right_model"]) == ("spm.sentencepiece", "spm.llama-cpp")
    assert told["parted"] == "normalization"
    assert "\ufffd" in told["stages"][0]["left"]
    assert explain(wrong, replace(terms, participants=(terms.participants[0], own))) is None


# Models are compiled before a run, and no judge waits for them.


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
