"""Commands that are imported when they are called."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.cli.deferred import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_is_that_of_the_command(name: str) -> None:
    listed = COMMANDS[name]
    command = listed.loaded()
    assert command.name == name
    first, _, _ = (command.help or "").partition("\n\n")
    assert " ".join(first.split()) == listed.help


@pytest.mark.parametrize("arguments", [["--help"], ["runs"], ["--version"]])
def test_what_names_no_command_imports_none(arguments: list[str]) -> None:
    code = (
        "import sys, harness.cli.application as cli\n"
        f"sys.argv = ['tokgate', *{arguments!r}]\n"
        "try: cli.main()\n"
        "finally: print([one for one in ('numpy', 'numba', 'harness.events', 'reports')"
        " if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_mistake_in_the_options_is_told_by_the_command_itself() -> None:
    code = "from harness.cli.application import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "--vocabs", "x"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert "No such option: --vocabs" in done.stderr
