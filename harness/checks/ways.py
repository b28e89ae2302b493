"""What the checks share that encode by another way: the same inputs, the same ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.checks.base import Judgement, Observation, Probe, Violation, encoded_indices
from harness.core.messages import Encode
from harness.core.outcomes import Inputs, Results, Unsupported
from harness.core.partition import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.core.messages import Way


def asked(seen: Observation, ways: Sequence[Way]) -> list[tuple[str, Way, list[int]]]:
    """Who is asked by which way about which inputs: those that it encodes."""
    rows = {name: encoded_indices(results) for name, results in seen.results.items()}
    return [(name, way, rows[name]) for name in rows if rows[name] for way in ways]


def probes_of(seen: Observation, ways: Sequence[Way]) -> list[Probe]:
    """The questions. Who does not know a way answers that it is unsupported."""
    mode = seen.contract.mode
    return [
        Probe(name, Encode(Inputs.of([seen.inputs[i] for i in rows]), mode, way=way))
        for name, way, rows in asked(seen, ways)
    ]


def judged(
    check: str, seen: Observation, stages: Mapping[Way, str], answers: Sequence[Results]
) -> Judgement:
    """Compare each implementation with itself. stages: the ways, and what to call them."""
    judgement = Judgement()
    for (name, way, rows), answer in zip(asked(seen, list(stages)), answers, strict=True):
        results = seen.results[name]
        if len(rows) == len(results) and answer.text_ends is None and results.same_as(answer):
            judgement.exercised[name] += len(rows)
            continue
        for row, index in enumerate(() if answer.unsupported else rows):
            first, again = results.outcome(index), answer.outcome(row)
            if isinstance(again, Unsupported):
                continue
            judgement.exercised[name] += 1
            if first != again:
                parts = (Part((name,), first), Part((f"{name} ({way.words})",), again))
                data = seen.inputs[index]
                stage = stages[way]
                judgement.violations.append(Violation(check, index, data, parts, (name,), stage))
    return judgement
