"""The log of a worker stays short, also while nothing is asked of the worker."""

from __future__ import annotations

import os
import time
from pathlib import Path

from corpora.vocabularies import sources
from harness.core.messages import Load, Loaded, packed
from harness.workers import logs
from harness.workers.process import Process
from impls.interface import Mode
from impls.standard_error import LONGEST_LOG, log_file, log_tail, room

HANG_SECONDS = 120
"""After so long a test has hung; nothing that is tested takes any part of it."""

PLUGIN = f"""
import os, threading
from impls.interface import About

def pour():
    idle.wait()
    for _ in range({5 * LONGEST_LOG >> 16}):
        os.write(2, b"." * (1 << 16))
    os.write(2, b"poured out")

idle = threading.Event()

class Pouring:
    about = About(name="pouring", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary):
        threading.Thread(target=pour, daemon=True).start()
        threading.Timer(0.5, idle.set).start()  # by then it is most likely loaded
        return self
    def encode(self, data, mode): return list(data)
"""


def test_the_log_of_an_idle_worker_is_cut(tmp_path: Path) -> None:
    (tmp_path / "pouring.py").write_text(PLUGIN)
    spec = f"{tmp_path / 'pouring.py'}:Pouring"
    process = Process("harness.workers.server", 1 << 32, others=spec)
    try:
        content = packed(sources.resolve("toy_bytes"))
        process.ask(Load(spec, content, (Mode(pretokenize=False),)), 60.0, Loaded)
        log = process._log
        end = time.monotonic() + HANG_SECONDS
        while time.monotonic() < end:  # nothing is asked from now on
            if log_tail(log).endswith("poured out") and room(log) <= LONGEST_LOG:
                break
            time.sleep(0.05)
        assert log_tail(log).endswith("poured out")
        assert room(log) <= LONGEST_LOG
    finally:
        process.close()


def test_what_is_forgotten_is_not_touched(tmp_path: Path) -> None:
    # Its descriptor may be another file's by now.
    with log_file() as forgotten, log_file() as watched:
        for log in (forgotten, watched):
            logs.watch(log)
        logs.forget(forgotten)
        for log in (forgotten, watched):
            os.write(log.fileno(), b"." * (2 * LONGEST_LOG))
        end = time.monotonic() + HANG_SECONDS
        while room(watched) > LONGEST_LOG and time.monotonic() < end:
            time.sleep(0.05)
        logs.forget(watched)
        assert room(watched) <= LONGEST_LOG
        assert room(forgotten) >= 2 * LONGEST_LOG
