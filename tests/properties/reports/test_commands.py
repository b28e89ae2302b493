"""Commands of a report that can be copied, and reproducers, are executed: one of each check.

A run with planted mistakes is made in a folder of its own, with plug-ins named by relative paths;
what its report offers is executed in another folder.
"""

import functools
import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import impls
from reports import findings
from tests.doubles.command import TOKGATE
from tests.properties.reports import records

MINE = """
import os

from impls.interface import About, Capability, Mode
from impls.registry import resolve


class Backwards:
    about = About(name="backwards", version="1.0", capabilities=frozenset({Capability.DECODE}))

    def supports(self, vocabulary, mode):
        return None if not mode.pretokenize else "no pre-tokenization"

    def load(self, vocabulary):
        return Encoder(resolve("bpe.backtracking").load(vocabulary), vocabulary, self.about.name)


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
PROGRAM = Path(impls.__file__).parent / "examples" / "stdio_encoder.py"


@functools.cache
def executed(command, folder):
    """What became of a command, which is executed once: a report offers the same reproducers."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PATH": path},
    )  # fmt: skip


def offered(report):
    """The commands that a button of the report copies."""
    texts = re.findall(r'data-copy="([^"]*)"', report.read_text(encoding="utf-8"))
    commands = dict.fromkeys(html.unescape(one) for one in texts)
    return [one for one in commands if command_of(one).startswith(("python ", "tokgate "))]


def command_of(line):
    """What is run by a line, once it is in the folder where the run was started."""
    return line.rsplit(" && ", maxsplit=1)[-1]


@pytest.mark.first
@pytest.mark.thorough  # a run, and a replay for each check
@pytest.mark.parametrize(
    ("study", "options"),
    [
        ("run", ["--impl=mine.py:Dying", "--impl=mine.py:Lossy", *CHECKS]),
        ("fuzz", ["--check=equivalence", f"--impl=cmd:{sys.executable} ./program.py"]),
    ],
)
def test_every_command_of_a_report_does_what_it_says(study, options, tmp_path):
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    for folder in (there, elsewhere):
        folder.mkdir()
    (there / "mine.py").write_text(MINE)
    (there / "program.py").write_text(PROGRAM.read_text())
    usual = ["--impl=tiktoken", "--impl=mine.py:Backwards", "--vocab=toy_bytes", "--out=out"]
    done = executed((TOKGATE, study, *usual, *options, "--budget=400cases"), there)
    assert done.returncode == 1, done.stdout + done.stderr
    out = there / "out"
    commands, summary = offered(out / "report.html"), out / "summary.json"
    ids = {path.name for path in (out / "findings").iterdir()}
    assert {one.split("/")[-2] for one in commands if "repro.py" in one} <= ids
    checks = {one["id"]: one["check"] for one in json.loads(summary.read_text())["findings"]}
    done_of = {}
    # The run itself comes last: it removes what it finds there.
    for command in sorted(commands, key=lambda one: command_of(one).startswith(f"tokgate {study}")):
        words = command_of(command).split()
        kind = " ".join(words[:2]) if words[0] == "tokgate" else "python"
        check = next((check for name, check in checks.items() if name in command), "")
        # Those of further findings of a check differ in the name alone.
        if done_of.setdefault((kind, check), command) != command:
            continue
        done = executed(("sh", "-c", command), elsewhere)
        # A campaign that goes on may find nothing new.
        allowed = (0, 1) if kind == "tokgate fuzz" else (1,)
        assert done.returncode in allowed, f"{command}\n{done.stdout}{done.stderr}"
    assert {kind for kind, _ in done_of} == {"python", "tokgate replay", f"tokgate {study}"}
    assert {check for kind, check in done_of if kind == "python"} == set(checks.values())


def test_a_replay_needs_trust_for_whoever_takes_part_and_for_what_is_fetched():
    record = records.three()
    bucket = record.buckets[0]

    def command(specs, source="tekken_240911"):
        loaded = [replace(one, source=source) for one in record.vocabularies]
        begun = replace(record.started, specs=specs)
        made = replace(record, vocabularies=loaded, started=begun)
        return findings.replay(bucket.example, made, None)

    here = {"tiktoken": "tiktoken", "tokenizers": "tokenizers"}
    assert not command(here).endswith("--trust")
    assert command({**here, "not-in-the-finding": "cmd:./program"}).endswith("--trust")
    assert command(here, "hf:somebody/something").endswith("--trust")
    assert command(here, "pypi:package#file").endswith("--trust")
