"""The questions of a check, put to the workers of a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs
from harness.workers.claims import noted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.checks.base import Check, Judgement, Observation, Probe
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Results
    from harness.workers.pool import WorkerPool


def judge(pool: WorkerPool, check: Check, seen: Observation) -> Judgement:
    """Put a check's further questions and let it judge. Raises Stopped and OutOfTime."""

    def ask(probes: Sequence[Probe]) -> Sequence[Results]:
        answers = pool.answers([(one.implementation, one.request) for one in probes])
        gone = pool.withdrawn()
        for probe, answer in zip(probes, answers, strict=True):
            if probe.implementation not in gone:
                pool.claims += noted(probe.implementation, probe.request, answer)
        return answers

    return check.judge(seen, ask)


def examine(
    pool: WorkerPool, contract: Contract, check: Check, inputs: Sequence[bytes]
) -> Judgement:
    """One check on these inputs, from the encoding up. Raises Stopped and OutOfTime."""
    return judge(pool, check, pool.again(contract, Inputs.of(inputs)))
