"""The stdio protocol, seen from the harness: answers, breaches, deaths, starting again."""

import gzip
import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, Vocabulary
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.core.comparisons import answer_of
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs
from harness.core.participants import Participant
from harness.workers import Limits, Worker
from harness.workers.requests import rows
from impls import registry, standard_error
from impls.errors import ImplementationError
from impls.external import ExternalEncoder, ExternalImplementation
from impls.interface import Capability, Died, Mode, Rejected, Unsupported
from impls.standard_error import LOG_TAIL, LONGEST_LOG, log_file, log_tail, room, trim
from tests.properties.impls.test_native_files import LOWERED

RAW = Mode(pretokenize=False)
EXAMPLE = Path(registry.__file__).with_name("examples") / "stdio_encoder.py"

# A program whose answers to the ops after `hello` a test writes: `answer(op, request)` gives a
# response, or a text that goes out as it is.
FRAME = """
import base64, json, os, sys

{answer}

for line in sys.stdin:
    request = json.loads(line)
    op = request["op"]
    if op == "stop":
        break
    response = answer(op, request)
    if response is None and op == "hello":
        response = {{"protocol": 1, "name": "t", "version": "2", "language": "x",
                    "operations": ["encode", "decode", "offsets"], "algorithms": ["bpe"]}}
    if response is None and op == "load":
        response = {{"ok": True}}
    if response is None:
        response = {{"results": [{{"ids": [1]}} for _ in request["inputs"]]}}
    if not isinstance(response, str):
        response = json.dumps({{"seq": request["seq"], **response}})
    print(response, flush=True)
"""

Write = Callable[[str], str]


@pytest.fixture
def program(tmp_path):
    """Write a program whose ``answer`` has this body; gives its command."""

    def write(body):
        answer = "def answer(op, request):\n" + textwrap.indent(textwrap.dedent(body), "    ")
        path = tmp_path / "program.py"
        path.write_text(FRAME.format(answer=answer))
        return f"{sys.executable} {path}"

    return write


@pytest.fixture
def load(program):
    """Start such a program on a toy; it is stopped at the end."""
    opened = []

    def loaded(body):
        implementation = ExternalImplementation(program(body))
        opened.append(implementation.load(sources.resolve("toy_bytes")))
        return opened[-1]

    yield loaded
    for encoder in opened:
        encoder.close()


Load = Callable[[str], ExternalEncoder]


def test_what_the_example_does_not_do_it_says():
    """What it does is asked in test_conformance.py."""
    implementation = ExternalImplementation(f"{sys.executable} {EXAMPLE}")
    assert implementation.about.name == "stdio-example"
    assert {Capability.DECODE, Capability.OFFSETS} <= implementation.about.capabilities
    encoder = implementation.load(sources.resolve("toy_bytes"))
    with pytest.raises(Unsupported, match="pre-tokenization"):
        encoder.encode(b"a", Mode(pretokenize=True))
    with pytest.raises(Rejected, match="not in the vocabulary"):
        encoder.decode([999_999])
    encoder.close()


def test_the_example_merges_late_neighbours(tmp_path):
    tokens = (b"a", b"b", b"abab", b"ab", b"bab")
    vocabulary = Vocabulary(
        id="late",
        algorithm=Algorithm.BPE,
        format="toy",
        tokens=tokens,
        merges=merges_from_ranks(tokens),
    )
    encoder = ExternalImplementation(f"{sys.executable} {EXAMPLE}").load(vocabulary)
    definition = registry.resolve("bpe.naive").load(vocabulary)
    for number in range(512):
        data = f"{number:09b}".replace("0", "a").replace("1", "b").encode()
        assert list(encoder.encode(data, RAW)) == list(definition.encode(data, RAW))
    assert list(encoder.encode(b"abab", RAW)) == [2]
    encoder.close()


def test_the_example_is_short_and_needs_nothing():
    source = EXAMPLE.read_text()
    assert len(source.splitlines()) < 100
    lines = [line for line in source.splitlines() if line.startswith(("import ", "from "))]
    assert {line.split()[1] for line in lines} <= sys.stdlib_module_names


def test_the_example_answers_count_and_unknown_ops():
    from impls.external import Program

    running = Program(f"{sys.executable} {EXAMPLE}")
    assert "no op 'dance'" in running.ask("dance")["unsupported"]
    assert running.ask("hello", protocol=1)["protocol"] == 1
    running.stop()


def test_the_bundle_lies_there_as_long_as_the_encoder(load):
    encoder = load("""
        if op == "load":
            global path
            path = request["vocabulary"]["bundle"]
        if op == "encode":
            return {"results": [{"ids": [len(json.load(open(path))["tokens"])]}]}
    """)
    assert list(encoder.encode(b"a", RAW)) == [270]


def gives(results):
    """The body of an answer with these results."""
    return f'return {{"results": {results}}}'


