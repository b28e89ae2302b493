"""The installed command, as a user runs it."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import application as cli

TOKGATE = str(Path(sys.executable).with_name("tokgate"))
ROOT = Path(__file__).parents[2]


def tokgate(*arguments, seconds=600, folder=None):
    """Run ``tokgate`` with these arguments in ``folder``; it must end within ``seconds``."""
    return subprocess.run(
        [TOKGATE, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=folder,
    )


def here(*arguments, folder=None):
    """Run ``tokgate`` in this process, for what ends before any work begins.

    That takes a hundredth of the time that a process of its own takes to import all.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    argv, cwd, handler = sys.argv, Path.cwd(), signal.getsignal(signal.SIGTERM)
    try:
        sys.argv = ["tokgate", *arguments]
        os.chdir(folder or cwd)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as ended,
        ):
            cli.main()
    finally:
        sys.argv = argv
        os.chdir(cwd)
        signal.signal(signal.SIGTERM, handler)
    status = int(ended.value.code or 0)
    said, complaints = (one.buffer.getvalue().decode() for one in (out, err))
    return subprocess.CompletedProcess(arguments, status, said, complaints)


def python(*arguments, folder=ROOT, seconds=300, **environment):
    """Run Python with these arguments, which finds our packages wherever it is started."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=folder,
        env=given, timeout=seconds,
    )  # fmt: skip


def summary(folder):
    """The ``summary.json`` of a run."""
    return dict(json.loads((folder / "summary.json").read_text()))


def record(folder, *kinds):
    """The events of a run's record, of these kinds or of all."""
    every = map(json.loads, (folder / "run.jsonl").read_text().splitlines())
    return [one for one in every if not kinds or one["event"] in kinds]
