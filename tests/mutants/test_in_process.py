"""Deliberately wrong implementations are caught by the real command, and named for what they are.

``tokgate selftest`` has them, too; here are the messages, the exit status, and the inputs that are
left. The runs are cut short (some generators, few cases, short limits), so that a run takes
seconds; nothing else differs from ``tokgate run --suite smoke``. Those that fail by themselves
share a run; those that give wrong ids have one each, since the others would take part in the
comparison.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.command import tokgate

PROGRAM = Path(__file__).parents[2] / "harness" / "studies" / "selftest" / "program.py"
JUDGING = ("survival", "equivalence", "round-trip", "determinism", "validity", "batch")
"""The checks that have something to judge of the correct ones and of the mutants."""

Names = dict[tuple[str, str, str], dict[str, Any]]
"""Findings by check, stage and culprits; of several of one name the one of the shortest input."""


def in_process(kind: str) -> str:
    return f"{Path(__file__).with_name('in_process.py')}:{kind.title().replace('-', '')}"


def over_stdio(kind: str) -> str:
    return f"cmd:{sys.executable} {PROGRAM} --kind {kind}"


Plug = Callable[[str], str]


def run(out: Path, status: int, specs: list[str], *options: str) -> tuple[Names, dict[str, Any]]:
    """Compare these implementations with tiktoken: the findings, and the whole record."""
    impls = [f"--impl={spec}" for spec in ("tiktoken", *specs)]
    checks = [f"--check={name}" for name in JUDGING]
    options = ("--suite=smoke", "--vocab=toy_bytes", f"--out={out}", *impls, *checks, *options)
    done = tokgate("run", *options)
    assert done.returncode == status, done.stderr
    summary = json.loads((out / "summary.json").read_text())
    assert summary["complete"] is True
    found: Names = {}
    for finding in sorted(summary["findings"], key=size, reverse=True):
        check, _, _, stage, _, culprits = finding["bucket"].split("/")
        found[check, stage, culprits] = finding
    return found, summary


def size(finding: dict[str, Any]) -> int:
    """The length of a finding's input, in bytes."""
    return len(base64.b64decode(finding["input_b64"]))


DEATHS = {
    "exit": ("crashed", "exited with status 3"),
    "segfault": ("crashed", "SIGSEGV"),
    "abort": ("crashed", "SIGABRT"),
    "hog": ("out-of-memory", "MemoryError"),
    "floats": ("errored", "is a float, not an integer"),
}
SLOW_DEATHS = {
    # The time-out is 2.5 s, and who is asked again alone has twice that.
    "hang": ("timed-out", "no answer within 5.0 s, in which it only waited"),
    "grow": ("out-of-memory", "emory"),
}
BREACHES = {
    "seq": ("protocol", "with seq"),
    "short": ("protocol", "gave 0 results for 1 inputs"),
    "garbage": ("protocol", "a line that is not JSON: 'Traceback"),
}


@pytest.mark.parametrize(
    ("plug", "kinds", "limits"),
    [
        (in_process, DEATHS, ["--memory=1.5"]),
        (in_process, SLOW_DEATHS, ["--timeout=2.5", "--memory=0.6"]),
        # By way of a program they are the same: test_faults.py has each, this what is its own.
        (over_stdio, BREACHES, ["--memory=1.5"]),
    ],
    ids=["in-process", "slow-in-process", "over-stdio"],
)
@pytest.mark.thorough  # whole runs of who crashes and hangs: test_workers.py has each once
def test_who_does_not_survive_is_named(
    plug: Plug, kinds: dict[str, tuple[str, str]], limits: list[str], tmp_path: Path
) -> None:
    options = ("--generator=tokens", "--budget=200cases", *limits)
    found, _ = run(tmp_path, 1, [plug(kind) for kind in kinds], *options)
    named = {kind: ("survival", stage, f"mini-{kind}") for kind, (stage, _) in kinds.items()}
    assert set(found) == set(named.values())
    for kind, (_, message) in kinds.items():
        theirs = found[named[kind]]["partition"][-1]
        assert theirs["implementations"] == [f"mini-{kind}"]
        assert message in theirs["message"]
        assert size(found[named[kind]]) <= len("é".encode())


PART = "validity/part"
DECODING = ("offsets/errored", "single-ids/errored", "stream-decoder/errored")


@pytest.mark.parametrize(
    ("plug", "kind", "named", "also", "longest", "generator"),
    [
        (in_process, "always-wrong", "equivalence/text", {PART}, 0, "edge"),
        (in_process, "above-500", "equivalence/ids", {PART}, 540, "repeats"),
        (in_process, "leak", "determinism/order", set(), 80, "concatenations"),
        (over_stdio, "leak", "determinism/order", set(), 80, "concatenations"),
        (in_process, "claims", "round-trip/errored", {*DECODING}, 0, "edge"),
    ],
)
@pytest.mark.thorough  # whole runs: each check has its own quick tests
def test_who_is_wrong_is_named(
    plug: Plug, kind: str, named: str, also: set[str], longest: int, generator: str, tmp_path: Path
) -> None:
    """also: what may be found besides. longest: bytes of the minimised input."""
    options = ("--fail-fast", f"--generator={generator}", "--generator=repeats")
    found, _ = run(tmp_path, 1, [plug(kind)], *options)
    allowed = {(*name.split("/"), f"mini-{kind}") for name in {named, *also}}
    assert set(found) <= allowed
    check, stage = named.split("/")
    assert size(found[check, stage, f"mini-{kind}"]) <= longest


def test_nothing_is_found_of_correct_ones(tmp_path: Path) -> None:
    specs = [in_process("correct"), over_stdio("correct")]
    found, summary = run(tmp_path, 0, specs, "--budget=1500cases")
    assert not found
    assert summary["cases"] >= 1500
