"""Who is compared with whom: all that mean the same, and each variant with its engine alone."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.checks.base import Observation
from harness.checks.equivalence import Equivalence
from harness.core.outcomes import Encoded, Inputs, Results
from harness.core.participants import Participant
from harness.core.standing import Standing
from harness.engine import selection
from impls.interface import About
from tests.harness.samples import contract, given


def terms(**engines):
    """A contract of implementations by name, each with the engine that it is a variant of."""
    made = contract("toy_bytes", "bpe.naive")
    abouts = [About(name=name, version="1", engine=engine) for name, engine in engines.items()]
    participants = tuple(Participant(a.name, a.name, a, SimpleNamespace(about=a)) for a in abouts)
    return replace(made, participants=participants, references=frozenset({"a"}))


def found(made, **ids):
    results = {name: Results.of([Encoded((one,))]) for name, one in ids.items()}
    judged = Equivalence().judge(Observation(made, Inputs.of([b"x"]), results), given())
    return [(one.parts[0].names, one.culprits) for one in judged.violations]


def test_a_variant_meets_its_engine_alone():
    made = terms(a="", b="", c="b")

    assert made.compared_groups({"a", "b", "c"}) == [
        {"a": Standing.REFERENCE, "b": Standing.CANDIDATE},
        {"b": Standing.REFERENCE, "c": Standing.CANDIDATE},
    ]


def test_a_variant_whose_engine_is_not_there_meets_nobody():
    assert terms(a="", c="b").compared_groups({"a", "c"}) == [{"a": Standing.REFERENCE}]


@pytest.mark.parametrize(
    ("reference", "ids", "expected"),
    [
        # A variant that the user declared a reference is trusted before its engine.
        ("c", {"b": 1, "c": 2}, [(("c",), ("b",))]),
        ("a", {"a": 1, "b": 2, "c": 2}, [(("a",), ("b",))]),
        ("a", {"a": 1, "b": 1, "c": 2}, [(("b",), ("c",))]),
        ("a", {"a": 1, "b": 2, "c": 1}, [(("a",), ("b",)), (("b",), ("c",))]),
        ("a", {"a": 1, "b": 1, "c": 1}, []),
    ],
)
def test_the_engine_is_trusted_against_its_variant(reference, ids, expected):
    members = {name: "b" * (name == "c") for name in ids}
    made = replace(terms(**members), references=frozenset({reference}))
    assert found(made, **ids) == expected


def test_a_run_of_everything_leaves_out_variants_without_their_engine():
    present, _ = selection.participants([])
    names = {participant.name for participant in present}

    assert "unigram.sentencepiece-0.2.1" not in names
    assert ("spm.llama-cpp" in names) == ("llama.cpp" in names)
    [named], _ = selection.participants(["unigram.sentencepiece-0.2.1"])
    assert named.name == "unigram.sentencepiece-0.2.1"
