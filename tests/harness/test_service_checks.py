from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.base import Observation
from harness.checks.questions import examine
from harness.checks.serving import DEFINITION
from harness.core.comparisons import Contract
from harness.core.messages import Encode, Load, packed
from harness.core.outcomes import Inputs
from harness.core.participants import Participant
from harness.findings.describing import difference
from harness.findings.diagnosis import bucket, kind_of, signature
from harness.studies.selftest.catalog import mistakes
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from harness.workers.server import Server
from impls import registry
from impls.interface import Mode
from tests.breadth import thorough_from

HERE = Path(__file__).parent
RAW = Mode(pretokenize=False)
TEXT = Mode()
SERVICE_CHECKS = ["incremental", "interval", "count-till-limit", "split"]


class NoProgress:
    def compile(self, compiling, before=0):
        pass

    def set(self, index):
        pass


class Local:
    """An pool without processes."""

    def __init__(self, vocabulary, specs, mode=RAW):
        participants = []
        self.servers = {}
        for spec in specs:
            implementation = registry.resolve(spec)
            name = implementation.about.name
            participants.append(Participant(name, spec, implementation.about, implementation))
            self.servers[name] = Server(NoProgress())
            loaded = self.servers[name].answer(Load(spec, packed(vocabulary)))
            assert loaded.error is None
        self.contract = Contract(
            vocabulary, mode, tuple(participants), frozenset(), {}, proper=True
        )

    def examine(self, check, inputs):
        batch = Inputs.of(inputs)
        request = Encode(batch, self.contract.mode)
        results = {name: server.answer(request) for name, server in self.servers.items()}
        seen = Observation(self.contract, batch, results)

        def ask(probes):
            return [self.servers[p.implementation].answer(p.request) for p in probes]

        return check.judge(seen, ask)


RIGHT = "harness.studies.selftest.plain.bpe:PlainServices"
MISTAKES = [one for one in mistakes().values() if one.family == "services"]


def inputs():
    rng = random.Random(3)
    words = ["the", " tokens", "é", " ", "\n", "日本", "ing", "🙂", "a", "b", "1"]
    texts = ["".join(rng.choices(words, k=rng.randrange(9))) for _ in range(60)]
    long = "".join(rng.choices(words, k=300))
    return [text.encode() for text in ["", "a", "é", *texts, long]]


def shown(local):
    found = set()
    for name in SERVICE_CHECKS:
        check = CHECKS[name]
        if check.applies(local.contract):
            for violation in local.examine(check, inputs()).violations:
                found.add((violation.check, violation.stage))
    return found


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_is_caught_and_named(mistake):
    found = shown(Local(resolve(mistake.vocabulary), [mistake.spec]))
    assert found == {(mistake.check, stage) for stage in mistake.stages}


@pytest.mark.parametrize("mode", [RAW, TEXT])
@pytest.mark.parametrize("spec", [RIGHT, "bpe.backtracking"])
@pytest.mark.parametrize("vocabulary", thorough_from(1, ["toy_bytes", "tekken_240911"]))
def test_nothing_is_found_where_nothing_is_wrong(vocabulary, spec, mode):
    local = Local(resolve(vocabulary), [spec, DEFINITION], mode)
    (name, _) = local.contract.names

    assert shown(local) == set()
    for check in SERVICE_CHECKS:
        if CHECKS[check].applies(local.contract):
            assert local.examine(CHECKS[check], inputs()).exercised[name] > 60


def test_bytes_that_begin_no_character_stay_with_the_one_before():
    """The selftest found the right encoder wrong on one more of them than a character has."""
    local = Local(resolve("toy_bytes"), [RIGHT, DEFINITION])
    stray = [b"\xe1\x9a\x80\x80\x82" + bytes([byte]) for byte in range(64)]
    assert local.examine(CHECKS["split"], stray).violations == []


def test_bytes_that_are_no_text():
    local = Local(resolve("toy_bytes"), ["bpe.backtracking", DEFINITION])
    rng = random.Random(4)
    hostile = [rng.randbytes(rng.randrange(40)) for _ in range(50)] + [b"\x80" * 30, b"\xf0\x9f"]

    for check in SERVICE_CHECKS:
        judgement = local.examine(CHECKS[check], hostile)
        assert judgement.exercised["bpe.backtracking"] >= 52
        assert judgement.violations == []


def test_parts_of_a_text_are_asked_for_without_pretokenization_only():
    pretokenized = Local(resolve("tekken_240911"), ["bpe.backtracking"], TEXT).contract

    applying = [name for name in SERVICE_CHECKS if CHECKS[name].applies(pretokenized)]

    assert applying == ["count-till-limit", "split"]


def test_nobody_who_serves_nothing_to_check():
    contract = Local(resolve("toy_bytes"), ["bpe.heap", DEFINITION]).contract

    assert not any(CHECKS[name].applies(contract) for name in SERVICE_CHECKS)


def test_a_wrong_encode_shows_against_the_definition():
    """A service that agrees with its own wrong encoding is still held against bpe.naive."""
    local = Local(resolve("toy_bytes"), [RIGHT, DEFINITION])
    right = local.servers["plain.services"]._encoder
    encode = right.encode
    right.encode = lambda data, mode: [*encode(data, mode), 0]
    right.size = lambda data, mode: len(right.encode(data, mode))

    violations = local.examine(CHECKS["incremental"], [b"abc"]).violations

    assert violations
    assert violations[0].parts[0].names == (f"{DEFINITION} (encode)",)


def test_a_finding_is_told_in_words():
    local = Local(resolve("toy_bytes"), [mistakes()["services.appends-late"].spec])
    violation = local.examine(CHECKS["incremental"], [b"zq"]).violations[0]
    sign = signature(violation, local.contract)

    assert difference(violation, local.contract.vocabulary)[1] == (
        "services.appends-late (encode): answered (1 token in bytes 0 to 1); "
        "services.appends-late (append): answered (0 tokens in bytes 0 to 1)"
    )
    kind = kind_of(violation, sign.stage, local.contract)
    assert (
        bucket(sign, local.contract, kind)
        == "incremental/bpe/raw/append/count/services.appends-late"
    )


@pytest.mark.parametrize(("options", "expected"), [("", set()), (" --late", {"append"})])
def test_programs_are_checked_over_the_stdio_protocol(options, expected):
    vocabulary = resolve("toy_bytes")
    spec = f"cmd:{sys.executable} {HERE / 'serving_program.py'}{options}"
    implementation = registry.resolve(spec)
    participant = Participant("program", spec, implementation.about, implementation)
    contract = Contract(vocabulary, RAW, (participant,), frozenset(), {}, proper=True)
    pool = WorkerPool([participant], replace(Limits(), seconds=20.0))
    try:
        assert pool.load(vocabulary, ["program"]) == {}
        stages = set()
        for check in SERVICE_CHECKS:
            judgement = examine(pool, contract, CHECKS[check], inputs()[:20])
            assert judgement.exercised["program"] >= 20
            stages |= {violation.stage for violation in judgement.violations}
    finally:
        pool.close()

    assert stages == expected
