"""Two pipelines side by side: the first stage that differs is named, and nothing is made up."""

from dataclasses import dataclass, replace

import pytest

from harness.core.outcomes import Encoded, Rejected
from harness.core.participants import Participant
from harness.findings.diagnosis import LONGEST, explain
from impls.interface import About, Mode, Step
from tests.harness.samples import contract, encoded, violation
from tests.harness.test_diagnosis import spelled

TEXT = Mode()


@dataclass
class Pipeline:
    """An implementation that says what it was told to say of its stages."""

    name: str
    stages: tuple[tuple[str, str], ...]

    @property
    def about(self):
        return About(name=self.name, version="1")

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        raise NotImplementedError

    def steps(self, vocabulary, data, mode):
        return [Step(*stage) for stage in self.stages]


class Broken(Pipeline):
    def steps(self, vocabulary, data, mode):
        raise ValueError("no idea")


def parted(one, other, *, ids=((1, 2), (1, 3)), data=b"ab"):
    terms = contract("unigram_nfkc", "sentencepiece", "tokenizers")
    pipelines = (one, other)
    terms = replace(
        terms, participants=tuple(Participant(p.name, p.name, p.about, p) for p in pipelines)
    )
    parts = [(p.name, Encoded(i)) for p, i in zip(pipelines, ids, strict=True)]
    return explain(violation("equivalence", data, *parts), terms)


LEFT = Pipeline("left", (("normalization", "x"), ("segmentation", "a b"), ("ids", "1 2")))
RIGHT = Pipeline("right", (("normalization", "x"), ("segmentation", "a c"), ("ids", "1 3")))


def test_the_first_stage_that_differs_is_named():
    explanation = parted(LEFT, RIGHT)

    assert explanation["parted"] == "segmentation"
    assert [one["left"] == one["right"] for one in explanation["stages"]] == [True, False, False]


def test_a_stage_of_one_side_only_is_left_out():
    spelled = Pipeline("left", (*LEFT.stages[:2], ("byte-fallback", "z"), LEFT.stages[2]))

    assert [stage["name"] for stage in parted(spelled, RIGHT)["stages"]] == [
        "normalization",
        "segmentation",
        "ids",
    ]


@pytest.mark.parametrize(
    ("other", "how"),
    [
        (RIGHT, {"ids": ((1, 2), (1, 4))}),  # a model that gives other ids than its engine
        (Broken("right", ()), {}),
        (RIGHT, {"data": b"a" * (LONGEST + 1)}),
    ],
)
def test_what_explains_nothing(other, how):
    assert parted(LEFT, other, **how) is None


@pytest.mark.parametrize("other", [Rejected("no"), Encoded((1, 2))])
def test_nothing_parts_where_one_side_rejects_or_both_agree(other):
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap", mode=TEXT)
    one = Encoded((1, 2))

    assert explain(violation("equivalence", b"", ("a", one), ("b", other)), terms) is None


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


def spm(*names):
    terms = contract("toy_characters", *names, mode=TEXT)
    parts = [(name, encoded(terms, name, b"a\xff")) for name in names]
    return terms, violation("equivalence", b"a\xff", *parts)


def test_an_engine_is_explained_by_its_model_and_a_plug_in_of_its_name_is_not():
    terms, wrong = spm("sentencepiece", "llama.cpp")
    own = replace(terms.participants[1], spec="mine.py:Mine")
    told = explain(wrong, terms)

    assert (told["left_model"], told["right_model"]) == ("spm.sentencepiece", "spm.llama-cpp")
    assert told["parted"] == "normalization"
    assert "\ufffd" in told["stages"][0]["left"]
    assert explain(wrong, replace(terms, participants=(terms.participants[0], own))) is None
