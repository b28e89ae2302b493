"""What the harness costs beside what it calls: differential cases a second.

Run with ``make bench``. Each pair of rows is one set of implementations on the same inputs of
about 64 bytes: ``bare`` is a Python loop in this process that calls the encoders one after
another and compares their ids, ``harness`` the pool with a worker process for each, the
equivalence and survival checks included. Nothing here passes or fails by speed.

The table of docs/speed.md: ``make bench ARGS="-k differential_cases"``; cases a second are 20,000
(5,000 of the largest set) by the column ``Min``.
"""

from collections import deque

import pytest

from harness.checks import CHECKS
from harness.checks.questions import judge
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Inputs
from harness.engine import selection
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from impls import registry, roster
from impls.interface import Mode
from tests.benchmarks.inputs import o200k, text_of

CASES = 20_000
BATCH = 1024
EVERYBODY = (
    "tiktoken", "bpe.heap", "tokenizers", "rs-bpe",
    "llguidance", "bpe.backtracking", "bpe.cached", "bpe.table",
    "llama.cpp", "bpe.naive", "bpe.incremental",
    "fastokens", "gigatoken", "quicktok-v1", "splintr-rs",
)  # fmt: skip
"""All give the same ids; the last four come with the extra ``bench``."""

SETS = {f"{count} implementations": EVERYBODY[:count] for count in (2, 4, 8, 16)}
TEXT = Mode(pretokenize=True)


@pytest.fixture(scope="module")
def inputs():
    """Pieces of 64 bytes of one text."""
    text = text_of(CASES * 64)
    return [text[at : at + 64] for at in range(0, len(text), 64)]


class Setting:
    """One set of implementations: their encoders in this process, and their pool."""

    def __init__(self, names):
        for name in names:
            if name in roster.joining(roster.Joins.BENCH):
                try:
                    registry.resolve(name).about  # noqa: B018 (it raises where it is missing)
                except ImportError as error:
                    pytest.skip(str(error))
        vocabulary = o200k()
        participants, _ = selection.participants(names)
        found = contracts_of(vocabulary, participants, frozenset(["tiktoken"]), proper=True)
        self.contract = next(c for c in found if c.mode == TEXT)
        self.encoders = [c.implementation.load(vocabulary) for c in participants]
        self.pool = WorkerPool(participants, Limits())
        assert not self.pool.load(vocabulary, names)

    def bare(self, inputs):
        """Call and compare, nothing else; the number of differences."""
        encoders, different = self.encoders, 0
        for data in inputs:
            first, *others = [list(encoder.encode(data, TEXT)) for encoder in encoders]
            different += any(first != other for other in others)
        return different

    def harness(self, inputs):
        """The same through the workers, two batches ahead, as a campaign does it."""
        different = 0
        ahead = deque()
        for start in range(0, len(inputs), BATCH):
            ahead.append(self.pool.ask(self.contract, Inputs.of(inputs[start : start + BATCH])))
            if len(ahead) > 2:
                different += self.judge(ahead.popleft())
        return different + sum(map(self.judge, ahead))

    def judge(self, pending):
        """Both checks on one batch."""
        seen = pending.wait()
        checks = (CHECKS["survival"], CHECKS["equivalence"])
        return sum(len(judge(self.pool, check, seen).violations) for check in checks)


@pytest.fixture(scope="module", params=SETS.values(), ids=SETS)
def setting(request):
    made = Setting(request.param)
    yield made
    made.pool.close()


@pytest.mark.parametrize("way", ["bare", "harness"])
def test_differential_cases(benchmark, setting, inputs, way):
    run = getattr(setting, way)
    many = len(setting.contract.names) == len(EVERYBODY)
    some, rounds = (inputs[: CASES // 4], 3) if many else (inputs, 7)  # the slowest takes minutes
    assert run(inputs[:2048]) == 0  # warm: compiled, caches filled alike
    benchmark.group = f"{len(setting.contract.names)} implementations"
    assert benchmark.pedantic(run, args=(some,), rounds=rounds, iterations=1) == 0
    benchmark.extra_info["cases a second"] = round(len(some) / benchmark.stats.stats.min)
