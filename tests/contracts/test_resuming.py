"""A command that is killed and started again comes to what it comes to when nobody kills it.

The points of death inside one process are held by ``tests/faults/durability``; here whole commands
are killed as a user's machine would, once there is something that must not be lost.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.scenarios import HERE
from tests.doubles.command import TOKGATE, tokgate

pytestmark = pytest.mark.thorough  # three whole commands each

PLANTED = "--vocab toy_bytes --impl tiktoken --impl mine.py:Mine --check equivalence"


def summary(out):
    """Verdict, cases and findings; of forced tokens, all that is counted."""
    told = json.loads((out / "summary.json").read_text())
    counted = [{k: v for k, v in one.items() if k != "seconds"} for one in told["canonicality"]]
    found = sorted(one["id"] for one in told["findings"])
    return told["complete"], told["verdict"], told["cases"], found, counted


def steps(out):
    """How often each step was done, and whether all were."""
    record = [json.loads(line) for line in (out / "run.jsonl").read_text().splitlines()]
    done = Counter(one["step"] for one in record if one["event"] == "StepDone")
    assert set(done.values()) == {1}
    return done, record[-1]["event"], record[-1].get("complete")


def counterexamples(out):
    """All of them."""
    return json.loads((out / "trophies.json").read_text())


@dataclass(frozen=True)
class Killed:
    """A command that goes on.

    journal: the file, or pattern of files, whose lines (or names) must be there before the kill,
    and after it until the end. lines: how many at least. result: what must be the same.
    """

    line: str
    journal: str
    lines: int
    result: Callable[[Path], Any]


COMMANDS = {
    "run": Killed(
        "run --vocab toy_bytes --vocab toy_acbb --vocab random:2 --impl bpe.naive --impl bpe.heap"
        " --check equivalence --budget 8000cases --jobs 1 --resume", "run.jsonl", 12, summary,
    ),
    "fuzz": Killed(
        f"fuzz {PLANTED} --generator edge --budget 400cases --no-structured --no-coverage"
        " --no-canary",
        "findings/*/input.bin", 1, summary,
    ),
    "forced": Killed(
        "forced own --vocab toy_bytes --limit 12 --jobs 1", "forced.jsonl", 3, summary
    ),
    "adversary": Killed(
        "adversary --vocab toy_bytes --budget 400cases --jobs 1", "adversary.jsonl", 2,
        counterexamples,
    ),
    "bench": Killed(
        "bench --vocab toy_bytes --vocab toy_acbb --impl tiktoken --input source --size 1KB"
        " --rounds 1", "run.jsonl", 4, steps,
    ),
    "field": Killed(
        "field --impl tokenizers --impl llguidance --vocab unigram_bytes --vocab toy_bytes"
        " --no-bench --budget 20cases --check equivalence", "run.jsonl", 3, steps,
    ),
    "selftest": Killed(
        "selftest --mutant merging.refuses --mutant merging.rightmost-tie --budget 60s --jobs 1",
        "run.jsonl", 4, steps,
    ),
}  # fmt: skip


def lines_of(out, journal):
    """The whole lines of a journal; of several files, their names."""
    if "*" in journal:
        return [str(path) for path in out.glob(journal)]
    path = out / journal
    return path.read_text().split("\n")[:-1] if path.exists() else []


def done_in(lines):
    """The lines that stand for work: of an event of a record, a step that is done."""
    return {one for one in lines if json.loads(one).get("event", "StepDone") == "StepDone"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_goes_on(name, tmp_path):
    one = COMMANDS[name]
    shutil.copy(HERE / "mine.py", tmp_path)
    words = shlex.split(one.line)
    out = tmp_path / "killed"
    with subprocess.Popen(
        [TOKGATE, *words, "--out", "killed"],
        cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
    ) as running:  # fmt: skip
        while len(before := lines_of(out, one.journal)) < one.lines:
            assert running.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGKILL)
    again = tokgate(*words, "--out", "killed", folder=tmp_path)
    whole = tokgate(*words, "--out", "whole", folder=tmp_path)
    assert again.returncode == whole.returncode, again.stderr
    assert one.result(out) == one.result(tmp_path / "whole")
    if name not in ("run", "fuzz"):  # which begin the record anew, and keep their work beside it
        assert done_in(before) <= done_in(lines_of(out, one.journal)), "it was done again"
