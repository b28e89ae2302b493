"""``tokgate compare``: whether two vocabularies mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from corpora.vocabularies import sources
from harness.cli import options
from harness.cli.progress import Progress
from harness.cli.study_command import conducted, show
from harness.core.countdown import seconds_text
from harness.events import Compared
from harness.studies.compare.results import Comparison, comparison_of
from harness.studies.compare.run import CompareStudy
from harness.studies.compare.sides import reader
from reports import compare as told
from reports.studies import of

EPILOG = """
Each vocabulary is encoded by the library whose format it has, such as tokenizers for a
tokenizer.json and llama.cpp for a GGUF file. Your own texts are compared first, and all of them;
the budget is for generated texts.

\b
Exit status:
  0    the same tokens on every text
  1    different tokens; the smallest text of each cause is shown
  2    usage or input error
  3    a library could not be started
  4    no text could be compared
  130  interrupted (143 by SIGTERM)
"""


def command(
    a: Annotated[str, typer.Argument(help=options.ONE_VOCAB_HELP, metavar="A")],
    b: Annotated[str, typer.Argument(help="The vocabulary to compare it with.", metavar="B")],
    texts: options.Inputs = [],
    budget: Annotated[
        str,
        options.option("Time for generated texts, such as 60s or 5m.", "TIME"),
    ] = "30s",
    seed: options.Seed = 0,
    timeout: options.Timeout = 8.0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-compare"),
    as_json: options.AsJson = False,
) -> int:
    """Compare two vocabularies that should mean the same.

    The two files may have different formats. Both are encoded on your texts, on the tokens of both
    and on generated texts. Where the tokens differ, the command shows the smallest text of each
    cause with both rows of tokens, and says what is different in the files. Ids that are only
    numbered in another way are no difference, and are mentioned once.
    """

    seconds = options.seconds_of(budget)
    both = sources.resolve(a), sources.resolve(b)
    readers = reader(both[0]), reader(both[1])
    corpus = options.texts_of(texts)
    names = " and ".join(one.title for one in readers)
    line = f"comparing {a} with {b} {seconds_text(seconds)}, as {names} encode them"
    progress = Progress(line, seconds)
    limits = options.limits_of(timeout, memory)
    study = CompareStudy(
        (a, b), both, readers, corpus, seconds, seed, limits, options.command_line(), progress.watch
    )
    finished, events = conducted(study, out, progress)
    for event in of(events, Compared):
        report = comparison_of(event.report, Comparison)
        show("compare", report.to_json(), told.page(report), out, as_json=as_json)
    return finished.exit_status
