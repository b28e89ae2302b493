"""Offsets: where an implementation says that its tokens come from."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from corpora.vocabularies.model import Vocabulary
from harness.checks.asking import AsksAtOnce, Encodings, Expected, Fault, Subject
from harness.checks.base import LongRuns, Severity, spelled, spellings
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Outcome
from impls.interface import Capability


class Offsets(AsksAtOnce):
    """For ids t and byte ranges [s, e) of x: ids as without offsets; 0 <= s <= e <= |x|; s and e
    never decrease; and, where nothing is normalized, x[s:e] contains the bytes of t.

    The last is containment and not equality, because some libraries give a token that is part of
    a character the range of the whole character.
    """

    name = "offsets"
    summary = "each token's byte range is in order, within the text, and spells the token"
    severity = Severity.OFFSETS
    said = "gave offsets that do not fit the input"
    every = 5
    needs = (Capability.OFFSETS,)
    long_runs = LongRuns.SHORT

    def expected(self, contract: Contract, given: Encodings) -> Sequence[Expected]:
        """The same ids, and of each token its own bytes of the text, as most have."""
        right = replace(given.results, offsets=own_spans(contract.vocabulary, given))
        return [Expected(Encode(given.inputs, contract.mode, offsets=True), right, "", "ids")]

    def fault(
        self, one: Subject, asked: Expected, right: Outcome, outcome: Outcome
    ) -> Fault | None:
        """What is wrong with the offsets, whatever bytes beside a token's own they cover."""
        stage = stage_of(one.vocabulary, one.data, one.ids, outcome)
        ids = one.says(Encoded(one.ids), asked.who)
        return None if stage is None else (stage, ids, one.says(outcome))


def own_spans(vocabulary: Vocabulary, given: Encodings) -> NDArray[np.int64] | None:
    """Int64 [n, 2], where in its text each of n tokens stands; None if they spell other texts."""
    ids, ends = tuple(given.results.ids.tolist()), given.results.ends
    rows = [spellings(vocabulary, ids[a:b]) for a, b in pairwise([0, *ends.tolist()])]
    tokens = [*chain.from_iterable(row or () for row in rows)]
    if None in rows or b"".join(tokens) != given.inputs.data:
        return None
    lengths = np.array([*map(len, tokens)], dtype=np.int64)
    texts = np.concatenate([[0], given.inputs.ends[:-1]]).astype(np.int64)
    stops = np.cumsum(lengths) - np.repeat(texts, np.diff(ends, prepend=0))
    return np.column_stack([stops - lengths, stops])


def stage_of(
    vocabulary: Vocabulary, data: bytes, ids: tuple[int, ...], outcome: Outcome
) -> str | None:
    """What is wrong with the offsets, or None."""
    if isinstance(outcome, Failed):
        return outcome.status.label
    if not isinstance(outcome, Encoded) or outcome.offsets is None:
        return None
    if outcome.ids != ids:
        return "ids"
    if any(not 0 <= start <= end <= len(data) for start, end in outcome.offsets):
        return "range"
    if any(a > c or b > d for (a, b), (c, d) in pairwise(outcome.offsets)):
        return "order"
    if vocabulary.normalizes or vocabulary.pieces:
        return None
    for token_id, (start, end) in zip(ids, outcome.offsets, strict=True):
        token = spelled(vocabulary, (token_id,))
        # An id that does not exist is for the equivalence check.
        if token is not None and token not in data[start:end]:
            return "text"
    return None
