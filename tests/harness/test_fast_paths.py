"""What checks tell from arrays of a whole batch is what they would say of each input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.vocabularies import sources
from harness.checks.base import Observation, encoded_indices
from harness.checks.offsets import Offsets, doubtful, fault
from harness.checks.round_trip import RoundTrip, agreed
from harness.core.comparisons import Contract, contracts_of
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status
from harness.engine.selection import participants

TOKENS = sources.resolve("toy_bytes")
WILD = [-(2**63), -1, 2**63 - 1]


def contract(vocabulary: str) -> Contract:
    """The contract for text of a vocabulary, with all who take part."""
    everybody, _ = participants(["tokenizers", "bpe.heap", "unigram.huggingface"])
    made = contracts_of(sources.resolve(vocabulary), everybody, frozenset(), proper=True)
    return next(one for one in made if one.mode.special == "none")


BYTES, PIECES = contract("toy_bytes"), contract("toy_unigram")
"""Of the first, each token is in its range of the text; of the second, texts are rewritten."""


def spans(data: bytes, ids: list[int]) -> list[tuple[int, int]]:
    """Where the tokens stand that spell ``data``."""
    ends = np.cumsum([len(TOKENS.spelling(token_id)) for token_id in ids]).tolist()
    assert not ends or ends[-1] == len(data)
    return list(zip([0, *ends], ends, strict=False))


@st.composite
def answers(draw: st.DrawFn) -> tuple[bytes, list[int], list[tuple[int, int]]]:
    """An input, the ids of an encoder, and offsets that may be wrong in a few places."""
    ids = draw(st.lists(st.integers(0, len(TOKENS.tokens) - 1), max_size=6))
    data = b"".join(map(TOKENS.spelling, ids))
    offsets = spans(data, ids)
    for _ in range(draw(st.integers(0, 2)) if ids else 0):
        place = draw(st.integers(0, len(ids) - 1))
        wrong = st.integers(0, len(data)) | st.sampled_from([len(data) + 1, *WILD])
        offsets[place] = (draw(wrong), draw(wrong))
    for _ in range(draw(st.integers(0, 1)) if ids else 0):
        ids[draw(st.integers(0, len(ids) - 1))] = draw(st.sampled_from([0, 5, 999_999]))
    return data, ids, offsets


@settings(max_examples=300)
@given(
    st.lists(answers(), min_size=1, max_size=5),
    st.sampled_from(["same", "fails", "other"]),
    st.sampled_from([BYTES, PIECES]),
)
def test_offsets(
    rows: list[tuple[bytes, list[int], list[tuple[int, int]]]], how: str, under: Contract
) -> None:
    inputs = Inputs.of([data for data, _, _ in rows])
    results = Results.of([Encoded(tuple(ids)) for _, ids, _ in rows])
    located: list[Outcome] = [Encoded(tuple(ids), offsets=tuple(o)) for _, ids, o in rows]
    if how == "fails":
        located[0] = Failed(Status.ERRORED, "no")
    elif how == "other":
        located[0] = Encoded((1, 2, 3), offsets=((0, 0),) * 3)
    answer = Results.of(located)
    seen = Observation(under, inputs, {"tokenizers": results})
    looked_at = doubtful(seen, results, answer, encoded_indices(results))
    at_fault = [
        row
        for row, (data, ids, _) in enumerate(rows)
        if fault(under, data, tuple(ids), answer.outcome(row)) is not None
    ]
    assert set(at_fault) <= set(looked_at)
    judged = Offsets().judge(seen, [answer])
    assert [one.index for one in judged.violations] == at_fault
    assert judged.exercised == {"tokenizers": len(rows)}


def test_right_offsets_are_told_by_arrays_alone() -> None:
    texts = [b"the cat", b"", b"a" * 50, "h\u00e9".encode()]
    ids = [[TOKENS.ids[bytes([byte])] for byte in text] for text in texts]
    answer = Results.of(
        [Encoded(tuple(i), offsets=tuple(spans(t, i))) for t, i in zip(texts, ids, strict=True)]
    )
    results = replace(answer, offsets=None)
    seen = Observation(BYTES, Inputs.of(texts), {"tokenizers": results})
    assert doubtful(seen, results, answer, encoded_indices(results)) == []


DECODED = Results.of([Encoded((1, 2), text=b"ab"), Encoded((3,), text=b"c")])


@pytest.mark.parametrize(
    ("answer", "own", "fast"),
    [
        (DECODED, DECODED, True),
        (Results.of([Encoded((1, 2), text=b"a"), Encoded((3,), text=b"bc")]), DECODED, False),
        (Results.of([Encoded((1, 2), text=b"ab"), Encoded((3,), text=b"d")]), DECODED, False),
        (Results.of([Encoded((1, 2), text=b"ab"), Failed(Status.ERRORED, "no")]), DECODED, False),
        (Results.of([Encoded((1, 2)), Encoded((3,))]), DECODED, False),
        (DECODED, Results.of([Encoded((1, 2)), Encoded((4,))]), False),
    ],
)
def test_decoders_that_agree_are_told_by_arrays_alone(
    answer: Results, own: Results, fast: bool
) -> None:
    inputs = Inputs.of([b"ab", b"c"])
    seen = Observation(PIECES, inputs, {"tokenizers": DECODED, "other": own})
    assert agreed(seen, DECODED, {"tokenizers": DECODED, "other": answer}) is fast


def test_a_batch_on_which_decoders_agree_counts_for_each() -> None:
    seen = Observation(PIECES, Inputs.of([b"ab", b"c"]), {"tokenizers": DECODED})
    check = RoundTrip()
    judged = check.judge(seen, [DECODED] * len(check.probes(seen)))
    assert judged.exercised == {"tokenizers": 2}
    assert judged.violations == []


@pytest.mark.parametrize(
    "offsets",
    [((-1, 1), (1, 2)), ((0, 1), (1, 3)), ((1, 0), (1, 2)), ((0, 2), (0, 1)), ((1, 2), (0, 2))],
)
def test_each_fault_is_looked_at(offsets: tuple[tuple[int, int], ...]) -> None:
    answer = Results.of([Encoded((1, 2), offsets=offsets)])
    results = replace(answer, offsets=None)
    seen = Observation(PIECES, Inputs.of([b"ab"]), {"tokenizers": results})
    assert fault(PIECES, b"ab", (1, 2), answer.outcome(0)) is not None
    assert doubtful(seen, results, answer, [0]) == [0]
