"""``tokgate selftest``: what the checks and generators catch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from harness.commands.common import Seed, command_line
from harness.store import OutputError

if TYPE_CHECKING:
    from harness.events import Event

EPILOG = """
A mistake by itself: tokgate run --impl harness.selftest.mutants.merging:RightmostTie --impl
tiktoken --vocab toy_runs. Exit status: 0 every mistake is caught under its name, and nothing is
found of what is right; 1 not so; 2 usage or input error; 3 it broke off; 130 interrupted, what was
hunted till then is written.
"""


def selftest(
    budget: Annotated[
        str | None, typer.Option(help="Time for everything, 5m, 90s (default: that of suite ci).")
    ] = None,
    mutant: Annotated[
        list[str] | None,
        typer.Option("--mutant", "-m", help="A family, or names (merging.*). May be repeated."),
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(min=0, help="Campaigns side by side; 0: by the cores.")] = 0,
    out: Annotated[
        Path, typer.Option(help="Folder that receives selftest.json, selftest.html.")
    ] = Path("tokgate-selftest"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print selftest.json, no tables.")
    ] = False,
) -> None:
    """Measure detection: plant mistakes, and see which checks and generators catch them.

    Over a hundred implementations with one thing wrong each are run against the references, as
    candidates of campaigns with the settings of the suite ci. The report says for each generator
    and check which mistakes it catches and how fast, and names what escapes.
    """
    from harness.selftest.progress import SelftestProgress  # noqa: PLC0415
    from harness.selftest.run import Selftest, make_plan  # noqa: PLC0415
    from reports import selftest_text, write_selftest  # noqa: PLC0415
    from reports.selftest import SelftestRecord  # noqa: PLC0415

    plan = make_plan(mutant or [], budget, seed, jobs, command_line())
    console = Console(stderr=True, highlight=False)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"--out {out}: {error.strerror}; name a writable folder") from error
    record = SelftestRecord()
    progress = SelftestProgress(console, len(plan.mistakes))

    def emit(event: Event) -> None:
        record.consume(event)
        progress.consume(event)

    try:
        finished = Selftest(plan, emit).run()
    finally:
        progress.stop()
    write_selftest(record, out)
    if as_json:
        print(record.to_json())
    else:
        shown = Console(highlight=False)
        for part in selftest_text.render(record):
            shown.print(part)
    console.print(Text(f"  {out / 'selftest.html'}", style="dim"), soft_wrap=True)
    raise typer.Exit(finished.exit_status)
