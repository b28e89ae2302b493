"""One command run to its end beside busy processes, and looked at from outside while it runs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from harness.events import Event, read_events
from impls.external import die_with_parent
from tests.benchmarks.alarms import gates
from tests.benchmarks.alarms.judging import Ended, Judged, judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.benchmarks.alarms.plan import Run

POLL_SECONDS = 0.05
"""Between two looks at what a run has written: far below what a budget is held to."""

END_SECONDS = 20.0
"""For which a run that is ended may go on to write its reports, before it is killed."""

BUSY = (
    "import ctypes, os, sys\n"
    "ctypes.CDLL(None).prctl(1, 9)\n"  # PR_SET_PDEATHSIG: it dies with the benchmark, however.
    "if os.getppid() != int(sys.argv[1]): sys.exit()\n"
    "while True: pass\n"
)

FIRST = ("checking ", "fuzzing ")
"""How the phases begin in which cases are compared."""


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that do nothing but take a processor, for as long as the block lasts."""
    with contextlib.ExitStack() as ending:
        for _ in range(count):
            one = subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())])
            ending.callback(
                one.wait
            )  # Callbacks are made in reverse: it is killed, then waited for.
            ending.callback(one.kill)
        yield


class Watch:
    """Sees from what a run writes when its first case and its verdict came.

    ``tokgate run`` writes its record as it goes. ``tokgate fuzz`` writes it at the end; its rounds
    go into a database, with the seconds that each took.
    """

    def __init__(self, folder: Path) -> None:
        self._record = folder / gates.OUT / "run.jsonl"
        self._campaign = folder / gates.OUT / "campaign.db"
        self._file = self._read = 0
        self.first_case: float | None = None
        self.verdict: float | None = None

    def look(self, now: float) -> None:
        """Take note of what is new; ``now`` in seconds after the start."""
        lines = self._lines()
        if any(raw.get("event") == "Finished" for raw in lines):
            self.verdict = now
        elif self.first_case is None and any(map(is_comparing, lines)):
            # A record that comes with its end says nothing of when its first case was.
            self.first_case = now
        if self.first_case is None and self._campaign.exists():
            spent = self._round()
            if spent:
                self.first_case = max(0.0, now - spent)

    def _lines(self) -> list[dict[str, object]]:
        try:
            with self._record.open("rb") as record:
                file = os.fstat(record.fileno()).st_ino
                if file != self._file:  # A record that is written at once is written anew.
                    self._file, self._read = file, 0
                record.seek(self._read)
                text = record.read()
        except OSError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def _round(self) -> float:
        """Seconds of the rounds committed so far; 0 where that cannot be known."""
        try:
            with contextlib.closing(
                sqlite3.connect(f"file:{self._campaign}?mode=ro", uri=True, timeout=0)
            ) as database:
                (spent,) = database.execute("SELECT max(seconds) FROM campaigns").fetchone()
        except sqlite3.Error:  # It is being made, or written to: the next look will tell.
            return 0.0
        return float(spent or 0.0)


def is_comparing(raw: dict[str, object]) -> bool:
    """Return whether a line of a record says that cases are being compared."""
    phase = raw.get("event") == "Phase" and str(raw.get("text", "")).startswith(FIRST)
    return phase or raw.get("event") == "BatchDone"


def watched(
    arguments: Sequence[str], folder: Path, environment: dict[str, str], guard: float
) -> Ended:
    """Run ``tokgate`` with these arguments in ``folder``; kill it after ``guard`` seconds.

    What it prints goes to ``output.txt``. Where this process is interrupted, so is the command,
    and the interruption goes on.
    """
    path = folder / "output.txt"
    watch = Watch(folder)
    with path.open("wb") as output:
        started = time.monotonic()
        # A session of its own: Ctrl-C reaches it once, from here.
        process = subprocess.Popen(
            [*gates.TOKGATE, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - this process has one thread
        )
        killed = False
        try:
            while process.poll() is None:
                time.sleep(POLL_SECONDS)
                now = time.monotonic() - started
                watch.look(now)
                if now > guard:
                    killed = True
                    break
        finally:
            seconds = time.monotonic() - started
            end(process)
    watch.look(seconds)
    text = path.read_text(encoding="utf-8", errors="replace")
    status = None if killed else process.returncode
    return Ended(status, seconds, watch.first_case, watch.verdict, text)


def end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a command that is still on, and kill it where that does not end it."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # Its workers ask the kernel to die with it.
        process.wait()


def carry_out(run: Run, arguments: Sequence[str], folder: Path, guard: float) -> Judged:
    """Make one run of the plan in ``folder``, and judge its record."""
    gates.prepare(folder)
    with busy(run.load):
        ended = watched(arguments, folder, gates.environment(run, folder), guard)
    return judged(events(folder), ended)


def events(folder: Path) -> list[Event]:
    """Return the events of a run's record; none where the command came to none."""
    path = folder / gates.OUT / "run.jsonl"
    return list(read_events(path)) if path.exists() else []
