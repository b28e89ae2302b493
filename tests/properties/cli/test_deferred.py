"""Commands that are imported when they are called."""

import pkgutil

import pytest

from harness.cli import commands
from harness.cli.deferred import COMMANDS
from tests.doubles.command import python


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_is_that_of_the_command(name):
    listed = COMMANDS[name]
    command = listed.loaded()
    assert command.name == name
    assert (command.help or "").split("\n\n")[0] == listed.summary
    options = {option for one in command.params for option in one.opts}
    assert ("--cluster" in options) == listed.on_cluster


def test_each_file_is_a_command():
    assert {one.name for one in pkgutil.iter_modules(commands.__path__)} == COMMANDS.keys()


def imported(arguments, modules):
    """Which of these modules a command line has imported when it ends, as a list's text."""
    code = (
        "import sys, harness.cli.application as cli\n"
        f"sys.argv = ['tokgate', *{arguments!r}]\n"
        "try: cli.main()\n"
        f"finally: print([one for one in {modules!r} if one in sys.modules])"
    )
    return python("-c", code).stdout.splitlines()[-1]


@pytest.mark.parametrize("arguments", [["--help"], ["runs"]])
def test_what_names_no_command_imports_none(arguments):
    assert imported(arguments, ("numpy", "numba", "harness.events", "reports")) == "[]"


HEAVY = ("numba", "psutil", "harness.events", "harness.checks", "harness.engine.flow", "reports")
"""What takes long to import, and is there for runs alone."""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--vocab", "x"], ["--impl", "x"]],
)
def test_a_mistake_in_a_run_shows_before_what_runs_is_imported(arguments):
    assert imported(["run", *arguments], HEAVY) == "[]"
