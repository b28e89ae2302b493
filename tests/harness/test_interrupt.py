"""Ctrl-C in the middle: a readable partial report marked incomplete, and no orphans."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.breadth import thorough
from tests.harness.command import TOKGATE

MUTANTS = Path(__file__).parents[1] / "mutants"
PROGRAM = Path(__file__).parents[2] / "harness" / "studies" / "selftest" / "program.py"


def wait_for(record, event):
    """Wait until the record has an event."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if record.is_file() and f'"event": "{event}"' in record.read_text():
            return
        time.sleep(0.05)
    pytest.fail(f"no {event} within a minute")


@pytest.mark.parametrize("event", [thorough("Started"), "Found"])
@pytest.mark.parametrize("whole_group", [thorough(False), True], ids=["kill", "terminal"])
def test_ctrl_c(event, whole_group, tmp_path):
    program = f"cmd:{sys.executable} {PROGRAM} --kind correct"
    wrong = f"{MUTANTS}/in_process.py:AlwaysWrong"
    impls = [f"--impl={spec}" for spec in ("tiktoken", program, wrong)]
    with subprocess.Popen(
        [TOKGATE, "run", "--vocab=tekken_240911", "--vocab=toy_bytes", f"--out={tmp_path}", *impls],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        wait_for(tmp_path / "run.jsonl", event)
        time.sleep(0.3)
        family = psutil.Process(running.pid).children(recursive=True)
        if whole_group:
            os.killpg(running.pid, signal.SIGINT)
        else:
            running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=300)
    assert running.returncode == 130, said
    assert "Traceback" not in said
    assert "interrupted before its end" in said
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["complete"] is False
    assert summary["verdict"] == "fail"
    names = {path.name for path in tmp_path.iterdir()}
    assert {"report.html", "junit.xml", "summary.md"} <= names
    assert "incomplete" in (tmp_path / "summary.md").read_text().lower()
    if event == "Found":
        assert summary["findings"]
        # Nothing is found of those that were only killed.
        assert {f["bucket"].split("/")[-1] for f in summary["findings"]} == {"mini-always-wrong"}
        assert (tmp_path / "findings" / summary["findings"][0]["id"] / "input.bin").is_file()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive
