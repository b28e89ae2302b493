"""Every deliberately wrong implementation is caught by the real command, and named for what it is.

The runs are cut short (some generators, few cases, short limits) so that a run takes seconds;
nothing else differs from ``tokgate run --suite smoke``. Those that fail by themselves share a run;
those that give wrong ids have one each, since the others would take part in the comparison.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness.command import tokgate

MUTANTS = Path(__file__).parents[1] / "mutants"
PROGRAM = Path(__file__).parents[2] / "harness" / "studies" / "selftest" / "program.py"
JUDGING = ("survival", "equivalence", "round-trip", "determinism", "validity", "batch")
"""The checks that have something to judge of the correct ones and of the mutants."""

SMOKE_SECONDS = 600
"""The longest that a run may take, which is there for hangs: a busy machine is slow."""


def in_process(kind: str) -> str:
    name = "".join(part.capitalize() for part in kind.split("-"))
    return f"{MUTANTS}/in_process.py:{name}"


def over_stdio(kind: str) -> str:
    return f"cmd:{sys.executable} {PROGRAM} --kind {kind}"


Plug = Callable[[str], str]


@dataclass(frozen=True)
class Run:
    """What a run of the command came to. found: the smallest by ``(check, stage, culprits)``.

    A mutant that shows on any input is found on inputs of several kinds.
    """

    status: int
    summary: dict[str, Any]
    said: str
    found: dict[tuple[str, str, str], dict[str, Any]]


def run(out: Path, specs: list[str], *options: str) -> Run:
    """Compare these implementations with tiktoken; the record must be whole."""
    impls = [f"--impl={spec}" for spec in ("tiktoken", *specs)]
    checks = [f"--check={name}" for name in JUDGING]
    done = tokgate("run", "--suite=smoke", f"--out={out}", *impls, *checks, *options)
    path = out / "summary.json"
    assert path.is_file(), done.stderr
    summary = json.loads(path.read_text())
    assert summary["complete"] is True
    found = {}
    for finding in sorted(summary["findings"], key=size, reverse=True):
        check, _, _, stage, _, culprits = finding["bucket"].split("/")
        found[check, stage, culprits] = finding
    return Run(done.returncode, summary, done.stderr, found)


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
    ("plug", "kinds"),
    [
        (in_process, DEATHS),
        (in_process, SLOW_DEATHS),
        # By way of a program they are the same: test_faults.py has each, this what is its own.
        (over_stdio, BREACHES),
    ],
    ids=["in-process", "slow-in-process", "over-stdio"],
)
@pytest.mark.thorough  # whole runs of who crashes and hangs: test_workers.py has each once
def test_who_does_not_survive_is_named(
    plug: Plug, kinds: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    limits = ("--timeout=2.5", "--memory=0.6") if "hang" in kinds else ("--memory=1.5",)
    options = ("--vocab=toy_bytes", "--generator=tokens", "--budget=200cases", *limits)
    done = run(tmp_path, [plug(kind) for kind in kinds], *options)
    assert done.status == 1, done.said
    assert done.summary["seconds"] < SMOKE_SECONDS
    wanted = {("survival", stage, f"mini-{kind}") for kind, (stage, _) in kinds.items()}
    assert set(done.found) == wanted, done.said
    for kind, (stage, message) in kinds.items():
        finding = done.found["survival", stage, f"mini-{kind}"]
        theirs = finding["partition"][-1]
        assert theirs["implementations"] == [f"mini-{kind}"]
        assert message in theirs["message"]
        assert size(finding) <= len("é".encode())


@dataclass(frozen=True)
class Named:
    """What a mutant must be called: check, stage; ``also`` what may be found besides.

    longest: the minimised input, in bytes.
    """

    check: str
    stage: str
    longest: int
    generators: tuple[str, ...]
    also: tuple[tuple[str, str], ...] = (("validity", "part"),)


WRONG = {
    "always-wrong": Named("equivalence", "text", 0, ("edge",)),
    "above-500": Named("equivalence", "ids", 540, ("repeats",)),
    "leak": Named("determinism", "order", 80, ("concatenations", "repeats"), also=()),
    "claims": Named(
        "round-trip",
        "errored",
        0,
        ("edge",),
        also=(("offsets", "errored"), ("single-ids", "errored"), ("stream-decoder", "errored")),
    ),
}


@pytest.mark.parametrize(
    ("kind", "plug"),
    [*((kind, in_process) for kind in WRONG), ("leak", over_stdio)],
)
@pytest.mark.thorough  # whole runs: each check has its own quick tests
def test_who_is_wrong_is_named(kind: str, plug: Plug, tmp_path: Path) -> None:
    wanted = WRONG[kind]
    generators = [f"--generator={name}" for name in wanted.generators]
    options = ("--vocab=toy_bytes", "--fail-fast", *generators)
    done = run(tmp_path, [plug(kind)], *options)
    assert (done.status, done.summary["verdict"]) == (1, "fail"), done.said
    assert done.summary["seconds"] < SMOKE_SECONDS
    allowed = {(wanted.check, wanted.stage), *wanted.also}
    assert set(done.found) <= {(*name, f"mini-{kind}") for name in allowed}, done.said
    finding = done.found[wanted.check, wanted.stage, f"mini-{kind}"]
    assert size(finding) <= wanted.longest


def test_nothing_is_found_of_correct_ones(tmp_path: Path) -> None:
    specs = [in_process("correct"), over_stdio("correct")]
    done = run(tmp_path, specs, "--vocab=toy_bytes", "--budget=1500cases")
    assert (done.status, done.summary["findings"]) == (0, []), done.said
    assert done.summary["cases"] >= 1500
