"""Wrong offsets are named by what is wrong with them, and decoders by who gives another text."""

import pytest

from harness.checks import CHECKS
from harness.checks.base import Observation
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status, Unsupported
from harness.engine.selection import participants
from tests.harness.samples import given, sources

TOKENS = sources.resolve("toy_bytes")
AB = (TOKENS.ids[b"a"], TOKENS.ids[b"b"])


def contract(vocabulary):
    """The contract for text of a vocabulary, with two that decode."""
    everybody, _ = participants(["tokenizers", "unigram.huggingface", "bpe.heap"])
    made = contracts_of(sources.resolve(vocabulary), everybody, frozenset(), proper=True)
    return next(one for one in made if one.mode.special == "none")


def at(*offsets):
    """Both tokens, said to be there."""
    return Encoded(AB, offsets=offsets)


BYTES, PIECES = contract("toy_bytes"), contract("toy_unigram")
"""Of the first, each token is in its range of the text; of the second, texts are rewritten."""


NONE = (999_999, *AB)
"""An id of no token, which is not about offsets and hides no other token."""


@pytest.mark.parametrize(
    ("under", "answer", "stage"),
    [
        (BYTES, at((0, 1), (1, 2)), None),
        (BYTES, Encoded(NONE, offsets=((0, 0), (0, 1), (1, 2))), None),
        (BYTES, Encoded(NONE, offsets=((0, 0), (1, 2), (1, 2))), "text"),
        (BYTES, Unsupported(), None),
        (BYTES, at((0, 2), (0, 2)), None),
        (BYTES, at((-1, 1), (1, 2)), "range"),
        (BYTES, at((0, 1), (1, 3)), "range"),
        (BYTES, at((1, 0), (1, 2)), "range"),
        (BYTES, at((0, 1), (1, 2**63 - 1)), "range"),
        (BYTES, at((0, 2), (0, 1)), "order"),
        (BYTES, at((1, 2), (0, 2)), "order"),
        (BYTES, at((0, 1), (1, 1)), "text"),
        (PIECES, at((0, 1), (1, 1)), None),
        (PIECES, at((0, 2), (0, 1)), "order"),
        (BYTES, Encoded((1, 2, 3), offsets=((0, 0),) * 3), "ids"),
        (BYTES, Failed(Status.ERRORED, "no"), "errored"),
    ],
)
def test_offsets_are_named_by_what_is_wrong(under, answer, stage):
    whole = at((0, 1), (1, 2))
    ids = NONE if getattr(answer, "ids", ()) == NONE else AB
    first = Results.of([Encoded(AB), Encoded(ids)])
    seen = Observation(under, Inputs.of([b"ab", b"ab"]), {"tokenizers": first})
    judged = CHECKS["offsets"].judge(seen, given(Results.of([whole, answer])))
    assert [(one.stage, one.index) for one in judged.violations] == [(stage, 1)] * bool(stage)
    # Who gives no offsets of an input is not judged.
    assert judged.exercised == {"tokenizers": 1 + (answer != Unsupported())}


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
