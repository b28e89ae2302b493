"""Who is compared with whom: all that mean the same, and each variant with its engine alone."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from harness.checks.base import Observation
from harness.checks.equivalence import Equivalence
from harness.core.comparisons import ComparedGroup
from harness.core.outcomes import Inputs, Results
from harness.core.participants import Participant
from harness.core.standing import Standing
from harness.engine import selection
from impls.interface import About
from tests.harness.samples import contract, given


@dataclass
class Named:
    about: About


def terms(**engines):
    """A contract of implementations by name, each with the engine that it is a variant of."""
    made = contract("toy_bytes", "bpe.naive")
    abouts = [About(name=name, version="1", engine=engine) for name, engine in engines.items()]
    participants = tuple(Participant(a.name, a.name, a, Named(a)) for a in abouts)
    return replace(made, participants=participants, references=frozenset({"a"}))


def answered(ids):
    return Results(
        np.zeros(1, dtype=np.uint8),
        np.array(ids, dtype=np.int32),
        np.array([len(ids)], dtype=np.int64),
    )


def found(made, **ids):
    seen = Observation(made, Inputs.of([b"x"]), {n: answered(i) for n, i in ids.items()})
    judged = Equivalence().judge(seen, given())
    return [(one.parts[0].names, one.culprits) for one in judged.violations]


def test_a_variant_meets_its_engine_alone():
    made = terms(a="", b="", c="b")

    assert made.compared_groups({"a", "b", "c"}) == [
        ComparedGroup(("a", "b"), {"a": Standing.REFERENCE, "b": Standing.CANDIDATE}),
        ComparedGroup(("b", "c"), {"b": Standing.REFERENCE, "c": Standing.CANDIDATE}),
    ]


def test_a_variant_whose_engine_is_not_there_meets_nobody():
    assert terms(a="", c="b").compared_groups({"a", "c"}) == [
        ComparedGroup(("a",), {"a": Standing.REFERENCE})
    ]


def test_a_variant_that_the_user_declared_a_reference_is_trusted_before_its_engine():
    made = replace(terms(b="", c="b"), references=frozenset({"c"}))

    assert found(made, b=[1], c=[2]) == [(("c",), ("b",))]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"a": [1], "b": [2], "c": [2]}, [(("a",), ("b",))]),
        ({"a": [1], "b": [1], "c": [2]}, [(("b",), ("c",))]),
        ({"a": [1], "b": [2], "c": [1]}, [(("a",), ("b",)), (("b",), ("c",))]),
        ({"a": [1], "b": [1], "c": [1]}, []),
    ],
)
def test_the_engine_is_trusted_against_its_variant(ids, expected):
    assert found(terms(a="", b="", c="b"), **ids) == expected


def test_a_run_of_everything_leaves_out_variants_without_their_engine():
    present, _ = selection.participants([])
    names = {participant.name for participant in present}

    assert "unigram.sentencepiece-0.2.1" not in names
    assert ("spm.llama-cpp" in names) == ("llama.cpp" in names)
    [named], _ = selection.participants(["unigram.sentencepiece-0.2.1"])
    assert named.name == "unigram.sentencepiece-0.2.1"
