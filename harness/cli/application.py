"""The ``tokgate`` command: options of all commands, errors in one line, and exit statuses."""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import logging
import os
import sys
import traceback
from typing import Annotated, Any

import typer
from rich.text import Text

from corpora.errors import UserError
from harness.cli.deferred import COMMANDS, ROWS, Commands
from harness.cli.display import Display, PlainFormatter
from harness.confinement.plan import CONFINEMENT, CONFINEMENT_OFF
from harness.core import exit_statuses
from harness.core.interruption import Terminated, exit_status, listen
from harness.core.output import NO_ROOM, cannot_write
from impls.errors import ImplementationError

app = typer.Typer(
    name="tokgate",
    cls=Commands,
    invoke_without_command=True,
    rich_markup_mode=None,  # Click's own help gives options half of the line, Rich's 20 columns
    context_settings={"help_option_names": ["-h", "--help"]},
)

UsageError: Any = typer.BadParameter.__base__
"""Click's error for a wrong option or command; recent Typers have a Click of their own."""

SELDOM = (5_000, 10, 10)
"""Python's thresholds for collecting garbage, in place of (700, 10, 10). A run holds vocabularies
of millions of objects and makes few circles; a sixth of its time went into visiting them again and
again. More seldom, what lies in circles would take 200 MiB in a run over a gigabyte of text."""

EVERYWHERE = frozenset({"--debug", "--no-confinement", "--verbose"})
"""Options that every command takes, at any place."""

COMPLETION = "_TOKGATE_COMPLETE"
"""The variable by which a shell asks for the completion of a command line."""

ENOUGH = 1
"""The exit status where nobody reads the output any more."""


def tell_version(wanted: bool) -> None:
    """Print the version and end, where that is wanted."""
    if wanted:
        print(f"tokgate {importlib.metadata.version('tokgate')}")
        raise typer.Exit


@app.callback(
    epilog="""
\b
Every command takes these options, too:
  --verbose         Also show what is compiled and loaded, and expected findings.
  --debug           Show the traceback of an error.
  --no-confinement  Let implementations use the network and write files (see
                    docs/boundary.md).
"""
)
def common(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=tell_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Differential fuzzing and conformance harness for LLM tokenizers."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(exit_statuses.USAGE)
    row = COMMANDS.get(context.invoked_subcommand)
    if row is not None and row.starts_workers and not {"-h", "--help"} & set(sys.argv):
        tell_of_confinement()


def tell_of_confinement() -> None:
    """Say in one line what keeps workers from being confined fully, where anything does."""
    from harness.confinement import plan, probe  # noqa: PLC0415 (for these commands alone)

    line = plan.shortfall(probe.held_here())
    if line is not None:
        Display(stderr=True).print(line, style="dim")


def main() -> None:
    """The entry point: one line for what a user can mend, a traceback only on request."""
    debug = "--debug" in sys.argv  # allowed anywhere, so that it can be added to a failed line
    if "--no-confinement" in sys.argv:
        os.environ[CONFINEMENT] = CONFINEMENT_OFF
    Display.verbose = "--verbose" in sys.argv
    sys.argv = [one for one in sys.argv if one not in EVERYWHERE]
    if debug:
        handler = logging.StreamHandler()
        handler.setFormatter(PlainFormatter(logging.BASIC_FORMAT))
        logging.basicConfig(handlers=[handler])
        logging.getLogger("harness").setLevel(logging.DEBUG)
    gc.set_threshold(*SELDOM)
    listen()
    program = typer.main.get_command(app)
    if COMPLETION in os.environ:
        program.main()
    try:
        try:
            with program.make_context("tokgate", sys.argv[1:]) as context:
                program.invoke(context)
        finally:
            sys.stdout.flush()  # what cannot be written is to be told now, not when Python ends
    except typer.Exit as ended:
        raise SystemExit(ended.exit_code) from None
    except KeyboardInterrupt as interrupt:
        word = "terminated" if isinstance(interrupt, Terminated) else "interrupted"
        fail(word, exit_status(interrupt), debug=debug)
    except BrokenPipeError:  # whoever read the output has had enough
        drop_output()
        raise SystemExit(ENOUGH) from None
    except Exception as error:
        if isinstance(error, OSError):
            drop_output()
        explanation = explained(error)
        if explanation is None:
            raise
        fail(*explanation, debug=debug)
    raise SystemExit(exit_statuses.HOLDS)


def explained(error: Exception) -> tuple[str, int] | None:
    """The one line for an error that a user can mend, and the exit status; None for a defect."""
    if isinstance(error, UserError):
        return str(error), exit_statuses.USAGE
    if isinstance(error, UsageError):
        return usage(error), exit_statuses.USAGE
    if isinstance(error, ImplementationError):
        return str(error), exit_statuses.USAGE if error.unknown else exit_statuses.CANNOT_START
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        where = error.filename or "standard output, or a temporary file"
        return str(cannot_write(where, error)), exit_statuses.USAGE
    return None


def usage(error: Any) -> str:
    """The line for an option or a command that is wrong, or is missing."""
    line = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "tokgate"
    if getattr(error, "option_name", "") == "--cluster":
        others = ", ".join(f"tokgate {one.name}" for one in ROWS if one.on_cluster)
        return (
            f"--cluster: {command} runs on this machine only; these commands can run on a cluster: "
            f"{others}"
        )
    return f"{line} (see {command} --help)"


def drop_output() -> None:
    """Send what is still to be printed nowhere: Python would try again as it ends, and fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def fail(line: str, status: int, *, debug: bool) -> None:
    """Print the one line (and, on request, the traceback) and exit."""
    with contextlib.suppress(OSError):  # where standard error is full, too, the status says it
        console = Display(stderr=True)
        if debug:
            for one in traceback.format_exc().rstrip("\n").split("\n"):
                console.print(one)
        console.print(Text.assemble(("tokgate: ", "bold red"), line))
    raise SystemExit(status)
