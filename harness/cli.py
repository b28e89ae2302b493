"""The ``tokgate`` command: its subcommands (``commands/``, one file each) and its exit statuses."""

from __future__ import annotations

import logging
import sys

import typer
from rich.console import Console
from rich.text import Text

from corpora.families.user import FamiliesError
from corpora.vocabularies.model import VocabularyError
from harness import gate
from harness.commands import (
    adversary,
    again,
    bench,
    diff,
    field,
    forced,
    fuzz,
    look,
    report,
    run,
    selftest,
    worst,
)
from harness.expectations import ExpectationsError
from harness.selection import SelectionError
from harness.store import OutputError
from impls.registry import ImplementationError

USERS = (VocabularyError, FamiliesError, SelectionError, ExpectationsError, OutputError)
"""What a user can mend; each is one line."""

app = typer.Typer(
    name="tokgate",
    help="Differential fuzzing and conformance harness for LLM tokenizers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(epilog="Add --debug to any command to see the traceback behind an error.")
def common() -> None:
    """Differential fuzzing and conformance harness for LLM tokenizers."""


app.command(epilog=run.EPILOG)(run.run)
app.command("list")(look.list_)
app.command()(look.preflight)
app.command(epilog=again.EPILOG)(again.minimize)
app.command(epilog=again.EPILOG)(again.replay)
app.command()(report.report)
app.command(epilog=diff.EPILOG)(diff.diff)
app.command(epilog=fuzz.EPILOG)(fuzz.fuzz)
app.command(epilog=bench.EPILOG)(bench.bench)
app.command(epilog=forced.EPILOG)(forced.forced)
app.command(epilog=adversary.EPILOG)(adversary.adversary)
app.command(epilog=worst.EPILOG)(worst.worst)
app.command(epilog=field.EPILOG)(field.field)
app.command(epilog=selftest.EPILOG)(selftest.selftest)


def main() -> None:
    """The entry point: one line for what a user can mend, a traceback only on request."""
    debug = "--debug" in sys.argv  # allowed anywhere, so that it can be added to a failed line
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    if debug:
        logging.basicConfig()
        logging.getLogger("harness").setLevel(logging.DEBUG)
    try:
        app()
    except (
        VocabularyError,
        FamiliesError,
        SelectionError,
        ExpectationsError,
        OutputError,
    ) as error:
        fail(str(error), gate.USAGE, debug=debug)
    except ImplementationError as error:
        fail(str(error), gate.USAGE if error.unknown else gate.CANNOT_START, debug=debug)
    except KeyboardInterrupt:
        fail("interrupted", gate.INTERRUPTED, debug=debug)


def fail(line: str, status: int, *, debug: bool) -> None:
    """Print the one line (and, on request, the traceback) and exit."""
    if debug:
        Console(stderr=True).print_exception()
    Console(stderr=True, highlight=False).print(
        Text.assemble(("tokgate: ", "bold red"), line), soft_wrap=True
    )
    raise SystemExit(status)
