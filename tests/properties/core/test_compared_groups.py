"""Who is compared with whom: all that mean the same, and each variant with its engine alone."""

from dataclasses import replace

import pytest

from harness.checks.base import Observation
from harness.checks.equivalence import Equivalence
from harness.core.outcomes import Encoded, Inputs, Results
from harness.engine import selection
from impls.interface import About
from tests.doubles.pools import contract
from tests.doubles.samples import given


@pytest.mark.parametrize(
    ("reference", "ids", "expected"),
    [
        # A variant, c of b, that the user declared a reference is trusted before its engine.
        ("c", {"b": 1, "c": 2}, [("c", "b")]),
        ("a", {"a": 1, "b": 2, "c": 2}, [("a", "b")]),
        ("a", {"a": 1, "b": 1, "c": 2}, [("b", "c")]),
        ("a", {"a": 1, "b": 2, "c": 1}, [("a", "b"), ("b", "c")]),
        ("a", {"a": 1, "b": 1, "c": 1}, []),
        # Without its engine it meets nobody.
        ("a", {"a": 1, "c": 2}, []),
    ],
)
def test_the_engine_is_trusted_against_its_variant_which_meets_nobody_else(
    reference, ids, expected
):
    made = contract(*ids, references=frozenset({reference}))
    abouts = {name: About(name, "1", engine="b" * (name == "c")) for name in ids}
    members = [replace(one, about=abouts[one.name]) for one in made.participants]
    results = {name: Results.of([Encoded((one,))]) for name, one in ids.items()}
    seen = Observation(replace(made, participants=tuple(members)), Inputs.of([b"x"]), results)
    judged = Equivalence().judge(seen, given())
    assert [(*one.parts[0].names, *one.culprits) for one in judged.violations] == expected


def test_a_run_of_everything_leaves_out_variants_without_their_engine():
    present, _ = selection.participants([])
    names = {participant.name for participant in present}
    assert "unigram.sentencepiece-0.2.1" not in names
    assert ("spm.llama-cpp" in names) == ("llama.cpp" in names)
    [named], _ = selection.participants(["unigram.sentencepiece-0.2.1"])
    assert named.name == "unigram.sentencepiece-0.2.1"
