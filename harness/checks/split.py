"""Splitting: chunks of at most so many tokens, cut between characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
from harness.checks.serving import counted, definers, draw, serving, unanswered
from harness.core.messages import Encode, Serve
from harness.core.outcomes import Answered, Encoded, Inputs, Outcome, Results, Unsupported
from harness.core.partition import Part
from impls.interface import Capability

LIMITS = (1, 2, 3, 7)
"""Tokens a chunk; for a long text enough for at most :data:`CHUNKS`."""

CHUNKS = 50

LONGEST_CHARACTER = 4
"""Bytes. In a text that is not UTF-8, what a character is is for the implementation to say."""


class Split(Check):
    """For ends e1, .., ek of split(x, n), with e0 = 0: ei < ei+1 and ek = |x|; no ei lies inside a
    UTF-8 character; |encode(x[ei:ei+1])| <= n, unless x[ei:ei+1] is one character.

    The limit is drawn from the input's own checksum. Where cuts must not be is not asked of a text
    that is not UTF-8.
    """

    name = "split"
    summary = "chunks cover the text, end between characters, and keep to the limit of tokens"
    severity = Severity.SERVICE
    said = "split the input against the rules"
    every = 4
    needs = (Capability.SPLIT,)
    long_runs = LongRuns.ALL

    def probes(self, seen: Observation) -> list[Probe]:
        """The service."""
        probes = []
        for name in serving(seen, Capability.SPLIT):
            asked = limits(seen, name)
            texts = Inputs.of([seen.inputs[index] for index, _ in asked])
            numbers = tuple((limit,) for _, limit in asked)
            request = Serve(Capability.SPLIT, texts, numbers, seen.contract.mode)
            probes.append(Probe(name, request))
        return probes

    def follow_ups(self, seen: Observation, answers: Sequence[Results]) -> list[Probe]:
        """The chunks, encoded by themselves."""
        probes = []
        for name, answer in zip(serving(seen, Capability.SPLIT), answers, strict=True):
            chunks = [
                seen.inputs[index][start:end]
                for row, (index, _) in enumerate(limits(seen, name))
                for start, end in chunks_of(seen.inputs[index], answer.outcome(row))
            ]
            request = Encode(Inputs.of(chunks), seen.contract.mode)
            probes += [Probe(definer, request) for definer in definers(seen, name)]
        return probes

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Look at every cut. answers: to the probes, then to the follow-ups."""
        judgement = Judgement()
        names = serving(seen, Capability.SPLIT)
        further = iter(answers[len(names) :])
        for name, answer in zip(names, answers, strict=False):
            encodings = [(definer, next(further)) for definer in definers(seen, name)]
            place = 0
            for row, (index, limit) in enumerate(limits(seen, name)):
                data, outcome = seen.inputs[index], answer.outcome(row)
                chunks = chunks_of(data, outcome)
                sizes = [
                    (definer, [results.outcome(place + i) for i in range(len(chunks))])
                    for definer, results in encodings
                ]
                place += len(chunks)
                if isinstance(outcome, Unsupported):
                    continue
                judgement.exercised[name] += 1
                if not isinstance(outcome, Encoded):
                    stage, parts = unanswered(name, "split", outcome)
                else:
                    found = fault(name, data, limit, outcome.ids, sizes)
                    if found is None:
                        continue
                    stage, parts = found
                judgement.violations.append(
                    Violation(self.name, index, data, parts, (name,), stage)
                )
        return judgement


def limits(seen: Observation, name: str) -> list[tuple[int, int]]:
    """The inputs that an implementation encodes, and the limit for each."""
    results = seen.results[name]
    return [
        (
            index,
            max(
                draw(seen.inputs[index]).choice(LIMITS),
                len(results.ids_of(index)) // CHUNKS,
            ),
        )
        for index in encoded_indices(results)
    ]


def chunks_of(data: bytes, outcome: Outcome) -> list[tuple[int, int]]:
    """The ranges of the chunks; none where the ends do not cover the text."""
    if not isinstance(outcome, Encoded) or not covers(data, outcome.ids):
        return []
    return list(pairwise((0, *outcome.ids)))


def covers(data: bytes, ends: Sequence[int]) -> bool:
    """Whether chunks that end there are non-empty, in order, and make up the text."""
    bounds = (0, *ends)
    return bounds[-1] == len(data) and all(a < b for a, b in pairwise(bounds))


def fault(
    name: str,
    data: bytes,
    limit: int,
    ends: Sequence[int],
    sizes: Sequence[tuple[str, Sequence[Outcome]]],
) -> tuple[str, tuple[Part, ...]] | None:
    """The stage and the parts of a violation, or None. sizes: each chunk's encoding, by definer."""

    def against(law: str, wrong: str, who: str = "the rule") -> tuple[Part, ...]:
        return (Part((who,), Answered(law)), Part((f"{name} (split)",), Answered(wrong)))

    if not covers(data, ends):
        shown = ", ".join(map(str, ends[:8])) or "no end"
        law = f"ends in order, the last at {len(data)}, and no chunk empty"
        return "cover", against(law, f"chunks that end at {shown}")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    for end in ends:
        if text is not None and end < len(data) and data[end] & 0xC0 == 0x80:
            return "character", against("no cut inside a character", f"a cut at {end}")
    for definer, outcomes in sizes:
        for (start, end), outcome in zip(pairwise((0, *ends)), outcomes, strict=True):
            if not isinstance(outcome, Encoded) or len(outcome.ids) <= limit:
                continue
            alone = end - start <= LONGEST_CHARACTER and (
                text is None or len(data[start:end].decode()) == 1
            )
            if not alone:
                size = counted(len(outcome.ids))
                law = f"at most {counted(limit)} a chunk of several characters"
                wrong = f"a chunk from {start} to {end}, of {size} by {definer}"
                return "limit", against(law, wrong)
    return None
