"""A headline names a well-known mistake where it is one, and nothing where it is another."""

import functools
import itertools
from dataclasses import replace

import pytest

from corpora.generators.catalog import generators
from corpora.vocabularies import sources
from harness.core.outcomes import Encoded
from harness.events import Found
from harness.findings import mistakes, patience
from harness.findings.unicode_skew import FOLLOWS
from harness.studies.selftest import catalog
from harness.studies.selftest.plain.bpe import PlainBpe
from impls import registry
from impls.interface import Mode
from reports.words import spoken
from tests.breadth import thorough_from
from tests.doubles.scenes import Scene, right

resolved = functools.cache(sources.resolve)
"""Vocabularies by name: most mistakes are on the same large one, which takes a while to read."""

NAMED = {
    "merging.rightmost-tie": "merges equal-rank pairs from the right",
    "merging.never-whole": "merges pre-tokens that should be taken whole, as they are tokens",
}
"""What is told of planted mistakes that are on the list."""

MAY_BE = {
    "merging.long-words": "merges equal-rank pairs from the right",
    "merging.longest-match": "takes the longest token at each place",
}
"""What may be told of those that are as one of the list on a part of all inputs, or on whose
vocabulary several of the list are alike."""

PLANTED = [
    one
    for name, one in sorted(catalog.mistakes().items())
    if name.startswith(("merging.", "pretokens.", "caches.", "specials."))
    and one.check == "equivalence"
    and not one.apart
    and one.mode in {"text", "raw"}
    and not PlainBpe().runs(resolved(one.vocabulary))
]


def found_of(mutant):
    """What a tracker makes of a planted mistake, on its own inputs and on generated ones."""
    vocabulary = resolved(mutant.vocabulary)
    mode = Mode(pretokenize=mutant.mode == "text")
    wrong = registry.resolve(mutant.spec).load(vocabulary)
    right = PlainBpe().load(vocabulary)
    scene = Scene(
        ref=lambda data: list(right.encode(data, mode)),
        mine=lambda data: list(wrong.encode(data, mode)),
    )
    scene.contract = replace(scene.contract, vocabulary=vocabulary, mode=mode)
    drawn = [
        case if isinstance(case, bytes) else case.data
        for generator in generators().values()
        for case in itertools.islice(generator.cases(vocabulary, 0), 4)
    ]
    inputs = [data for data in (*mutant.inputs, *drawn) if 0 < len(data) < 120]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience, "SHRINK_SHARE", 1e9)
        for data in inputs[:60]:
            if vocabulary.can_encode(data):
                scene.check("equivalence", data)
    return [event for event in scene.told(Found) if event.minimal]


@pytest.mark.parametrize("name", thorough_from(1, NAMED))
def test_a_well_known_mistake_is_named(name):
    found = found_of(catalog.mistakes()[name])
    assert NAMED[name] in {one.mistake for one in found}
    assert {one.mistake for one in found} <= {NAMED[name], ""}
    assert f"mine {NAMED[name]}" in {spoken(one) for one in found}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*MAY_BE, *(one.name for one in PLANTED[::4])])
def test_another_mistake_is_not_named_as_one_of_the_list(name):
    found = found_of(catalog.mistakes()[name])
    named = {one.mistake for one in found if FOLLOWS not in one.mistake or "unicode" not in name}
    assert named <= {"", MAY_BE.get(name, NAMED.get(name, ""))}


@pytest.mark.parametrize("name", ["toy_acbb", "toy_bytes", "tekken_240718"])
def test_the_longest_token_comes_first(name):
    vocabulary = resolved(name)
    for data in (b"abacbb" * 3, b"acb", b"bacab"):
        if vocabulary.can_encode(data):
            ids, at = [], 0
            while at < len(data):
                here = [one for one in vocabulary.ids if data.startswith(one, at)]
                ids.append(vocabulary.ids[max(here, key=len)])
                at += len(max(here, key=len))
            assert mistakes.longest_first(vocabulary, data) == ids


@pytest.mark.parametrize(("name", "told"), [("toy_bytes", False), ("tekken_240718", True)])
def test_only_a_large_vocabulary_tells_of_cuts_that_are_missing(name, told):
    vocabulary, scene = resolved(name), Scene(ref=right)
    contract = replace(scene.contract, vocabulary=vocabulary, mode=Mode(pretokenize=True))
    whole = mistakes.WAYS[mistakes.RIGHT](vocabulary, b"to be, or not")
    names = mistakes.giving(contract, b"to be, or not", Encoded(whole))
    assert ("does not cut texts into pre-tokens" in names) == told
