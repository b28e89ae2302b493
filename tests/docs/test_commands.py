"""Commands of README and docs are parsed by the command line itself, and the quick ones are run."""

import re
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from harness.cli.application import app
from harness.cli.deferred import COMMANDS
from tests.docs.pages import CODE, ROOT, Command, commands, pages, prose

UNPARSED = frozenset({"--debug", "--no-confinement", "--verbose"})
"""Options that ``main`` takes out before the command line is parsed."""

NOT_OURS = frozenset({"--serve", "--state", "--user", "--tokgate-vocab"})
"""Options of other programs that pages name."""

QUICK = ("list", "--help")
"""Commands that answer at once, by their first word."""

EVERY = [one for page, text in pages().items() for one in commands(page, text)]
"""All commands of all pages."""


def fault(command):
    """What the command line says against a command; None, where it would be run."""
    group = typer.main.get_command(app)
    words = [word for word in command.words if word not in UNPARSED]
    # `tokgate fuzz --input ..` in a sentence says that there is more.
    words = [word for word in words if command.whole or word not in ("..", "...")]
    trailing = bool(command.words) and command.words[-1] == ".." and not command.whole
    if trailing:
        words.append("x")
    try:
        with group.make_context("tokgate", words[:1], resilient_parsing=True) as context:
            name, chosen, _ = group.resolve_command(context, words[:1])
            chosen.make_context(name, words[1:], parent=context).close()
    except Exception as error:
        told = getattr(error, "message", str(error)) or type(error).__name__
        absent = type(error).__name__ == "MissingParameter"
        return None if absent and not command.whole else f"{command.place}: {told}"
    except SystemExit:  # --help
        return None
    return None


def known_options():
    """All options of all commands."""
    found = set(UNPARSED | NOT_OURS)
    for one in COMMANDS.values():
        for parameter in one.loaded().params:
            found.update((*parameter.opts, *parameter.secondary_opts))
    return found


def named_options():
    """Each option in the sentences of a page, with the page."""
    for page, text in pages().items():
        for code in CODE.findall(prose(text)):
            # Environment assignments and other programs' lines are told by their first word.
            if code.split()[0] in (
                "make",
                "pip",
                "python",
                "systemd-run",
                "towncrier",
                "git",
                "uv",
                "uvx",
                "pipx",
                "env",
            ):
                continue
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", code):
                yield page, option


def test_commands_are_those_of_the_command_line():
    assert [told for told in map(fault, EVERY) if told is not None] == []


@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("run", "--vocabs", "x"),
        ("list", "everything"),
        ("run", "--budget"),
        ("minimize",),
    ],
)
def test_what_the_command_line_refuses_is_seen(words):
    assert fault(Command("here:1", words, True))


def test_options_are_those_of_the_command_line():
    known = known_options()
    named = list(named_options())
    assert len(named) > 10
    assert [f"{page}: {option}" for page, option in named if option not in known] == []


QUICK_ONES = sorted({one.words for one in EVERY if one.whole and one.words[0] in QUICK})


@pytest.mark.parametrize("words", QUICK_ONES, ids=" ".join)
def test_quick_commands_run(words):
    start = "from harness.cli.application import main; main()"
    line = [sys.executable, "-c", start, *words]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_only_what_may_be_repeated_is_said_to_be():
    wrong = []
    for name, command in COMMANDS.items():
        for parameter in command.loaded().params:
            said = getattr(parameter, "help", None) or ""
            several = getattr(parameter, "multiple", False) or parameter.nargs == -1
            # One is asked for, and several are refused by the command itself.
            several = several and not said.startswith("Exactly one")
            if ("May be repeated" in said) != several:
                wrong.append(f"{name} {parameter.opts}")
    assert wrong == []


@pytest.mark.parametrize("kind", ["impls", "vocabs", "checks", "generators", "families"])
def test_a_list_never_breaks_a_name(kind, monkeypatch):
    from harness.cli.commands.list import rows

    monkeypatch.setenv("COLUMNS", "40")
    done = CliRunner().invoke(app, ["list", kind])
    assert done.exit_code == 0
    words = set(done.stdout.split())
    names = [str(row["name"]) for row in rows(kind)]
    assert names
    assert [name for name in names if name not in words] == []
