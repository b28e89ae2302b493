"""Each command tells what workers left behind, in its record and in its reports."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from corpora.vocabularies import sources
from harness.cli.display import Display
from harness.core.countdown import Countdown
from harness.core.outcomes import Status
from harness.engine.flow import execute
from harness.engine.selection import participants
from harness.engine.suites import Budget
from harness.findings.entries import inputless
from harness.findings.folder import RunFolder
from harness.studies.default import studies
from harness.studies.forced import hunt as hunting
from harness.studies.forced import run as walking
from harness.studies.forced.hunt import Hunt
from harness.studies.forced.jobs import Task
from harness.studies.forced.pool import results
from harness.studies.forced.run import ForcedPlan
from harness.studies.selftest.campaign import Ledger
from harness.studies.selftest.run import verdict
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from reports.last_words import closing
from tests.breadth import thorough
from tests.doubles.command import tokgate
from tests.doubles.fuzz_campaign import WRONG, run, small_plan
from tests.doubles.leaving import PLUGIN, mark, marked
from tests.doubles.samples import contract
from tests.faults.workers.test_keeper import patched
from tests.properties.studies.test_selftest import judged

__all__ = ["mark", "patched"]  # fixtures

QUICK = "keeper.GRACE_SECONDS = 0.2"
BUCKET = "survival/bpe/raw/left-processes/any/leaving"
LINE = "left a process behind: sleeper"


@pytest.fixture
def leaving(tmp_path, mark):
    """A plug-in that leaves a process with the mark behind."""
    path = tmp_path / "leaving.py"
    path.write_text(PLUGIN.format(mark=mark))
    return f"{path}:Leaving"


def test_a_campaign_tells_it_once_and_goes_on(leaving, patched, mark, tmp_path):
    patched(QUICK)
    where, out = str(tmp_path / "ledger.db"), tmp_path / "out"
    first = run(small_plan(64, (leaving,)), where, out)
    assert [found.bucket for found in first.findings] == [BUCKET]
    assert [found.bucket for found in first.new] == [BUCKET]
    assert first.finished.verdict == "fail"
    assert mark in str(first.findings[0].partition)
    assert BUCKET in (out / "run.jsonl").read_text()
    assert (out / "findings" / first.findings[0].id).is_dir()
    again = run(small_plan(64, (leaving,)), where, out)
    assert [found.bucket for found in again.findings] == [BUCKET]
    assert again.new == []
    assert marked(mark) == []


def test_who_is_stopped_while_it_owes_nothing_is_told(leaving, patched, mark):
    patched(QUICK)
    present, _ = participants([leaving])
    pool = WorkerPool(present, Limits())
    assert pool.load(sources.resolve("toy_bytes"), ["leaving"]) == {}
    pool.kill()  # as at the end of a campaign's time
    pool.close()
    assert mark in pool.left()["leaving"]


def test_a_selftest_holds_it_against_who_is_right(mark):
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap")
    ledger = Ledger({"bpe.heap": ""})
    ledger.note(inputless(terms, Status.LEFT_PROCESSES, "bpe.heap", LINE, 0))
    ledger.note(inputless(terms, Status.LEFT_PROCESSES, "bpe.naive", LINE, 0))  # nobody's suspect
    assert ledger.suspects["bpe.heap"].named == ["survival/left-processes"]
    reasons, status = verdict([judged("bpe.heap", "", ["survival/left-processes"])], [])
    assert status == 1
    assert "survival/left-processes" in reasons[0]


@pytest.mark.thorough  # loads libraries, compiles
def test_who_leaves_something_is_told_by_a_run_that_was_broken_off(
    leaving, patched, mark, tmp_path
):
    patched(QUICK)
    # As each hunt of a selftest is, once it has found all that it looks for.
    plan = small_plan(500, (f"{WRONG}:OneToken", leaving), fail_fast=True).plan
    found = execute(plan, RunFolder(tmp_path), [], "test", studies).findings
    assert BUCKET in [one.bucket for one in found]
    assert len(found) > 1


SHORT = ["--budget=20cases", "--check=survival"]
WHOLE = {
    "run": ([*SHORT, "--generator=edge"], 1, "summary.json", "report.html"),
    "worst": (["--size=4KB", "--no-keep", "--budget=6s"], 0, "worst.json", "worst.html"),
    "field": ([*SHORT, "--no-bench"], 0, "field.json", "field.html"),
}
"""The options of a command, its exit status, and its reports."""


@pytest.mark.thorough  # whole commands
@pytest.mark.parametrize("name", WHOLE)
def test_a_command_tells_it(name, leaving, mark, tmp_path):
    options, status, *reports = WHOLE[name]
    given = [name, f"--impl={leaving}", "--vocab=toy_bytes", *options, "--out=out"]
    done = tokgate(*given, folder=tmp_path)
    assert done.returncode == status, done.stderr
    data, page = ((tmp_path / "out" / one).read_text() for one in reports)
    assert mark in data
    assert name == "worst" or BUCKET in data
    assert "left a process behind" in page
    assert marked(mark) == []


@dataclass(frozen=True, slots=True)
class Leave:
    """A job that leaves a process with a mark behind."""

    mark: str
    answer: ClassVar[Any] = str

    def run(self, policies, task, beat):
        code = "import time; time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", code, self.mark], start_new_session=True)
        return "left"


@pytest.mark.parametrize("whole", [thorough(True), False])
def test_workers_of_forced_tokens_tell_it(patched, mark, whole):
    patched(QUICK)
    told = []
    task = Task(sources.resolve("toy_bytes"), ["none"], "flexible")
    answers = results(task, [Leave(mark)] * 2, 1, left=told.append)
    assert next(answers)[1] == "left"
    if whole:
        assert [answer for _, answer in answers] == ["left"]
    answers.close()  # cut off in the second job, or when it has ended
    assert len(told) == 1
    assert mark in told[0]
    assert marked(mark) == []


def leaving_workers(*_, left=None):
    """Workers that do nothing and leave something behind."""
    left(LINE)
    yield from ()


def test_a_walk_of_a_corpus_keeps_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(walking, "results", leaving_workers)
    task = Task(sources.resolve("toy_bytes"), ["none"], "flexible")
    plan = ForcedPlan(walking.OWN, "toy_bytes", task, limit=1)
    journal = plan.journal(tmp_path)
    events = []
    walking.execute(plan, journal, events.append, lambda share, text: None, "")
    assert events[-1].notes == [f"a worker {LINE}"]
    assert plan.journal(tmp_path).left == [LINE]
    last = closing(events[-1], "", tmp_path / "report.html")
    Display(stderr=True).show(last)
    assert f"a worker {LINE}" in capsys.readouterr().err


def test_an_adversary_keeps_it(tmp_path, monkeypatch):
    monkeypatch.setattr(hunting, "results", leaving_workers)
    task = Task(sources.resolve("toy_bytes"), ["none"], "flexible")
    Hunt(task, Budget(cases=1), tmp_path).search(lambda share, text: None, Countdown(None))
    assert Hunt(task, Budget(cases=1), tmp_path).journal.left == [LINE]
