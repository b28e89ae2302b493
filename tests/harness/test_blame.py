"""Who is blamed by the real command, with whatever they are compared, in whatever order."""

from pathlib import Path

import pytest

from tests.harness.command import summary as summary_of
from tests.harness.command import tokgate

MUTANTS = Path(__file__).parents[1] / "mutants" / "in_process.py"
WRONG, RIGHT = f"{MUTANTS}:AlwaysWrong", f"{MUTANTS}:Correct"


def run(out, *specs, options=()):
    """The summary of a short run of these implementations, in this order."""
    impls = [f"--impl={spec}" for spec in specs]
    short = ("--suite=smoke", "--vocab=toy_bytes", "--generator=edge", "--check=equivalence")
    done = tokgate("run", *short, "--budget=60cases", f"--out={out}", *impls, *options)
    assert done.returncode == 1, done.stderr
    summary = summary_of(out)
    return summary


def blamed(summary):
    return {(tuple(one["culprits"]), one["undecided"]) for one in summary["findings"]}


@pytest.mark.thorough  # whole runs; test_standing.py has the rule for equals
def test_between_two_references_nobody_is_blamed_and_it_can_be_replayed(tmp_path):
    both = (f"--reference={WRONG}", f"--reference={RIGHT}")
    summary = run(tmp_path / "a", WRONG, RIGHT, options=both)
    assert blamed(summary) == {(("mini-always-wrong", "mini-correct"), True)}
    buckets = {v["bucket"] for f in summary["findings"] for v in f["variants"]}
    assert all(name.endswith("/mini-always-wrong<>mini-correct") for name in buckets)
    assert "nobody is blamed" in (tmp_path / "a" / "summary.md").read_text()
    name = summary["findings"][0]["id"]
    again = tmp_path / "again"
    done = tokgate("replay", name, "--run", str(tmp_path / "a"), f"--out={again}", "--trust")
    assert done.returncode == 1, done.stderr
    replayed = summary_of(again)
    assert blamed(replayed) == blamed(summary)
