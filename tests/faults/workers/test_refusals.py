"""What an implementation says of a vocabulary, of itself, and of an input that it does not take."""

import sys

import pytest

from corpora.vocabularies import sources
from harness.workers import Limits, Worker
from tests.doubles.command import here, record, summary, tokgate

PROGRAM = """
import json, sys

for line in sys.stdin:
    request = json.loads(line)
    answer = {"error": WHY}
    if request["op"] == "stop":
        break
    if request["op"] == "hello":
        answer = {"protocol": 1, "name": "old", "operations": ["encode"], "algorithms": ["bpe"]}
    print(json.dumps({"seq": request["seq"], **answer}), flush=True)
"""


def test_a_program_that_says_why_it_cannot_start_is_told_in_one_line(tmp_path):
    why = "this release does not do what is asked of it (TypeError: no argument 'x')"
    (tmp_path / "old.py").write_text(f"WHY = {why!r}\n{PROGRAM}")
    worker = Worker("old", f"cmd:{sys.executable} {tmp_path}/old.py", Limits())
    try:
        loaded = worker.load(sources.resolve("toy_bytes")).result(timeout=300)
    finally:
        worker.close()
    assert loaded.error == why  # no traceback of ours
    assert loaded.refused


PLUGIN = """
from impls.interface import About

class Mine:
    about = About(name="mine", version="1")
    def supports(self, vocabulary, mode): {body}
    def load(self, vocabulary): return self
    def encode(self, data, mode): return list(data)
"""


@pytest.mark.thorough  # a whole run
def test_a_supports_that_fails_is_a_failure_to_start(tmp_path):
    (tmp_path / "plugin.py").write_text(PLUGIN.format(body="raise ValueError('which one')"))
    impls = [f"--impl={spec}" for spec in ("tiktoken", "bpe.heap", "plugin.py:Mine")]
    done = tokgate("run", "--vocab=toy_bytes", "--budget=100cases", *impls, folder=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    out = tmp_path / "tokgate-out"
    (failed,) = record(out, "ImplementationFailed")
    assert "supports()" in str(failed["message"])
    assert "stopped: mine cannot load toy_bytes" in done.stderr
    assert summary(out)["complete"] is False


def test_messages_and_arguments_that_are_no_text(tmp_path):
    source = PLUGIN.format(body="return None").replace("return list(data)", "raise ValueError(BAD)")
    (tmp_path / "plugin.py").write_text(f"BAD = 'bad \\ud800 text'\n{source}")
    impls = ["--impl=tiktoken", "--impl=plugin.py:Mine"]
    done = tokgate(
        "minimize",
        "--vocab=toy_bytes",
        *impls,
        "--text=\udcff",
        "--out=tokgate-out",
        folder=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    for form in ("html", "junit", "markdown", "json"):
        done = here("report", f"--format={form}", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_the_reasons_are_told_where_nobody_loads(tmp_path):
    plugin = tmp_path / "declining.py"
    plugin.write_text(
        "from impls.interface import About, Unsupported\n"
        "class Declines:\n"
        "    about = About(name='declines', version='1')\n"
        "    def supports(self, vocabulary, mode): return None\n"
        "    def load(self, vocabulary): raise Unsupported('reads other files')\n"
        "class Also(Declines):\n"
        "    about = About(name='also', version='1')\n"
    )
    out = tmp_path / "out"
    done = tokgate(
        "run", f"--impl={plugin}:Declines", f"--impl={plugin}:Also", "--reference=also",
        "--vocab=toy_bytes", "--budget=20cases", "--check=survival", f"--out={out}",
    )  # fmt: skip
    opened = record(out, "ContractOpened")
    assert opened, done.stderr
    for one in opened:
        assert one["implementations"] == []
        assert one["excluded"] == dict.fromkeys(("declines", "also"), "reads other files")
    assert "declines was not tested: reads other files" in done.stderr + done.stdout
