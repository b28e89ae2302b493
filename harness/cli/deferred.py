"""The commands of ``tokgate``: a row each, and a group that imports a command when it is called.

So the list of commands and an unknown command are shown at once, and each command's file imports
what it needs at its top.
"""

from __future__ import annotations

import gc
import importlib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from harness.cluster.executor import ClusterError

MAIN, TOOLS, RESEARCH = "Main commands", "Tools", "Research"
"""The groups of commands in the help."""


class Deferred(TyperCommand):
    """A row of the table: all that is known of a command before it is called.

    name: also that of its file in ``harness/cli/commands``, where the function ``command`` has its
    options and ``EPILOG`` ends its help. starts_workers: it runs implementations, and so says where
    they cannot be confined. on_cluster: it takes ``--cluster``.
    """

    def __init__(
        self,
        name: str,
        panel: str,
        summary: str,
        *,
        starts_workers: bool = False,
        on_cluster: bool = False,
    ) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel, rich_markup_mode="rich")
        self.starts_workers = starts_workers
        self.on_cluster = on_cluster

    def loaded(self) -> Any:
        """The command itself, with its options."""
        gc.disable()  # it takes a sixth of the time of an import, and there is nothing to collect
        try:
            module = importlib.import_module(f"harness.cli.commands.{self.name}")
        finally:
            gc.enable()
        # Click's own help gives options half of the line; Rich's leaves 20 columns of 80 for words.
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        epilog = getattr(module, "EPILOG", None)
        alone.command(self.name, epilog=epilog)(module.command)
        return typer.main.get_command(alone)

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> Any:
        """Parse the arguments as the command itself does; the context is of that command.

        Raises ClusterError where the command is to run on a cluster, and does not.
        """
        if not self.on_cluster and any(one.split("=", 1)[0] == "--cluster" for one in args):
            others = ", ".join(f"tokgate {one.name}" for one in ROWS if one.on_cluster)
            raise ClusterError(
                f"--cluster: tokgate {self.name} runs on this machine only; these commands can run "
                f"on a cluster: {others}"
            )
        return self.loaded().make_context(info_name, args, *more, **extra)


# fmt: off
ROWS = (
    Deferred("run", MAIN,
             "Compare implementations on generated and hostile inputs.",
             starts_workers=True, on_cluster=True),
    Deferred("prepare", TOOLS,
             "Compile code and build tables, so that later runs start faster.",
             starts_workers=True),
    Deferred("list", TOOLS,
             "List the names that the options of `tokgate run` accept."),
    Deferred("preflight", TOOLS,
             "Check whether a vocabulary is well-formed for its algorithm."),
    Deferred("minimize", TOOLS,
             "Minimize one input on which two implementations differ.",
             starts_workers=True),
    Deferred("replay", MAIN,
             "Run recorded findings again on what is installed now.",
             starts_workers=True),
    Deferred("report", MAIN,
             "Print the report of a recorded run in any format."),
    Deferred("expect", MAIN,
             "Write the findings of a run into an expectations file."),
    Deferred("diff", MAIN,
             "Show what is new, fixed or still there from one run to another."),
    Deferred("fuzz", MAIN,
             "Search for new findings in a campaign that can be continued.",
             starts_workers=True, on_cluster=True),
    Deferred("site", MAIN,
             "Write a static website about all runs in a ledger."),
    Deferred("bench", TOOLS,
             "Measure how fast implementations encode.",
             starts_workers=True),
    Deferred("forced", RESEARCH,
             "Compare policies that heal tokens forced by a JSON Schema.",
             starts_workers=True, on_cluster=True),
    Deferred("adversary", RESEARCH,
             "Search for small grammars on which a policy forces wrong tokens.",
             starts_workers=True),
    Deferred("worst", RESEARCH,
             "Search for the inputs that cost an implementation most.",
             starts_workers=True, on_cluster=True),
    Deferred("field", RESEARCH,
             "Compare all known tokenizer libraries with the reference.",
             starts_workers=True, on_cluster=True),
    Deferred("selftest", TOOLS,
             "Plant mistakes, and see which checks and generators find them.",
             starts_workers=True, on_cluster=True),
)
"""The commands, in the order of the help. The summary is the first sentence of the command's own
docstring, which a test compares."""
# fmt: on

COMMANDS = {row.name or "": row for row in ROWS}


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**(attributes | {"commands": dict(COMMANDS)}))
