"""A capability that is claimed and never shown is a finding; one that some inputs lack is none."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.checks import CHECKS
from harness.core.messages import Encode, Serve
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status, Unsupported
from harness.engine import claim_findings
from harness.engine.plan import Tally
from harness.engine.selection import participants
from harness.workers.claims import LEAST, Claim, asked_for, false_claims, noted
from harness.workers.reasons import ENOUGH
from impls.interface import Capability, Mode
from tests.doubles.command import summary, tokgate

RAW, TEXT = Mode(pretokenize=False), Mode()
COUNT = Capability.COUNT


def served(capability, mode=RAW):
    return Serve(capability, Inputs.of([b"a"] * LEAST), ((),) * LEAST, mode)


def lines(*answers, request=None):
    return false_claims(
        claim for answer in answers for claim in noted("mine", request or served(COUNT), answer)
    )


NO = Results.of([Unsupported("not yet")] * LEAST)
YES = Results.of([Unsupported("not yet")] * (LEAST - 1) + [Encoded((1,))])


def test_whoever_declines_all_requests_makes_a_false_claim():
    line = "claims 'count' and answered none of 200 requests (not yet)"
    assert lines(NO, NO) == {"mine": line}


@pytest.mark.parametrize(
    "answers",
    [
        [NO, YES],
        [YES, NO],
        [NO, Results.of([Failed(Status.ERRORED, "a fault of its own")])],
        [Results.of([Unsupported("not yet")] * (LEAST - 1))],
        [Results.of([Unsupported(ENOUGH)] * LEAST)],
        [],
    ],
)
def test_whoever_answers_some_or_was_hardly_asked_makes_none(answers):
    assert lines(*answers) == {}


def test_what_nobody_need_do_is_no_claim():
    assert asked_for(served(Capability.HEAL, TEXT)) is None
    assert asked_for(served(Capability.HEAL)) is Capability.HEAL
    assert asked_for(served(COUNT, TEXT)) is COUNT
    inputs = Inputs.of([b"a"])
    assert asked_for(Encode(inputs, RAW)) is None
    assert asked_for(Encode(inputs, RAW, offsets=True)) is Capability.OFFSETS


def test_a_claim_that_holds_on_one_vocabulary_is_not_false():
    declined = Claim("mine", "count", 500, False, "unigram only")
    kept = Claim("mine", "count", 0, True, "")
    assert list(false_claims([declined])) == ["mine"]
    assert false_claims([declined, kept]) == {}


def test_libraries_that_tokgate_knows_are_left_out():
    members, _ = participants(["tiktoken", "bpe.heap"])
    claims = [(name, "decode", 500, False, "") for name in ("tiktoken", "bpe.heap")]

    def broken(members):
        plan = SimpleNamespace(checks=[CHECKS["survival"]], participants=members)
        return list(claim_findings.broken(plan, Tally(claims=claims)))

    assert broken(members) == []
    # A release in an environment of its own has the same adapter.
    released = [replace(one, spec=f"pip:{one.name}==1.2.3") for one in members]
    assert broken(released) == []
    candidates = [replace(one, spec="mine.py:Mine") for one in members]
    assert broken(candidates) == ["tiktoken", "bpe.heap"]


PLUGIN = """
from impls import registry
from impls.interface import About, Capability, Unsupported

CLAIMED = frozenset((Capability.COUNT, Capability.OFFSETS, Capability.APPEND))

class Never:
    about = About(name="never", version="1", capabilities=CLAIMED)
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary):
        self._vocabulary = vocabulary
        self._inner = registry.resolve("bpe.heap").load(vocabulary)
        return self
    def encode(self, data, mode): return self._inner.encode(data, mode)
    def declined(self, *asked): raise Unsupported("not yet")
    count = encode_with_offsets = append = declined

class Partly(Never):
    about = About(name="partly", version="1", capabilities=CLAIMED)
    def count(self, data, mode):
        return len(self.encode(data, mode)) if data.isascii() else self.declined()
    def append(self, chunks, mode):
        if mode.pretokenize or len(chunks) % 2: raise Unsupported("even numbers only")
        return [len(self.encode(b"".join(chunks[:i + 1]), mode)) for i in range(len(chunks))]
    def encode_with_offsets(self, data, mode):
        if len(data) > 8: raise Unsupported("short texts only")
        return registry.resolve("bpe.heap").load(self._vocabulary).encode_with_offsets(data, mode)
"""


def test_a_run_tells_it_once_for_each_implementation(tmp_path):
    plugin = tmp_path / "claiming.py"
    plugin.write_text(PLUGIN)
    done = tokgate(
        "run", f"--impl={plugin}:Never", f"--impl={plugin}:Partly", "--impl=tiktoken",
        "--vocab=toy_bytes", "--budget=1000cases", "--check=survival", "--check=offsets",
        "--check=incremental", "--check=count-till-limit", f"--out={tmp_path / 'out'}",
    )  # fmt: skip
    findings = summary(tmp_path / "out")["findings"]
    found = {one["bucket"]: one["partition"][0]["message"] for one in findings}
    assert list(found) == ["survival/bpe/raw/false-claim/any/never"], done.stderr
    [message] = found.values()
    for capability in ("append", "count", "offsets"):
        assert f"claims '{capability}' and answered none of" in message
    assert done.returncode == 1
