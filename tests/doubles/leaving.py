"""What leaves processes behind, and how they are found."""

import os
import secrets
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.workers.kept import Kept

PLUGIN = """
import subprocess, sys
from impls.interface import About

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)", "{mark}"]

class Leaving:
    about = About(name="leaving", version="1")
    def supports(self, vocabulary, mode):
        return None if mode.special == "none" and not mode.pretokenize else "raw only"
    def load(self, vocabulary):
        subprocess.Popen(SLEEPER, start_new_session=True)
        self._ids = {{token: i for i, token in enumerate(vocabulary.tokens)}}
        return self
    def encode(self, data, mode):
        return [self._ids[bytes((byte,))] for byte in data]
"""


HELPED = """
import os, signal, subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]], start_new_session=True)
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
os.write(int(sys.argv[-1]), b"x")
"""

WAITING = "time.sleep(600)"
SLEEPING, SPINNING = f"import time; {WAITING}", "while True: pass"


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


def started(*command, descriptors=()):
    """A kept process."""
    with Path(os.devnull).open("wb") as log:
        return Kept(command, descriptors=descriptors, environment=os.environ, log=log.fileno())


def kept(code, *arguments, descriptors=()):
    """A kept Python process."""
    return started(sys.executable, "-c", code, *arguments, descriptors=descriptors)


def helped(mark, then=WAITING, helper=SLEEPING):
    """A kept process with a helper in a session of its own, which it has started by now."""
    inlet, outlet = os.pipe()
    made = kept(HELPED + then, mark, helper, descriptors=(outlet,))
    os.close(outlet)
    assert os.read(inlet, 1) == b"x"
    os.close(inlet)
    return made


def gone(mark):
    """Whether all with the mark has ended; what was killed takes a moment to."""
    end = time.monotonic() + 30
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.02)
    return not marked(mark)
