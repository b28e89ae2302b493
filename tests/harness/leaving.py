"""What leaves processes behind, and how they are found."""

import os
import secrets
import sys
import time

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
