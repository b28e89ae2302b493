"""Each command that a report offers to copy works as it stands, in the folder of the run."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reports import findings
from tests.harness.command import tokgate
from tests.reports import records

ROOT = Path(__file__).parents[2]

MINE = """
from harness.studies.selftest.plain.bpe import PlainBpe

class Mine(PlainBpe):
    name = "mine"
    modes = ("raw",)

    def encode(self, data, mode):
        ids = super().encode(data, mode)
        return ids[:-1] if b"q" in data else ids
"""
PROGRAM = (ROOT / "impls" / "examples" / "stdio_encoder.py").read_text()


def offered(folder: Path) -> list[str]:
    """The commands of a report, as a reader copies them."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    found = re.findall(r'<code class="command">(.*?)</code>', page, re.DOTALL)
    return list(dict.fromkeys(html.unescape(re.sub("<.*?>", "", one)) for one in found))


def status(command: str, folder: Path) -> tuple[int, str]:
    """The exit status of a command in a shell that has this Python first."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PATH": path},
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.thorough  # a campaign: of a run, tests/reports/test_commands.py has each
def test_each_command_of_a_report_works_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "program.py").write_text(PROGRAM)
    implementations = ["bpe.heap", "./mine.py:Mine", f"cmd:{sys.executable} ./program.py"]
    options = [f"--impl={one}" for one in implementations]
    options += ["--vocab=toy_bytes", "--check=equivalence", "--budget=300cases", "--out=out"]
    made = tokgate("fuzz", *options, folder=tmp_path)
    assert made.returncode == 1, made.stderr
    commands = offered(tmp_path / "out")
    assert any("tokgate replay" in one and "--trust" in one for one in commands)
    assert any("repro.py" in one for one in commands)
    assert any("tokgate fuzz" in one for one in commands)
    for command in commands:
        code, said = status(command, tmp_path / "out")
        assert code in (0, 1), f"{command}: {code}: {said}"


def test_a_replay_needs_trust_for_whoever_takes_part_and_for_what_is_fetched() -> None:
    record = records.three()
    assert record.started is not None
    bucket = record.buckets[0]

    def command(specs: dict[str, str], source: str = "tekken_240911") -> str:
        loaded = [replace(one, source=source) for one in record.vocabularies]
        begun = replace(record.started, specs=specs)  # type: ignore[type-var]
        made = replace(record, vocabularies=loaded, started=begun)
        return findings.replay(bucket.example, made, None)

    here = {"tiktoken": "tiktoken", "tokenizers": "tokenizers"}
    assert not command(here).endswith("--trust")
    assert command({**here, "not-in-the-finding": "cmd:./program"}).endswith("--trust")
    assert command(here, "hf:somebody/something").endswith("--trust")
    assert command(here, "pypi:package#file").endswith("--trust")