@pytest.mark.parametrize(
    ("body", "failure", "message"),
    [
        # What is no answer is one all the same.
        (gives('[{"rejected": "no"}]'), Rejected, "no"),
        (gives('[{"unsupported": "not here"}]'), Unsupported, "not here"),
        (gives('[{"error": "oops"}]'), RuntimeError, "oops"),
        # After a breach or a death the program is started again.
        ('return {"seq": 99, "results": [{"ids": []}]}', "protocol", "with seq 99"),
        ('return "oh dear"', "protocol", "not JSON: 'oh dear"),
        ('return "[" * 100_000', "protocol", "not JSON"),
        ('return "[1, 2]"', "protocol", "not a JSON object"),
        (gives("[]"), "protocol", "gave 0 results for 1 inputs"),
        ("return {}", "protocol", "gave no list of results"),
        (gives("[7]"), "protocol", "that is no object: 7"),
        (gives('[{"tokens": [1]}]'), "protocol", "without 'ids'"),
        ("os._exit(4)", "crashed", "exited with status 4"),
        ("os.abort()", "crashed", "killed by SIGABRT"),
        ("os.kill(os.getpid(), 40)", "crashed", "killed by signal 40"),
        ("raise MemoryError", "out-of-memory", "exited with status 1"),
    ],
)
def test_a_failure_is_named_and_the_next_input_answered(load, body, failure, message, tmp_path):
    encoder = load(f"""
        if op == "load":
            with open({str(tmp_path / "loads")!r}, "a") as log:
                log.write("x")
        if op == "encode" and request["inputs"][0] == "eA==":
            print("what I was at", file=sys.stderr, flush=True)
            {body}
    """)
    died = isinstance(failure, str)
    with pytest.raises(Died if died else failure, match=message) as raised:
        encoder.encode(b"x", RAW)
    assert not died or raised.value.kind == failure
    assert not died or "what I was at" in raised.value.log
    assert list(encoder.encode(b"y", RAW)) == [1]
    assert (tmp_path / "loads").read_text() == ("xx" if died else "x")


def test_the_end_of_a_long_log_is_kept(load):
    encoder = load("""
        if op == "encode":
            sys.stderr.write("begin" + "." * 100_000 + "the end")
            sys.stderr.flush()
            os._exit(1)
    """)
    with pytest.raises(Died) as raised:
        encoder.encode(b"x", RAW)
    assert raised.value.log.endswith("the end")
    assert len(raised.value.log) <= 64 * 1024


def test_a_long_log_is_trimmed_and_goes_on():
    with log_file() as log:
        writer = [sys.executable, "-c", "import sys; sys.stderr.write(sys.argv[1] * (9 << 20))"]
        subprocess.run([*writer, "x"], stderr=log, check=True)
        trim(log)
        assert room(log) <= 2 * LOG_TAIL
        assert len(log_tail(log)) == LOG_TAIL
        subprocess.run([sys.executable, "-c", "raise SystemExit('end')"], stderr=log, check=False)
        assert log_tail(log).endswith("xend")


def filled(log):
    os.write(log.fileno(), b"." * (LONGEST_LOG + 1))


def test_what_is_printed_while_a_log_is_cut_is_kept(monkeypatch):
    hole = standard_error._hole

    def printing(descriptor, size):
        os.write(descriptor, b"before")
        done = hole(descriptor, size)
        os.write(descriptor, b"after")
        return done

    monkeypatch.setattr(standard_error, "_hole", printing)
    with log_file() as log:
        filled(log)
        trim(log)
        assert log_tail(log).endswith(".beforeafter")
        assert room(log) <= 2 * LOG_TAIL


@pytest.mark.parametrize("cause", ["no holes", "too far"])
def test_a_log_is_cut_off_where_it_may_have_no_hole(cause, monkeypatch):
    if cause == "no holes":
        monkeypatch.setattr(standard_error, "_hole", lambda *_: False)
    else:
        monkeypatch.setattr(standard_error, "FARTHEST", LONGEST_LOG)
    with log_file() as log:
        filled(log)
        os.write(log.fileno(), b"end")
        trim(log)
        assert os.fstat(log.fileno()).st_size == LOG_TAIL
        assert log_tail(log).endswith(".end")


def test_a_claim_that_is_not_kept_is_an_error_and_not_a_gap(load):
    encoder = load("""
        if op == "decode":
            return {"unsupported": "not yet"}
    """)
    with pytest.raises(TypeError, match="claims 'decode' but does not do it: not yet"):
        encoder.decode([1])
    with pytest.raises(TypeError, match="claims 'offsets' but gives none"):
        encoder.encode_with_offsets(b"x", RAW)


def test_an_op_that_is_not_claimed_may_be_unsupported(load):
    encoder = load("""
        if op == "hello":
            return {"protocol": 1, "operations": ["encode"], "algorithms": ["bpe"]}
        if op == "decode":
            return {"unsupported": "not yet"}
    """)
    with pytest.raises(Unsupported, match="not yet"):
        encoder.decode([1])


def test_a_mode_that_is_refused_is_not_asked_again(load, tmp_path):
    encoder = load(f"""
        if op == "encode" and request["pretokenize"]:
            with open({str(tmp_path / "asked")!r}, "a") as log:
                log.write("x")
            return {{"unsupported": "raw only"}}
    """)
    for _ in range(3):
        with pytest.raises(Unsupported, match="raw only"):
            encoder.encode(b"x", Mode(pretokenize=True))
        assert list(encoder.encode(b"x", RAW)) == [1]
    assert (tmp_path / "asked").read_text() == "x"


