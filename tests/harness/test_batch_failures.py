"""A failure of a batch that none of its inputs explains is told, though each of them is answered.

What speaks the stdio protocol, or has ``encode_batch``, is asked about many inputs at once.
"""

import sys

import pytest

from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.checks.base import Observation
from harness.core.comparisons import contracts_of
from harness.core.excused import TOGETHER
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs, Rejected, Results, Status
from harness.engine import selection
from harness.workers.limits import Limits
from harness.workers.requests import rows, taken
from harness.workers.worker import Worker
from impls.interface import Mode
from tests.harness.samples import given

RAW = Mode(pretokenize=False)
LIMITS = Limits(seconds=20.0, memory=1 << 30)

PROGRAM = """
import base64, json, sys

for line in sys.stdin:
    request = json.loads(line)
    op, answer = request["op"], {}
    if op == "stop":
        break
    if op == "hello":
        answer = {"protocol": 1, "name": "mine", "version": "1", "operations": ["encode"]}
    if op == "load":
        answer = {"ok": True}
    if op == "encode":
        texts = [base64.b64decode(one) for one in request["inputs"]]
        results = [{"ids": list(one)} for one in texts]
        answer = {"results": results}
        many = len(texts) > 1
        if many and b"short" in texts:
            results.pop()
        if many and b"whole" in texts:
            answer = {"rejected": "one of them is invalid"}
        if many and b"exit" in texts:
            sys.exit(7)
        if b"invalid" in texts:
            answer = {"results": [{"rejected": "invalid"} for _ in texts]}
        if many and b"floats" in texts:
            results[texts.index(b"floats")] = {"ids": [1.5]}
        if many and b"nothing" in texts:
            results[texts.index(b"nothing")] = {}
        if b"faulty" in texts:
            results[texts.index(b"faulty")] = {"error": "a fault of its own"}
    print(json.dumps({"seq": request["seq"], **answer}), flush=True)
"""

PLUGIN = """
import numpy as np
from impls.interface import About, Mode, Rejected, Unsupported

class Plain:
    about = About(name="mine", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): return self
    def encode(self, data, mode):
        if data == b"invalid": raise Rejected("invalid")
        return list(data)

class Batches(Plain):
    def encode_batch(self, data, ends, mode):
        texts = [data[a:b] for a, b in zip([0, *ends.tolist()], ends.tolist())]
        stops = np.cumsum([len(one) for one in texts], dtype=np.int64)
        if b"short" in texts:
            stops = stops[:-1]
        if b"raises" in texts:
            raise ValueError("the buffer is full")
        if b"invalid" in texts:
            raise ValueError("one of them is invalid")
        return np.frombuffer(data, np.uint8).astype(np.int32), stops

class Others(Plain):
    def encode_batch(self, texts):
        return [self.encode(text, None) for text in texts]
"""


@pytest.fixture
def make(tmp_path):
    """Start a worker of the program, or of a class of the plug-in."""
    made = []

    def worker(name):
        if name == "program":
            (tmp_path / "program.py").write_text(PROGRAM)
            spec = f"cmd:{sys.executable} {tmp_path}/program.py"
        else:
            (tmp_path / "plugin.py").write_text(PLUGIN)
            spec = f"{tmp_path}/plugin.py:{name}"
        made.append(Worker(name, spec, LIMITS))
        assert made[-1].load(sources.resolve("toy_bytes")).result().error is None
        return made[-1]

    yield worker
    for one in made:
        one.close()


def ask(worker, *inputs):
    return rows(worker.ask(Encode(Inputs.of(inputs), RAW)).result(timeout=300))


def of(*inputs):
    return [Encoded(tuple(data)) for data in inputs]


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"short", Status.PROTOCOL, "the program gave 2 results for 3 inputs of 'encode'"),
        (b"whole", Status.PROTOCOL, "the program gave no list of results for 'encode'"),
        (b"exit", Status.CRASHED, "the program exited with status 7 during 'encode'"),
    ],
)
def test_a_program_that_fails_many_inputs_and_no_single_one(make, data, status, words):
    worker = make("program")
    first, *others = ask(worker, b"a", data, b"b")
    assert first.status is status
    assert first.message.startswith(words)
    assert first.message.endswith(TOGETHER)
    assert others == of(data, b"b")
    assert ask(worker, data) == of(data)
    assert not taken(worker.excused)


def test_one_invalid_input_that_spoils_its_neighbours_shows(make):
    worker = make("program")
    assert ask(worker, b"a", b"invalid", b"b") == [Rejected()] * 3
    assert ask(worker, b"a", b"b") == of(b"a", b"b")


@pytest.mark.parametrize(
    ("data", "status"),
    [(b"floats", Status.ERRORED), (b"nothing", Status.PROTOCOL), (b"faulty", Status.ERRORED)],
)
def test_each_input_of_a_request_has_its_own_result(make, data, status):
    before, found, after = ask(make("program"), b"a", data, b"b")
    assert [before, after] == of(b"a", b"b")
    assert found.status is status


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"short", "TypeError: encode_batch gave no int32 ids with an int64 end for each of 2"),
        (b"raises", "ValueError: the buffer is full"),
    ],
)
def test_a_batch_of_a_plug_in_that_fails_though_each_input_is_encoded(make, data, words):
    worker = make("Batches")
    assert ask(worker, b"a", b"b") == of(b"a", b"b")
    first, second = ask(worker, b"a", data)
    assert first.message.startswith(words)
    assert first.message.endswith(TOGETHER)
    assert second == Encoded(tuple(data))


def test_a_plug_in_may_raise_anything_for_a_batch_with_an_invalid_input(make):
    worker = make("Batches")
    assert ask(worker, b"a", b"b") == of(b"a", b"b")
    assert ask(worker, b"a", b"invalid") == [*of(b"a"), Rejected()]


def test_a_method_of_that_name_for_something_else_is_nobodys_fault(make):
    assert ask(make("Others"), b"a", b"b") == of(b"a", b"b")


def test_it_reaches_the_checks_as_a_violation_of_survival(make):
    vocabulary = sources.resolve("toy_bytes")
    members, _ = selection.participants(["bpe.heap", "tiktoken"])
    contract = contracts_of(vocabulary, members, frozenset(), proper=True)[0]
    inputs = [b"a", b"short", b"b"]
    results = {"mine": Results.of(ask(make("program"), *inputs))}
    judged = CHECKS["survival"].judge(Observation(contract, Inputs.of(inputs), results), given())
    [violation] = judged.violations
    assert (violation.stage, violation.culprits, violation.data) == ("protocol", ("mine",), b"a")
