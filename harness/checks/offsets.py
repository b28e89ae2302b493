"""Offsets: where an implementation says that its tokens come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corpora.vocabularies.model import Vocabulary
from harness.checks.base import (
    Check,
    Judgement,
    LongRuns,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Outcome, Results
from harness.core.partition import Part
from impls.interface import Capability


class Offsets(Check):
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

    def probes(self, seen: Observation) -> list[Probe]:
        """Encode again, with offsets."""
        request = Encode(seen.inputs, seen.contract.mode, offsets=True)
        return [
            Probe(participant.name, request)
            for participant in seen.contract.participants
            if participant.can(Capability.OFFSETS) and participant.name in seen.results
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Look at every token of every input."""
        judgement = Judgement()
        for probe, answer in zip(self.probes(seen), answers, strict=True):
            name = probe.implementation
            results = seen.results[name]
            encoded = encoded_indices(results)
            judgement.exercised[name] += len(encoded)
            for index in doubtful(seen, results, answer, encoded):
                data = seen.inputs[index]
                outcome = answer.outcome(index)
                stage = fault(seen.contract, data, tuple(results.ids_of(index)), outcome)
                if stage is not None:
                    wanted = results.outcome(index)
                    if isinstance(wanted, Encoded) and isinstance(outcome, Encoded):
                        wanted = replace(wanted, offsets=None)
                    parts = (Part((f"{name} (ids)",), wanted), Part((name,), outcome))
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), stage=stage)
                    )
        return judgement


def doubtful(seen: Observation, results: Results, answer: Results, encoded: list[int]) -> list[int]:
    """Of the inputs that were encoded, those whose offsets :func:`fault` has to look at.

    Of the others it would say nothing, as arrays of the whole batch tell.
    """
    if answer.offsets is None or not results.same_as(answer):
        return encoded
    counts = np.diff(answer.ends, prepend=0)
    rows = np.repeat(np.arange(len(counts)), counts)
    begins, ends = answer.offsets[:, 0], answer.offsets[:, 1]
    sizes = np.diff(seen.inputs.ends, prepend=0)
    odd = (begins < 0) | (begins > ends) | (ends > sizes[rows])
    falls = (begins[1:] < begins[:-1]) | (ends[1:] < ends[:-1])
    odd[1:] |= falls & (rows[1:] == rows[:-1])
    if not (seen.contract.vocabulary.normalizes or seen.contract.vocabulary.pieces):
        first = (seen.inputs.ends - sizes)[rows] + begins
        odd |= ~spelt(seen.contract.vocabulary, answer.ids, seen.inputs.data, first, ends - begins)
    found: list[int] = np.unique(rows[odd]).tolist()
    return found


def spelt(
    vocabulary: Vocabulary,
    ids: NDArray[np.int32],
    data: bytes,
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether each token's bytes are those of ``data`` from where it begins, so many of them.

    False, too, where this cannot be told: for an id of no token, or a place that is none.
    """
    distinct, places = np.unique(ids, return_inverse=True)
    tokens = [spelling_of(vocabulary, token_id) for token_id in distinct.tolist()]
    sizes = np.array([-1 if token is None else len(token) for token in tokens], dtype=np.int64)
    whole = np.frombuffer(b"".join(token or b"" for token in tokens), dtype=np.uint8)
    starts = np.cumsum(np.maximum(sizes, 0)) - np.maximum(sizes, 0)
    same: NDArray[np.bool_] = (sizes[places] == lengths) & (begins >= 0)
    same &= begins <= len(data) - lengths
    compared = np.flatnonzero(same & (lengths > 0))
    length = lengths[compared]
    owner = np.repeat(np.arange(len(compared)), length)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    text = np.frombuffer(data, dtype=np.uint8)
    differs = (
        text[begins[compared][owner] + within] != whole[starts[places[compared]][owner] + within]
    )
    same[compared[owner[differs]]] = False
    return same


def spelling_of(vocabulary: Vocabulary, token_id: int) -> bytes | None:
    """The bytes of an id; None for an id of none."""
    try:
        return vocabulary.spelling(token_id)
    except KeyError:
        return None


def fault(contract: Contract, data: bytes, ids: tuple[int, ...], outcome: Outcome) -> str | None:
    """What is wrong with the offsets, or None."""
    if isinstance(outcome, Failed):
        return outcome.status.label
    if not isinstance(outcome, Encoded) or outcome.offsets is None:
        return None
    if outcome.ids != ids:
        return "ids"
    if any(not 0 <= start <= end <= len(data) for start, end in outcome.offsets):
        return "range"
    ends = [end for _, end in outcome.offsets]
    starts = [start for start, _ in outcome.offsets]
    if starts != sorted(starts) or ends != sorted(ends):
        return "order"
    if contract.vocabulary.normalizes or contract.vocabulary.pieces:
        return None
    for token_id, (start, end) in zip(ids, outcome.offsets, strict=True):
        token = spelling_of(contract.vocabulary, token_id)
        # An id that does not exist is for the equivalence check.
        if token is not None and token not in data[start:end]:
            return "text"
    return None
