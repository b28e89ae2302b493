"""What plug-ins print reaches the terminal in messages alone, and never raw."""

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from harness.cli.display import Display
from harness.core.quiet import KEPT_BYTES, aside
from harness.workers import Limits, Worker
from impls.external import Program
from impls.standard_error import LOG_TAIL, LONGEST_LOG, log_tail, room
from tests.harness.command import tokgate

ESCAPE = "\x1b]0;title\x07"

PLUGIN = """
import os, subprocess, sys
from impls.interface import About

def shout(where):
    print("python to stdout at", where, flush=True)
    print("\\x1b[31mpython to stderr at", where, file=sys.stderr, flush=True)
    os.write(1, b"raw to 1\\n")
    os.write(2, b"raw to 2\\n")
    subprocess.run(["echo", "a child at", where])

shout("import")
{then}

class Loud:
    @property
    def about(self):
        shout("about")
        return About(name="loud", version="1")
    def supports(self, vocabulary, mode):
        shout("supports")
        return None if not mode.pretokenize else "raw only"
    def load(self, vocabulary):
        shout("load")
        {load}
        return self
    def encode(self, data, mode):
        shout("encode")
        return list(data)
"""

SAID = ("python to", "raw to", "a child at")


def plugin(folder, then="", load="pass"):
    path = folder / "loud.py"
    path.write_text(PLUGIN.format(then=then, load=load))
    return f"{path}:Loud"


def run(spec, folder, *more):
    return tokgate(
        *more, "run", f"--impl={spec}", "--vocab=toy_bytes", "--budget=5cases",
        "--generator=edge", "--check=survival", f"--out={folder / 'out'}",
    )  # fmt: skip


def test_nothing_that_a_plug_in_prints_is_on_the_terminal(tmp_path):
    done = run(plugin(tmp_path), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "PASSED" in done.stderr
    for said in SAID:
        assert said not in done.stdout + done.stderr


@pytest.mark.thorough  # a whole run
def test_it_is_shown_on_request_and_made_plain(tmp_path):
    done = run(plugin(tmp_path), tmp_path, "--debug")
    assert done.returncode == 0, done.stderr
    for said in SAID:
        assert said in done.stderr
    assert "\x1b" not in done.stderr


def test_a_failure_to_import_tells_the_last_line(tmp_path):
    then = f"print('first'); print({ESCAPE + 'the reason'!r}); raise OSError('no licence')"
    done = run(plugin(tmp_path, then), tmp_path)
    assert done.returncode == 3
    (line,) = done.stderr.strip().splitlines()
    assert "fails to import (OSError: no licence)" in line
    assert line.endswith("the reason")
    assert "\x1b" not in line
    assert "first" not in line


def test_a_failure_to_load_tells_the_last_lines(tmp_path):
    spec = plugin(tmp_path, load="raise OSError('no licence')")
    worker = Worker("loud", spec, Limits())
    try:
        loaded = worker.load(sources.resolve("toy_bytes")).result(timeout=120)
    finally:
        worker.close()
    assert loaded.error.startswith("OSError: no licence\n")
    printed = loaded.error.partition("The last that it printed:")[2]
    assert "a child at load" in printed


def test_a_display_prints_on_meanwhile(capfd):
    with aside() as printed:
        os.write(1, b"foreign\n")
        Display(stderr=True).print("ours")
        Display().print("ours, too")
    assert capfd.readouterr() == ("ours, too\n", "ours\n")
    assert printed.text == "foreign"
    Display(stderr=True).print("afterwards")
    os.write(2, b"raw\n")
    assert capfd.readouterr().err == "afterwards\nraw\n"


def test_several_threads_share_it(capfd):
    inside, go = threading.Event(), threading.Event()

    def other():
        with aside():
            inside.set()
            go.wait(60)
            print("from a thread", flush=True)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(60)
    with aside():
        os.write(1, b"from the main thread\n")
    os.write(1, b"still aside\n")
    go.set()
    thread.join()
    print("back", flush=True)
    assert capfd.readouterr().out == "back\n"


def test_whatever_is_printed_is_kept_to_its_end():
    with aside() as printed:
        for _ in range(100):
            os.write(1, b"x" * (1 << 20))
        os.write(2, b"\nthe end\n")
    assert len(printed.text) <= KEPT_BYTES
    assert printed.last_line == "the end"


def test_a_process_that_stays_does_not_hold_it_up(tmp_path):
    with aside():
        stays = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    stays.kill()
    stays.wait()
    with aside() as printed:
        print("again")
    assert printed.text == "again"


def test_nothing_stays_open(capfd):
    gc.collect()  # what other tests have left open is closed before the descriptors are counted
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with aside():
            print("x")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


FLOOD = """
import os, sys, time
for _ in range(64):
    os.write(2, b"x" * (1 << 20))
while True:
    os.write(2, b"the end")
    time.sleep(0.1)
"""


def cut(log):
    """Whether a log of 64 MiB is cut while its writer is still at it; the time-out is for hangs."""
    end = time.monotonic() + 120
    grown = False
    while time.monotonic() < end:
        size = log()
        grown = grown or size >= LOG_TAIL
        if grown and size <= LONGEST_LOG:
            return True
        time.sleep(0.05)
    return False


def test_the_log_of_a_program_is_cut_while_it_writes(tmp_path):
    path = tmp_path / "flood.py"
    path.write_text(FLOOD)
    program = Program(f"{sys.executable} {path}")
    log = program._log
    try:
        end = time.monotonic() + 120
        while log_tail(log) == "" or not log_tail(log).endswith("the end"):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert cut(lambda: room(log))
        assert log_tail(log).endswith("the end")
    finally:
        program.end()


def test_the_log_of_a_worker_is_cut_while_it_writes(tmp_path):
    load = "[os.write(1, b'x' * (1 << 20)) for _ in range(64)]; import time; time.sleep(600)"
    worker = Worker("loud", plugin(tmp_path, load=load), Limits(load_seconds=300.0))
    try:
        worker.load(sources.resolve("toy_bytes"))
        end = time.monotonic() + 120
        while worker._process is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        log = worker._process._log
        assert cut(lambda: room(log))
    finally:
        worker.close()
