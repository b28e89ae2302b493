"""``tokgate diff``: what is new between two runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.display import Display
from harness.cli.options import AsJson, option
from harness.cli.records import recorded
from harness.core import exit_statuses
from harness.engine.selection import SelectionError
from harness.verdict.diff import compare
from reports import changes
from reports.blocks import markdown
from reports.texts import changes as changes_of_texts

EPILOG = """
A finding that is gone counts as fixed only if the new run tested the same check on the same
implementations often enough to see it; otherwise it is not observed, with the reason.

\b
Exit status:
  0    nothing new
  1    new findings that no expectation covers, or growth that got worse
  2    usage or input error
"""


def command(
    old: Annotated[Path, typer.Argument(help="The folder of the run to compare with.")],
    new: Annotated[Path, typer.Argument(help="The folder of the run to judge.")],
    as_json: AsJson = False,
    as_markdown: Annotated[
        bool,
        option("Print Markdown, for a comment or a step summary.", None, "--markdown"),
    ] = False,
) -> int:
    """Show what is new, fixed or still there from one run to another."""
    if as_json and as_markdown:
        raise SelectionError("--json, --markdown: give one of them")

    before, now = recorded(old), recorded(new)
    earlier, later = ({one.fingerprint for one in run.vocabularies} for run in (before, now))
    if earlier and later and earlier.isdisjoint(later):
        both = ", ".join(one.source or one.id for run in (before, now) for one in run.vocabularies)
        raise SelectionError(
            f"{old}, {new}: these runs have no vocabulary in common ({both}), so that nothing can "
            "be new or fixed; compare two vocabularies with `tokgate compare A B`"
        )
    result = compare(before.coverage, now.coverage)
    texts = list(changes_of_texts(before.texts, now.texts))
    if as_json:
        print(json.dumps(changes.document(result, texts), indent=1))
    elif as_markdown:
        text = markdown.render(changes.blocks_of(result, texts))
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    else:
        Display().show(changes.blocks_of(result, texts))
    return exit_statuses.FAILS if result.new else exit_statuses.HOLDS
