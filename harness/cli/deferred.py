"""The commands of ``tokgate`` by name: each is imported when it is called, and no sooner.

So the list of commands and an unknown command are shown at once, and each command's file imports
what it needs at its top.
"""

from __future__ import annotations

import gc
import importlib
import inspect
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

MAIN, TOOLS, RESEARCH = "Main commands", "Tools", "Research"
"""The groups of commands in the help."""

COMMANDS_ROOM = "harness.cli.commands"


class Deferred(TyperCommand):
    """A command of which name, group and summary are known, and no more until it is called.

    place: the module in ``harness/cli/commands``, and its function where that is not called as
    the module is, as ``look.list_``. The module's ``EPILOG`` ends the command's help.
    """

    def __init__(self, name: str, place: str, panel: str, summary: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel, rich_markup_mode="rich")
        self.place = place

    def loaded(self) -> Any:
        """The command itself, with its options."""
        module_name, _, function = self.place.partition(".")
        gc.disable()  # it takes a sixth of the time of an import, and there is nothing to collect
        try:
            module = importlib.import_module(f"{COMMANDS_ROOM}.{module_name}")
        finally:
            gc.enable()
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        epilog = getattr(module, "EPILOG", None)
        called = getattr(module, function or module_name)
        alone.command(self.name, help=flowing(called.__doc__), epilog=epilog)(called)
        return typer.main.get_command(alone)

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the arguments as the command itself does; the context is of that command."""
        return self.loaded().make_context(*arguments, **options)


def flowing(docstring: str | None) -> str:
    """Its paragraphs, each one line: Rich keeps line ends, and the terminal has its own width.

    Python strips docstrings where it is told to (``-OO``).
    """
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


# fmt: off
ROWS = (
    ("run", "run", MAIN,
     "Compare implementations on generated and hostile inputs: the main job."),
    ("prepare", "prepare", TOOLS,
     "Compile what runs need and build the tables of vocabularies, once for all later runs."),
    ("list", "look.list_", TOOLS,
     "List what there is: names to use with the options of `tokgate run`."),
    ("preflight", "look.preflight", TOOLS,
     "Say what makes a vocabulary improper for an algorithm."),
    ("minimize", "again.minimize", TOOLS,
     "Minimise one input on which two implementations differ."),
    ("replay", "again.replay", MAIN,
     "Run recorded findings again, on today's implementations."),
    ("report", "report", MAIN,
     "Print a report of a recorded run, in another format or of an interrupted run."),
    ("expect", "expect", MAIN,
     "Write what a run found into an expectations file, with reasons to fill in."),
    ("diff", "diff", MAIN,
     "Say what is new, fixed, still there, and not observed from one run to another."),
    ("fuzz", "fuzz", MAIN,
     "Fuzz: generators chosen by what they still yield, inputs kept that show something new."),
    ("site", "site", MAIN,
     "Write a static site of all runs in a ledger: libraries, vocabularies, defects, trends."),
    ("bench", "bench", TOOLS,
     "Measure how fast implementations encode, interleaved, cold and warm apart."),
    ("forced", "forced", RESEARCH,
     "Compare how grammars' forced tokens are healed, on JSON Schemas with instances."),
    ("adversary", "adversary", RESEARCH,
     "Search for grammars of two sentences on which forced tokens are wrong, the deepest first."),
    ("worst", "worst", RESEARCH,
     "Search for inputs that cost an implementation the most, or bring it down."),
    ("field", "field", RESEARCH,
     "Run every tokenizer of the field against the reference, and write who agrees on what."),
    ("selftest", "selftest", TOOLS,
     "Measure detection: plant mistakes, and see which checks and generators catch them."),
)
"""Name, place, group and summary of each command, in the order of the help. The summary is the
first sentence of the command's own docstring, which a test compares."""
# fmt: on

COMMANDS = {row[0]: Deferred(*row) for row in ROWS}


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**(attributes | {"commands": dict(COMMANDS)}))
