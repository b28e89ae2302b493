"""Commands of a report that can be copied, and reproducers, are executed: one of each check.

A run with planted mistakes is made in a folder of its own, with plug-ins named by relative paths;
what its report offers is executed in another folder.
"""

from __future__ import annotations

import functools
import html
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MINE = """
import os

from impls.interface import About, Capability, Mode
from impls.registry import resolve


class Backwards:
    about = About(name="backwards", version="1.0", capabilities=frozenset({Capability.DECODE}))

    def supports(self, vocabulary, mode):
        return None if not mode.pretokenize else "no pre-tokenization"

    def load(self, vocabulary):
        return Encoder(resolve("bpe.plain").load(vocabulary), vocabulary, self.about.name)


class Dying(Backwards):
    about = About(name="dying", version="1.0")


class Lossy(Backwards):
    about = About(name="lossy", version="1.0", capabilities=frozenset({Capability.DECODE}))


class Encoder:
    def __init__(self, right, vocabulary, name):
        self.right, self.vocabulary, self.name = right, vocabulary, name

    def encode(self, data, mode):
        if self.name == "dying" and b"a" in data:
            os._exit(9)
        ids = list(self.right.encode(data, mode))
        return ids[::-1] if self.name == "backwards" else ids

    def decode(self, ids):
        text = self.vocabulary.spell(list(ids))
        return text.replace(b"b", b"?") if self.name == "lossy" else text
"""


CHECKS = [f"--check={name}" for name in ("equivalence", "survival", "round-trip", "offsets")]
TOKGATE = [sys.executable, "-c", "from harness.cli.application import main; main()"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of a run, and another one."""
    there = tmp_path_factory.mktemp("there")
    (there / "mine.py").write_text(MINE)
    planted = [f"--impl=mine.py:{name}" for name in ("Backwards", "Dying", "Lossy")]
    vocabulary = ["--vocab=toy_bytes", "--budget=400cases"]
    command = ["run", "--impl=tiktoken", *planted, *vocabulary, *CHECKS]
    done = executed((*TOKGATE, *command, "--out=out"), there)
    assert done.returncode == 1, done.stdout + done.stderr
    return there / "out", tmp_path_factory.mktemp("elsewhere")


@functools.cache
def executed(command: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """What became of a command, which is executed once: a report offers the same reproducers."""
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A path for a shell that finds ``tokgate`` and ``python`` where they are installed."""
    folder = tmp_path_factory.mktemp("bin")
    for name, words in {"python": TOKGATE[:1], "tokgate": TOKGATE}.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def offered(report: Path) -> list[str]:
    """The commands that a button of the report copies."""
    texts = re.findall(r'data-copy="([^"]*)"', report.read_text(encoding="utf-8"))
    commands = dict.fromkeys(html.unescape(one) for one in texts)
    return [one for one in commands if command_of(one).startswith(("python ", "tokgate "))]


def command_of(line: str) -> str:
    """What is run by a line, once it is in the folder where the run was started."""
    return line.rsplit(" && ", maxsplit=1)[-1]


@pytest.mark.first
@pytest.mark.thorough  # a run, and a replay for each check
def test_every_command_of_a_report_does_what_it_says(
    folders: tuple[Path, Path], shell: str
) -> None:
    out, elsewhere = folders
    commands, summary = offered(out / "report.html"), out / "summary.json"
    ids = {path.name for path in (out / "findings").iterdir()}
    assert {one.split("/")[-2] for one in commands if "repro.py" in one} <= ids
    assert len([one for one in commands if "repro.py" in one]) >= 3
    checks = {one["id"]: one["check"] for one in json.loads(summary.read_text())["findings"]}
    done_of: dict[tuple[str, str], str] = {}
    # The run itself comes last: it removes what it finds there.
    for command in sorted(commands, key=lambda one: command_of(one).startswith("tokgate run")):
        words = command_of(command).split()
        kind = " ".join(words[:2]) if words[0] == "tokgate" else "python"
        check = next((check for name, check in checks.items() if name in command), "")
        # Those of further findings of a check differ in the name alone.
        if done_of.setdefault((kind, check), command) != command:
            continue
        done = executed(("env", f"PATH={shell}", "sh", "-c", command), elsewhere)
        assert done.returncode == 1, f"{command}\n{done.stdout}{done.stderr}"
    assert {kind for kind, _ in done_of} == {"python", "tokgate replay", "tokgate run"}
    assert {check for kind, check in done_of if kind == "python"} == set(checks.values())
