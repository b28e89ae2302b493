"""The commands of ``tokgate``: a row each, and a group that imports a command when it is called.

So the list of commands and an unknown command are shown at once, and each command's file imports
what it needs at its top.
"""

from __future__ import annotations

import functools
import gc
import importlib
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from harness.core.exit_statuses import HOLDS

MAIN, TOOLS, RESEARCH = "Main commands", "Tools", "Research"
"""The groups of commands in the help."""


@dataclass(frozen=True)
class Row:
    """All that is known of a command before it is called.

    name: also that of its file in ``harness/cli/commands``, where the function ``command`` has its
    options and gives the exit status, ``EPILOG`` ends its help, and ``KIND`` is the class of the
    command, if it is a special one. starts_workers: it runs implementations, and so says where they
    cannot be confined. on_cluster: it takes ``--cluster``.
    """

    name: str
    panel: str
    summary: str
    starts_workers: bool = False
    on_cluster: bool = False

    def loaded(self) -> Any:
        """The command itself, with its options."""
        gc.disable()  # it takes a sixth of the time of an import, and there is nothing to collect
        try:
            module = importlib.import_module(f"harness.cli.commands.{self.name}")
        finally:
            gc.enable()

        @functools.wraps(module.command)
        def command(**options: Any) -> None:
            raise typer.Exit(module.command(**options) or HOLDS)

        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        kind = getattr(module, "KIND", None)
        alone.command(self.name, cls=kind, epilog=getattr(module, "EPILOG", None))(command)
        return typer.main.get_command(alone)


# fmt: off
ROWS = (
    Row("run", MAIN,
        "Compare implementations on generated and hostile inputs.",
        starts_workers=True, on_cluster=True),
    Row("check", MAIN,
        "Check one implementation on one vocabulary in half a minute.",
        starts_workers=True),
    Row("init", MAIN,
        "Set up a repository: a CI workflow, options, and known differences.",
        starts_workers=True),
    Row("compare", MAIN,
        "Compare two vocabularies that should mean the same.",
        starts_workers=True),
    Row("prove", MAIN,
        "Prove that two vocabularies tokenize every text alike, or show where not.",
        starts_workers=True),
    Row("certify", MAIN,
        "Check that ids in files are the encodings of their texts."),
    Row("vectors", MAIN,
        "Write test vectors that find mistakes in any language, without tokgate."),
    Row("prepare", TOOLS,
        "Compile code and build tables, so that later runs start faster.",
        starts_workers=True),
    Row("list", TOOLS,
        "List the names that the options of `tokgate run` accept."),
    Row("preflight", TOOLS,
        "Check whether a vocabulary is well-formed for its algorithm."),
    Row("minimize", TOOLS,
        "Minimize one input on which two implementations differ.",
        starts_workers=True),
    Row("replay", MAIN,
        "Run recorded findings again on what is installed now.",
        starts_workers=True),
    Row("report", MAIN,
        "Print the report of a recorded run in any format."),
    Row("expect", MAIN,
        "Write the findings of a run into an expectations file."),
    Row("diff", MAIN,
        "Show what is new, fixed or still there from one run to another."),
    Row("fuzz", MAIN,
        "Search for new findings in a campaign that can be continued.",
        starts_workers=True, on_cluster=True),
    Row("site", MAIN,
        "Write a static website about all runs in a ledger."),
    Row("bench", TOOLS,
        "Measure how fast implementations encode.",
        starts_workers=True),
    Row("forced", RESEARCH,
        "Compare policies that heal tokens forced by a JSON Schema.",
        starts_workers=True, on_cluster=True),
    Row("adversary", RESEARCH,
        "Search for small grammars on which a policy forces wrong tokens.",
        starts_workers=True),
    Row("worst", RESEARCH,
        "Search for the inputs that cost an implementation most.",
        starts_workers=True, on_cluster=True),
    Row("field", RESEARCH,
        "Compare all known tokenizer libraries with the reference.",
        starts_workers=True, on_cluster=True),
    Row("selftest", TOOLS,
        "Plant mistakes, and see which checks and generators find them.",
        starts_workers=True, on_cluster=True),
)
"""The commands, in the order of the help. The summary is the first sentence of the command's own
docstring, which a test compares."""
# fmt: on

COMMANDS = {row.name: row for row in ROWS}


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**(attributes | {"commands": COMMANDS}))

    def get_command(self, context: Any, name: str) -> Any:
        """The command of a name, which is imported only now; None where there is none."""
        return COMMANDS[name].loaded() if name in COMMANDS else None

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the commands with their summaries, group by group."""
        for panel in (MAIN, TOOLS, RESEARCH):
            with formatter.section(panel):
                formatter.write_dl([(row.name, row.summary) for row in ROWS if row.panel == panel])
