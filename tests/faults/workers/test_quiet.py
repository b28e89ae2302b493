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
from tests.breadth import thorough
from tests.doubles.command import tokgate

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


@pytest.mark.parametrize("shown", [False, thorough(True)])
def test_what_a_plug_in_prints_is_shown_on_request_alone_and_made_plain(shown, tmp_path):
    done = run(plugin(tmp_path), tmp_path, *(["--debug"] if shown else []))
    assert done.returncode == 0, done.stderr
    assert "PASSED" in done.stderr
    assert all((said in done.stdout + done.stderr) is shown for said in SAID)
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
    printed = loaded.error.partition("Its last output:")[2]
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


def test_a_process_that_stays_does_not_hold_it_up():
    with aside():
        stays = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    stays.kill()
    stays.wait()


def test_nothing_stays_open(capfd):
    gc.collect()  # what other tests have left open is closed before the descriptors are counted
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with aside():
            print("x")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


FLOOD = """
import os, time
for _ in range(64):
    os.write(2, b"x" * (1 << 20))
while True:
    os.write(2, b"the end")
    time.sleep(0.1)
"""


def soon(ready):
    """Wait for it; the limit is for hangs."""
    end = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_cut_while_it_is_written(log):
    """A log of 64 MiB is cut while its writer is still at it."""
    soon(lambda: room(log) >= LOG_TAIL)
    soon(lambda: room(log) <= LONGEST_LOG and log_tail(log).endswith("the end"))


def test_the_log_of_a_program_is_cut_while_it_writes(tmp_path):
    path = tmp_path / "flood.py"
    path.write_text(FLOOD)
    program = Program(f"{sys.executable} {path}")
    try:
        is_cut_while_it_is_written(program._log)
    finally:
        program.end()


def test_the_log_of_a_worker_is_cut_while_it_writes(tmp_path):
    spec = plugin(tmp_path, load=f"exec({FLOOD!r})")
    worker = Worker("loud", spec, Limits(load_seconds=300.0))
    try:
        worker.load(sources.resolve("toy_bytes"))
        soon(lambda: worker._process is not None)
        is_cut_while_it_is_written(worker._process._log)
    finally:
        worker.close()
