"""``tokgate forced``: forced tokens on a corpus of JSON Schemas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from corpora.grammars.json_schema import Whitespace
from corpora.vocabularies import sources
from harness.cli import options
from harness.cli.display import Display
from harness.cli.progress import Progress
from harness.cli.records import reported
from harness.cluster import addresses
from harness.engine.selection import SelectionError
from harness.events import Event
from harness.findings.folder import RunFolder
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import named
from harness.studies.forced.pool import Walks, sendable
from harness.studies.forced.run import JSON_SIGNS, ForcedPlan, execute
from reports import forced
from reports.last_words import closing

EPILOG = """
\b
Exit status:
  0    the exact policy made no error (or was not tested)
  1    it made one, or nothing was tested
  2    usage or input error
  3    no process could be started
  130  interrupted (143 by SIGTERM): the same command continues
"""


def command(
    corpus: Annotated[
        str,
        typer.Argument(
            help="A folder or an archive of JSON Schemas, or `own` for the ones in tokgate."
        ),
    ],
    vocab: options.OneVocab,
    whitespace: Annotated[
        Whitespace,
        options.option("Whether the grammar allows white space between JSON tokens."),
    ] = "flexible",
    policy: options.Policies = [],
    limit: Annotated[
        int | None,
        options.option(
            "Number of schemas, spread evenly over the corpus.", "N", min=1, show_default="all"
        ),
    ] = None,
    jobs: options.Processes = 0,
    seed: options.Seed = 0,
    minimize: Annotated[
        int,
        options.option("Failures to minimize for each policy.", "N", min=0),
    ] = 3,
    timeout: options.JobTimeout = 120.0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-forced"),
    cluster: options.Cluster = None,
) -> int:
    """Compare policies that heal tokens forced by a JSON Schema.

    The corpus has JSON Schemas with instances. Each instance is tested at the boundaries of its own
    tokens. Some failures of each policy are shown with the smallest schema and text on which it
    still fails. The same command continues an interrupted run.
    """

    options.check_cluster(cluster)
    if cluster is not None:
        sendable(policy)
    named(policy)  # what is no policy shows before the vocabulary is loaded
    vocabulary = sources.resolve(vocab)
    names = named(policy, vocabulary)
    if not vocabulary.can_encode(JSON_SIGNS):
        raise SelectionError(
            f"--vocab {vocab}: this vocabulary has no tokens for JSON; name another"
        )
    size = options.bytes_of(memory)
    task = Task(vocabulary, names, whitespace, seed, timeout, size)
    plan = ForcedPlan(corpus, vocab, task, limit, jobs or os.cpu_count() or 1, minimize)
    plan.identity()
    next(plan.cases(), None)  # what is no corpus shows before the folder is made
    executor = addresses.opened(cluster, 1, size) if cluster else None
    folder = RunFolder(out)
    journal = plan.journal(out)
    progress = Progress(each_unit=False)

    def tell(event: Event) -> None:
        folder.consume(event)
        progress.consume(event)

    walks = Walks(executor, tell) if executor else None
    try:
        line = options.command_line()
        finished = execute(plan, journal, tell, progress.watch, line, walks)
    finally:
        progress.stop()
        folder.close()
    Display().show(forced.sections(reported(out)))
    progress.console.show(closing(finished, f"{finished.seconds:.0f} s", out / "report.html"))
    return finished.exit_status
