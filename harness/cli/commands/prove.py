"""``tokgate prove``: whether two vocabularies tokenize every text alike."""

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
from harness.studies.compare.results import comparison_of
from harness.studies.compare.sides import reader
from harness.studies.prove.results import Proof
from harness.studies.prove.run import ProveStudy
from reports import prove as told
from reports.studies import of

EPILOG = """
Each stage of the encoding is proved equal, different, or not decided: normalizer, added tokens,
pattern, and merges, scores or tokens. A difference counts when the libraries of both files give
other tokens for a text. What is proved equal is tried on generated texts, for the time of the
budget.

\b
Exit status:
  0    proved equal: every text has the same tokens
  1    different: a text is shown
  2    usage or input error
  3    a library could not be started
  4    not decided
  130  interrupted (143 by SIGTERM)
"""


def command(
    a: Annotated[str, typer.Argument(help=options.ONE_VOCAB_HELP, metavar="A")],
    b: Annotated[str, typer.Argument(help="The vocabulary to compare it with.", metavar="B")],
    texts: options.Inputs = [],
    budget: Annotated[
        str,
        options.option("Time for texts after the proof, such as 60s or 5m.", "TIME"),
    ] = "10s",
    seed: options.Seed = 0,
    timeout: options.Timeout = 8.0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-prove"),
    as_json: options.AsJson = False,
) -> int:
    """Prove that two vocabularies tokenize every text alike, or show where not.

    The two files may have different formats. Ids that are only numbered in another way are no
    difference, and are mentioned once.
    """

    seconds = options.seconds_of(budget)
    both = sources.resolve(a), sources.resolve(b)
    readers = reader(both[0]), reader(both[1])
    corpus = options.texts_of(texts)
    progress = Progress(f"proving {a} and {b}, texts {seconds_text(seconds)}", seconds)
    limits = options.limits_of(timeout, memory)
    study = ProveStudy(
        (a, b), both, readers, corpus, seconds, seed, limits, options.command_line(), progress.watch
    )
    finished, events = conducted(study, out, progress)
    for event in of(events, Compared):
        report = comparison_of(event.report, Proof)
        show("prove", report.to_json(), told.page(report), out, as_json=as_json)
    return finished.exit_status
