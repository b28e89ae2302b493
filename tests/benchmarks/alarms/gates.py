"""The command line of each kind of run, and the environment that it runs in."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.alarms.plan import PLANTED, SLOW

if TYPE_CHECKING:
    from tests.benchmarks.alarms.plan import Run

ROOT = Path(__file__).parents[3]
PLUGINS = Path(__file__).with_name("plugins.py")
STDIO = ROOT / "impls" / "examples" / "stdio_encoder.py"

OUT = "out"
"""The folder of a run's reports, in the run's own."""

VOCABULARY = "tekken_240911"
"""On which plug-ins are judged: the largest embedded one."""

FUZZED = (VOCABULARY, "mistral_v1", "unigram_nfkc", "toy_bytes")
"""The vocabularies of a fuzz session: of each algorithm a real one, and a small one."""

COMPANIONS = ("tiktoken", "bpe.heap")
"""Beside a planted implementation: a library and one of ours, neither of them to be blamed."""

BUDGETS: dict[str, float | None] = {
    "run": None,
    "plugin": 20.0,
    "stdio": 20.0,
    "fuzz": 60.0,
    **dict.fromkeys(PLANTED, 20.0),
}
"""Seconds given to each kind; the default run has none, as the first command of a user has none."""

TOKGATE = (
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'tokgate'; from harness.cli.application import main; main()",
)
"""The command ``tokgate`` of these sources, wherever it is started."""

CACHES = {
    "NUMBA_CACHE_DIR": "numba",
    "XDG_CACHE_HOME": "xdg",
    "TOKGATE_CACHE_DIR": "tables",
}
"""Environment variables of what is kept from run to run, and their folders in a cold run."""


def command(run: Run, timeout: float, memory: float, expect: Path | None = None) -> list[str]:
    """Return the arguments after ``tokgate`` of a run, which begins in a folder of its own.

    timeout, memory: limits of what hangs or leaks, whose runs are made short by them; the others,
    and the one that is slow and right, have the limits that everybody has. expect: a file that is
    given to each command, if there is one.
    """
    arguments = ["fuzz" if run.kind == "fuzz" else "run"]
    if run.kind in PLANTED:
        arguments += ["--impl", f"mine.py:{PLANTED[run.kind][0]}"]
        for name in COMPANIONS:
            arguments += ["--impl", name]
        if run.kind != SLOW:
            arguments += ["--timeout", f"{timeout:g}", "--memory", f"{memory:g}"]
    elif run.kind == "plugin":
        arguments += ["--impl", "mine.py:Mine", "--impl", "tiktoken"]
    elif run.kind == "stdio":
        program = f"cmd:{shlex.quote(sys.executable)} stdio_encoder.py"
        arguments += ["--impl", program, "--impl", "tiktoken"]
    if run.kind == "fuzz":
        for name in FUZZED:
            arguments += ["--vocab", name]
    elif run.kind != "run":
        arguments += ["--vocab", VOCABULARY, "--reference", "tiktoken"]
    if run.budget is not None:
        arguments += ["--budget", f"{run.budget:g}s"]
    if run.kind != "run":
        arguments += ["--seed", str(run.seed)]
    if expect is not None:
        arguments += ["--expect", str(expect)]
    return [*arguments, "--out", OUT]


def prepare(folder: Path) -> None:
    """Make the folder of a run afresh, with the plug-ins in it as a user's own files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(PLUGINS, folder / "mine.py")
    shutil.copy(STDIO, folder / "stdio_encoder.py")


def environment(run: Run, folder: Path) -> dict[str, str]:
    """Return the environment of a run: these sources, and caches of its own where it is cold."""
    given = dict(os.environ)
    given["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [given.get("PYTHONPATH", "")])])
    given.pop("TOKGATE_LEDGER", None)  # Runs of a benchmark are nobody's history.
    if run.cold:
        given |= {name: str(caches(folder) / inside) for name, inside in CACHES.items()}
    return given


def caches(folder: Path) -> Path:
    """Return the folder of a cold run's caches, which is of no use after it."""
    return folder / "caches"


def tidy(folder: Path, *, keep: bool) -> None:
    """Remove what nobody will look at: the caches, and but for ``keep`` all except the output."""
    shutil.rmtree(caches(folder), ignore_errors=True)
    if not keep:
        shutil.rmtree(folder / OUT, ignore_errors=True)
        for name in ("mine.py", "stdio_encoder.py"):
            (folder / name).unlink(missing_ok=True)
