"""SIGTERM and Ctrl-C end each command alike: reports are written, and nobody is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import psutil
import pytest

from harness.core import interruption
from tests.breadth import thorough_from
from tests.doubles.command import TOKGATE, tokgate

SLUGGISH = """
import os
import time
from impls.bpe.naive import IMPLEMENTATION as NAIVE
from impls.interface import About


class Encoder:
    def __init__(self, right):
        self.right = right

    def encode(self, data, mode):
        time.sleep(float(os.environ["NAP"]))
        ids = list(self.right.encode(data, mode))
        return ids[:-1] if 1 < len(data) < 5 or len(data) > 1000 else ids


class Implementation:
    about = About(name="sluggish", version="1.0")

    def supports(self, vocabulary, mode):
        return NAIVE.supports(vocabulary, mode)

    def load(self, vocabulary):
        return Encoder(NAIVE.load(vocabulary))


IMPLEMENTATION = Implementation()
"""
"""A plug-in that takes so long over each input as ``NAP`` says, and is wrong on some."""


@dataclass(frozen=True)
class Command:
    """A command that would go on for long, with files that show that it is at work.

    arguments: ``{here}`` is a folder of its own, ``{sluggish}`` the plug-in. at_work: a pattern of
    files. written: files that are in the folder in the end.
    """

    arguments: str
    at_work: str
    written: tuple[str, ...]


RUN = ("run.jsonl", "summary.json", "summary.md", "report.html", "junit.xml", "report.sarif")
COMMANDS = {
    "run": Command(
        "run --vocab=toy_bytes --impl={sluggish} --impl=bpe.naive --budget=10m --out={here}",
        "findings/*/input.bin", RUN,
    ),
    "fuzz": Command(
        "fuzz --vocab=toy_bytes --impl=bpe.naive --impl={sluggish} --generator=edge --out={here}",
        "campaign.json", (*RUN, "campaign.json"),
    ),
    "forced": Command(
        "forced own --vocab=tekken_240911 --policy=exact --jobs=1 --out={here}",
        "forced.jsonl", (*RUN, "forced.jsonl"),
    ),
    "adversary": Command(
        "adversary --vocab=toy_merges --jobs=1 --budget=10m --out={here}",
        "adversary.jsonl", ("adversary.jsonl", "trophies.json"),
    ),
    "selftest": Command(
        "selftest --mutant=merging --budget=10m --out={here}",
        "run.jsonl", ("run.jsonl", "selftest.json", "selftest.html"),
    ),
    "worst": Command(
        "worst --impl=bpe.naive --vocab=toy_bytes --size=4KB --budget=10m --no-keep --out={here}",
        "search.db", ("run.jsonl", "search.db", "worst.json", "worst.html"),
    ),
    "field": Command(
        "field --vocab=toy_bytes --impl={sluggish} --budget=10m --no-bench --out={here}",
        "**/run.jsonl", ("field.html", "field.json"),
    ),
    "bench": Command(
        "bench --vocab=toy_bytes --impl={sluggish} --input=tokens --size=1KB --rounds=100000"
        " --mode=raw --out={here}",
        "run.jsonl", ("run.jsonl", "bench.json", "bench.html"),
    ),
    "replay": Command(
        "replay {here}/recorded --trust --out={here}/again",
        "again/run.jsonl", tuple(f"again/{name}" for name in RUN),
    ),
    "minimize": Command(
        "minimize --impl=bpe.naive --impl={sluggish} --vocab=toy_bytes --text={long} --out={here}",
        "run.jsonl", RUN,
    ),
}  # fmt: skip


def wait_until(ready):
    """Wait for it, for two minutes at the most."""
    deadline = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def at_work(command, here):
    """Whether any of its files has something in it."""
    return any(path.is_file() and path.stat().st_size for path in here.glob(command.at_work))


ENDED = [
    ("run", signal.SIGTERM),
    ("run", signal.SIGINT),  # all commands are on one path with this from where it is raised
    *((name, signal.SIGTERM) for name in COMMANDS if name != "run"),
]


# One command is quick; all others are whole processes, too, some of which need long to begin.
@pytest.mark.parametrize(("name", "number"), thorough_from(2, ENDED))
def test_a_signal_ends_each_command(name, number, tmp_path, monkeypatch):
    command, plugin, here = COMMANDS[name], tmp_path / "sluggish.py", tmp_path / "out"
    plugin.write_text(SLUGGISH)
    sluggish = f"{plugin}:IMPLEMENTATION"
    if name == "replay":
        monkeypatch.setenv("NAP", "0")
        recorded = tokgate(
            "minimize", "--impl=bpe.naive", f"--impl={sluggish}", "--vocab=toy_bytes",
            "--text=xy", f"--out={here / 'recorded'}",
        )  # fmt: skip
        assert recorded.returncode == 1, recorded.stderr
    if name == "fuzz":  # what it compiles comes before anything that it could write
        tokgate("fuzz", "--vocab=toy_bytes", "--impl=bpe.naive", "--impl=tiktoken",
                "--budget=20cases", f"--out={tmp_path / 'before'}")  # fmt: skip
    monkeypatch.setenv("NAP", "0.001" if name == "run" else "0.05")
    filled = command.arguments.format(here=here, sluggish=sluggish, long="xyab" * 400)
    with subprocess.Popen(
        [TOKGATE, *filled.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        wait_until(lambda: at_work(command, here) or running.poll() is not None)
        time.sleep(0.5)
        assert running.poll() is None, running.communicate()
        family = psutil.Process(running.pid).children(recursive=True)
        if number == signal.SIGTERM:  # as ``timeout`` does: to its child, and then to the group
            running.send_signal(number)
        os.killpg(running.pid, number)
        said, complaints = running.communicate(timeout=300)
    assert running.returncode == 128 + number, complaints
    assert "Traceback" not in said + complaints
    missing = [name for name in command.written if not (here / name).is_file()]
    assert not missing, complaints
    for path in here.rglob("summary.json"):
        if "recorded" not in path.parts:
            summary = json.loads(path.read_text())
            assert (summary["complete"], summary["exit_status"]) == (False, 128 + number)
            # Nothing is found of those that were only killed.
            assert {one["bucket"].split("/")[-1] for one in summary["findings"]} <= {"sluggish"}
    if name == "run":
        assert "interrupted" in complaints or number == signal.SIGTERM
        assert "incomplete" in (here / "summary.md").read_text().lower()
        assert all(
            (here / "findings" / one["id"] / "input.bin").is_file() for one in summary["findings"]
        )
    if name == "worst":
        assert json.loads((here / "worst.json").read_text())["complete"] is False
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive


def python(code):
    """Run a few lines in a process of their own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_before_anything_is_begun():
    done = python(
        "import os, signal, sys, types; import harness.cli.application as cli\n"
        "from harness.cli.deferred import COMMANDS, MAIN, Row\n"
        "def loading():\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "place = types.SimpleNamespace(command=loading)\n"
        "sys.modules['harness.cli.commands.loading'] = place\n"
        "COMMANDS['loading'] = Row('loading', MAIN, 'Load.')\n"
        "sys.argv = ['tokgate', 'loading']; cli.main()"
    )
    assert done.returncode == interruption.TERMINATED, done.stderr
    assert done.stderr.strip() == "tokgate: terminated"


def test_a_second_one_does_not_break_off_the_reports():
    done = python(
        "import os, signal; from harness.core import interruption\n"
        "interruption.listen()\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "except KeyboardInterrupt as interrupt:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('reports', interruption.exit_status(interrupt))\n"
    )
    assert (done.returncode, done.stdout) == (0, "reports 143\n"), done.stderr
