"""What implementations leave behind is found, killed and told, whatever they do about it."""

import contextlib
import subprocess
import sys
import time

import psutil
import pytest

from tests.harness.command import summary, tokgate
from tests.harness.leaving import PLUGIN, gone, kept, mark, marked

__all__ = ["mark"]  # a fixture


@pytest.mark.thorough  # a whole run
def test_a_run_tells_who_left_processes(mark, tmp_path):
    plugin = tmp_path / "leaving.py"
    plugin.write_text(PLUGIN.format(mark=mark, leaves=True))
    done = tokgate(
        "run", f"--impl={plugin}:Leaving", "--vocab=toy_bytes", "--budget=20cases",
        "--generator=edge", "--check=survival", f"--out={tmp_path / 'out'}",
    )  # fmt: skip
    findings = summary(tmp_path / "out")["findings"]
    buckets = [one["bucket"] for one in findings]
    assert marked(mark) == []
    assert buckets == ["survival/bpe/raw/left-processes/any/leaving"], done.stderr
    assert done.returncode == 1
    assert mark in findings[0]["partition"][0]["message"]


def test_at_once_means_at_once(mark):
    made, _ = kept(mark)
    made.end()
    assert marked(mark) == []
    assert made.report.count == 0  # nobody has waited for it to end by itself
    assert made.report.exit_code == -9


def test_what_is_left_is_told_with_its_command_line(mark):
    made, _ = kept(mark, "sys.exit(7)")
    made.wait(30)
    made.end(gently=True)
    assert made.report.exit_code == 7
    (line,) = made.report.left
    assert made.report.count == 1
    assert "time.sleep(600)" in line
    assert marked(mark) == []


@pytest.mark.parametrize("number", ["KILL", "STOP"])
def test_who_kills_or_stops_the_keeper_gains_nothing(number, mark):
    made, _ = kept(mark, f"import signal; os.kill(os.getppid(), signal.SIG{number})")
    end = time.monotonic() + 30
    while psutil.pid_exists(made.pid) and time.monotonic() < end:
        with contextlib.suppress(psutil.Error):
            if psutil.Process(made.pid).status() == psutil.STATUS_STOPPED:
                break
        time.sleep(0.02)
    made.end()
    assert gone(mark)
    while psutil.pid_exists(made.pid):
        assert time.monotonic() < end + 30
    assert (made.report is None) == (number == "KILL")


def test_a_killed_harness_leaves_nothing(mark):
    code = f"""
import sys, time
from tests.harness.leaving import kept
kept({mark!r})
print("ready", flush=True)
time.sleep(600)
"""
    harness = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert harness.stdout.readline() == b"ready\n"
    assert len(marked(mark)) == 1
    harness.kill()
    harness.communicate()
    assert gone(mark)