def test_a_vocabulary_may_be_refused(program):
    implementation = ExternalImplementation(
        program('if op == "load":\n    return {"unsupported": "too big"}')
    )
    with pytest.raises(Unsupported, match="too big"):
        implementation.load(sources.resolve("toy_acbb"))
    assert implementation.supports(sources.resolve("toy_unigram"), RAW) is not None


READER = """
        if op == "hello":
            return {"protocol": 1, "name": "reader", "operations": ["encode"],
                    "native_formats": %s}
        if op == "load":
            global loaded
            loaded = request["vocabulary"]
        if op == "encode":
            steps = json.load(open(loaded["path"]))["normalizer"]
            return {"results": [{"ids": [ord(steps["type"][0])]} for _ in request["inputs"]]}
"""


def lowered(folder):
    """A file whose normalizer the plain model does not have, packed."""
    content = json.loads(to_tokenizer_json(sources.resolve("toy_bytes"), pretokenize=True))
    path = folder / "lowered.json.gz"
    path.write_bytes(gzip.compress(json.dumps({**content, "normalizer": LOWERED}).encode()))
    return sources.resolve(str(path))


def test_a_program_that_reads_files_itself_is_given_the_users_own(program, tmp_path):
    vocabulary = lowered(tmp_path)
    assert vocabulary.unexpressed
    reader = program(READER % ["tokenizer.json"])
    implementation = registry.resolve(f"cmd:{reader}")
    one = Participant("reader", f"cmd:{reader}", implementation.about, implementation)
    assert answer_of(one, vocabulary, Mode()) is None
    worker = Worker("reader", one.spec, Limits())  # confined
    try:
        assert worker.load(vocabulary).result(timeout=300).error is None
        asked = Encode(Inputs.of([b"a", b"b"]), Mode())
        found = rows(worker.ask(asked).result(timeout=300))
    finally:
        worker.close()
    assert found == [Encoded((ord("L"),))] * 2


@pytest.mark.parametrize("formats", [[], ["gguf"]])
def test_a_program_that_reads_none_takes_no_part_in_other_steps(program, tmp_path, formats):
    implementation = registry.resolve(f"cmd:{program(READER % formats)}")
    one = Participant("reader", "cmd:reader", implementation.about, implementation)
    assert "cannot express" in str(answer_of(one, lowered(tmp_path), Mode()))


def fault(command):
    with pytest.raises(ImplementationError) as raised:
        _ = ExternalImplementation(command).about
    assert "\n" not in str(raised.value)
    assert f"'cmd:{command}'" in str(raised.value)
    return raised.value


def test_a_program_that_is_not_there_cannot_be_started():
    error = fault("/nowhere/tokenizer --serve")
    assert not error.unknown
    assert "cannot be started" in str(error)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('cannot find my weights')", "cannot find my weights"),
        ('return "hello yourself"', "not JSON"),
        ('return {"protocol": 2, "operations": []}', "must have protocol 1"),
        ('return {"protocol": 1}', "a list of operations"),
        ('return {"protocol": 1, "operations": [{"a": 1}]}', "a list of operations"),
        (
            'return {"protocol": 1, "operations": [], "native_formats": "gguf"}',
            "native_formats in its hello must be a list of formats, it is 'gguf'",
        ),
        ("sys.stdout.write('x' * (9 << 20))", "a line of 1 MiB or more"),
    ],
)
def test_a_bad_hello_is_one_line(program, body, message):
    error = fault(program(body))
    assert not error.unknown
    assert message in str(error)


def test_a_program_has_no_capability_that_the_protocol_does_not_ask_for(program):
    claims = '["encode", "threads", "heal", "dance", "count"]'
    about = ExternalImplementation(
        program(f'if op == "hello":\n    return {{"protocol": 1, "operations": {claims}}}')
    ).about
    assert about.capabilities == {Capability.COUNT, Capability.HEAL}


def test_what_a_program_started_goes_with_it(tmp_path):
    script = tmp_path / "kid.sh"
    script.write_text("sleep 777 &\necho $!\nwait\n")
    fault(f"sh {script}")
    deadline = time.monotonic() + 5
    while (kids := sleeping(777)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not kids


def sleeping(seconds):
    """The processes ``sleep`` of so many seconds."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["cmdline"] == ["sleep", str(seconds)]
        and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def test_a_silent_hello_times_out(program, monkeypatch):
    monkeypatch.setattr("impls.external.HELLO_SECONDS", 0.5)
    assert "did not answer 'hello'" in str(fault(program("import time; time.sleep(60)")))


def test_requests_carry_the_mode(load):
    encoder = load("""
        if op == "encode":
            flags = [int(request["pretokenize"]), int(request["special"] == "all")]
            return {"results": [{"ids": flags}]}
    """)
    assert list(encoder.encode(b"", Mode(pretokenize=True, special="all"))) == [1, 1]
    assert list(encoder.encode(b"", RAW)) == [0, 0]
