"""Wrong offsets are named by what is wrong with them, and decoders by who gives another text."""

from itertools import product

import pytest

from harness.checks import CHECKS
from harness.checks.base import Observation
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status, Unsupported
from harness.engine.selection import participants
from tests.doubles.samples import given, sources

TOKENS = sources.resolve("toy_bytes")
AB = (TOKENS.ids[b"a"], TOKENS.ids[b"b"])


def contract(vocabulary):
    """The contract for text of a vocabulary, with two that decode."""
    everybody, _ = participants(["tokenizers", "unigram.huggingface", "bpe.heap"])
    made = contracts_of(sources.resolve(vocabulary), everybody, frozenset(), proper=True)
    return next(one for one in made if one.mode.special == "none")


BYTES, PIECES = contract("toy_bytes"), contract("toy_unigram")
"""Of the first, each token is in its range of the text; of the second, texts are rewritten."""


def judged_offsets(under, ids, answers):
    """What is wrong with these answers to ``ab``, by place, and how many were judged."""
    first = Results.of([Encoded(ids)] * len(answers))
    seen = Observation(under, Inputs.of([b"ab"] * len(answers)), {"tokenizers": first})
    judged = CHECKS["offsets"].judge(seen, given(Results.of(answers)))
    return {one.index: one.stage for one in judged.violations}, judged.exercised["tokenizers"]


@pytest.mark.parametrize("under", [BYTES, PIECES], ids=["bytes", "pieces"])
def test_offsets_are_named_by_what_is_wrong(under):
    ranges = [*product((-1, 0, 1, 2, 3, 2**63 - 1), repeat=2)]
    every = [*product(ranges, repeat=2)]
    stages = {}
    for place, (one, other) in enumerate(every):
        if not all(0 <= start <= end <= 2 for start, end in (one, other)):
            stages[place] = "range"
        elif one[0] > other[0] or one[1] > other[1]:
            stages[place] = "order"
        elif under is BYTES and not (one[0] == 0 < one[1] and other[0] <= 1 < other[1]):
            stages[place] = "text"
    answers = [Encoded(AB, offsets=spans) for spans in every]
    assert judged_offsets(under, AB, answers) == (stages, len(every))


@pytest.mark.parametrize(
    ("ids", "answer", "stage"),
    [
        (AB, Encoded((1, 2, 3), offsets=((0, 0),) * 3), "ids"),
        (AB, Failed(Status.ERRORED, "no"), "errored"),
        # An id of no token is not about offsets, and hides no other token.
        ((999_999,), Encoded((999_999,), offsets=((0, 1),)), None),
        ((999_999, *AB), Encoded((999_999, *AB), offsets=((0, 0), (1, 2), (1, 2))), "text"),
    ],
)
def test_what_else_is_wrong_than_ranges(ids, answer, stage):
    assert judged_offsets(BYTES, ids, [answer]) == ({0: stage} if stage else {}, 1)
    # Who gives no offsets of an input is not judged.
    assert judged_offsets(BYTES, ids, [Unsupported()]) == ({}, 0)


DECODED = Results.of([Encoded((1, 2), text=b"ab"), Encoded((3,), text=b"c")])


@pytest.mark.parametrize(
    ("answer", "stages"),
    [
        (DECODED, []),
        (Results.of([Encoded((1, 2), text=b"a"), Encoded((3,), text=b"bc")]), ["decode"] * 2),
        (Results.of([Encoded((1, 2), text=b"ab"), Encoded((3,), text=b"d")]), ["decode"]),
        (Results.of([Encoded((1, 2), text=b"ab"), Failed(Status.ERRORED, "no")]), ["errored"]),
        (Results.of([Unsupported(), Encoded((3,), text=b"d")]), ["decode"]),
    ],
)
def test_decoders_are_compared_on_the_same_ids(answer, stages):
    results = dict.fromkeys(("tokenizers", "unigram.huggingface"), DECODED)
    seen = Observation(PIECES, Inputs.of([b"ab", b"c"]), results)
    judged = CHECKS["round-trip"].judge(seen, given(DECODED, answer))
    assert [one.stage for one in judged.violations] == stages
    unsupported = answer.status == Status.UNSUPPORTED
    others = 2 - int(unsupported.sum())
    assert judged.exercised == {"tokenizers": 2, "unigram.huggingface": others}
