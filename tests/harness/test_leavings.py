"""What implementations leave behind is found, killed and told, whatever they do about it."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time

import psutil
import pytest

from harness.workers.kept import Kept
from tests.harness.command import tokgate

PLUGIN = """
import subprocess, sys
from impls.interface import About

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)", "{mark}"]

class Leaving:
    about = About(name="leaving", version="1")
    def supports(self, vocabulary, mode):
        return None if mode.special == "none" and not mode.pretokenize else "raw only"
    def load(self, vocabulary):
        subprocess.Popen(SLEEPER, start_new_session={leaves})
        self._ids = {{token: i for i, token in enumerate(vocabulary.tokens)}}
        return self
    def encode(self, data, mode):
        return [self._ids[bytes((byte,))] for byte in data]
"""

LEAVING = """
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", {mark!r}],
                 start_new_session=True)
print("started", flush=True)
{then}
time.sleep(600)
"""


@pytest.fixture
def mark():
    """A word in the command line of what a test leaves behind; none of it may outlive the test."""
    word = f"left-{secrets.token_hex(8)}"
    yield word
    for process in marked(word):
        process.kill()


def marked(word):
    """The living processes with a word in their command line."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        alive = process.info["status"] != psutil.STATUS_ZOMBIE
        if alive and word in (process.info["cmdline"] or []):
            found.append(process)
    return found


@pytest.mark.thorough  # a whole run
def test_a_run_tells_who_left_processes(mark, tmp_path):
    plugin = tmp_path / "leaving.py"
    plugin.write_text(PLUGIN.format(mark=mark, leaves=True))
    done = tokgate(
        "run", f"--impl={plugin}:Leaving", "--vocab=toy_bytes", "--budget=20cases",
        "--generator=edge", "--check=survival", f"--out={tmp_path / 'out'}",
    )  # fmt: skip
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    buckets = [one["bucket"] for one in summary["findings"]]
    assert marked(mark) == []
    assert buckets == ["survival/bpe/raw/left-processes/any/leaving"], done.stderr
    assert done.returncode == 1
    assert mark in summary["findings"][0]["partition"][0]["message"]


def kept(mark, then=""):
    """A kept process that has left another one behind, and what it has said so far."""
    inlet, outlet = os.pipe()
    code = LEAVING.format(mark=mark, then=then)
    made = Kept(
        [sys.executable, "-c", code],
        descriptors=(),
        environment=os.environ,
        log=outlet,
    )
    os.close(outlet)
    with os.fdopen(inlet, "rb") as said:
        line = said.readline().decode()
    return made, line


def gone(mark):
    """Whether all with the mark has ended; what was killed takes a moment to."""
    end = time.monotonic() + 30
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.02)
    return not marked(mark)


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
from tests.harness.test_leavings import kept
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
