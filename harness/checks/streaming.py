"""Streaming: what is decoded in two parts is what is decoded whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.checks.round_trip import rewrites
from harness.checks.serving import draw
from harness.core.comparisons import Contract
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Outcome, Results
from harness.core.partition import Part
from impls.interface import Capability

Halves = tuple[list[int], list[int]]


class Streaming(Check):
    """For ids t = encode(x) and k such that t[:k] spells whole characters:
    decode(t[:k]) decode(t[k:]) = decode(t).

    That is what a program relies on that shows a text while it is made. Of texts in UTF-8 and
    vocabularies that do not normalize, as others treat the beginning of a text apart. The cut is
    drawn from the input's own checksum.
    """

    name = "streaming"
    summary = "ids decoded in two parts, cut between characters, give the text of the whole"
    severity = Severity.TEXT
    said = "decoded differently token by token"
    every = 6
    needs = (Capability.DECODE,)

    def applies(self, contract: Contract) -> bool:
        """With a decoder."""
        return not rewrites(contract) and super().applies(contract)

    def probes(self, seen: Observation) -> list[Probe]:
        """The whole, then both parts, of each input."""
        probes = []
        for name, rows in self._cut(seen).items():
            asked = [ids for _, (left, right) in rows for ids in ([*left, *right], left, right)]
            flat = np.array([i for ids in asked for i in ids], dtype=np.int32)
            ends = np.cumsum([len(ids) for ids in asked], dtype=np.int64)
            probes.append(Probe(name, Decode(flat, ends)))
        return probes

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Put the parts together."""
        judgement = Judgement()
        for (name, rows), answer in zip(self._cut(seen).items(), answers, strict=True):
            for row, (index, (left, right)) in enumerate(rows):
                whole, first, rest = (answer.outcome(3 * row + i) for i in range(3))
                text = text_of(whole)
                if text is None:
                    continue  # a decoder that fails on the whole is the round trip's
                judgement.exercised[name] += 1
                parted = joined(first, rest)
                if parted != text:
                    ids = (*left, *right)
                    parts = (
                        Part((f"{name} (whole)",), Encoded(ids, text=text)),
                        Part(
                            (f"{name} (cut after {len(left)} ids)",),
                            in_parts(ids, first, rest),
                        ),
                    )
                    data = seen.inputs[index]
                    stage = (
                        "decode" if parted is not None else in_parts(ids, first, rest).status.label
                    )
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), stage)
                    )
        return judgement

    def _cut(self, seen: Observation) -> dict[str, list[tuple[int, Halves]]]:
        """For each decoder: the inputs with a place to cut, and the ids before and after it."""
        vocabulary = seen.contract.vocabulary
        found: dict[str, list[tuple[int, Halves]]] = {}
        for participant in seen.contract.participants:
            name = participant.name
            if not participant.can(Capability.DECODE) or name not in seen.results:
                continue
            results = seen.results[name]
            rows = found.setdefault(name, [])
            for index in encoded_indices(results):
                data, ids = seen.inputs[index], results.ids_of(index)
                try:
                    data.decode()
                    ends = list(accumulate(len(vocabulary.spelling(i)) for i in ids))
                except (UnicodeDecodeError, KeyError):
                    continue
                if not ends or ends[-1] != len(data):
                    continue  # another text: the equivalence check's
                places = [k for k, end in enumerate(ends[:-1], 1) if data[end] & 0xC0 != 0x80]
                if places:
                    k = draw(data).choice(places)
                    rows.append((index, (ids[:k], ids[k:])))
        return found


def text_of(outcome: Outcome) -> bytes | None:
    """What was decoded, if anything was."""
    return outcome.text if isinstance(outcome, Encoded) else None


def joined(first: Outcome, rest: Outcome) -> bytes | None:
    """Both texts together, None if either could not be decoded."""
    one, other = text_of(first), text_of(rest)
    return None if one is None or other is None else one + other


def in_parts(ids: tuple[int, ...], first: Outcome, rest: Outcome) -> Outcome:
    """The outcome of the parts as one."""
    together = joined(first, rest)
    if together is not None:
        return Encoded(ids, text=together)
    return first if text_of(first) is None else rest
