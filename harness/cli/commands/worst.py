"""``tokgate worst``: the search for hostile inputs that nobody listed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from corpora.families import user
from harness.cli import options
from harness.cli.progress import CampaignProgress
from harness.cli.study_command import conducted, show
from harness.cluster import addresses
from harness.core.countdown import seconds_text
from harness.events import Searched
from harness.studies.worst.plan import make_plan
from harness.studies.worst.results import report_of
from harness.studies.worst.run import WorstStudy
from reports import worst as told
from reports.studies import of

EPILOG = """
The same command continues an interrupted search; with a longer --budget it searches longer. A
search starts from the listed families; with --withhold all it starts from nothing, and its results
are compared with them at the end.

On a cluster each slot searches by itself, with a seed of its own; the results are measured again,
minimized and compared on this machine, because times of two machines cannot be compared.

\b
Exit status:
  0    the search was finished
  2    usage or input error
  3    the implementation could not be started
  130  interrupted (143 by SIGTERM): the search is kept
"""


def command(
    impl: options.Impls,
    vocab: options.Vocabs = [],
    budget: Annotated[
        str,
        options.option(
            "Time for the search, such as 90s, 5m or 8h, counted from the first measurement. "
            "Loading is not counted.",
            "TIME",
        ),
    ] = "5m",
    size: Annotated[
        str,
        options.option(
            "Size of the inputs that are compared, 4KB to 1MB: a power of two, or the next "
            "smaller one.",
            "SIZE",
        ),
    ] = "64KB",
    withhold: Annotated[
        list[str],
        options.option(
            "A listed family that the search must not start from, or `all`. May be repeated.",
            "FAMILY",
        ),
    ] = [],
    families: options.Families = None,
    keep: Annotated[
        bool, options.option("Add the results to the file of families.", None, "--keep/--no-keep")
    ] = True,
    grey: Annotated[
        bool | None,
        options.option(
            "Guide the search by the source lines that run, or by the cost alone.",
            None,
            "--grey/--black",
            show_default="--grey for tokgate's own algorithms",
        ),
    ] = None,
    most: Annotated[int, options.option("Number of results.", "N", "--results", min=1, max=20)] = 5,
    seed: options.Seed = 0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-worst"),
    as_json: options.AsJson = False,
    cluster: options.Cluster = None,
) -> int:
    """Search for the inputs that cost an implementation most.

    Give exactly one implementation, and at most one vocabulary (default: an embedded one).
    Inputs that crash it count, too. Patterns (a prefix, repeated parts and a suffix, made of
    tokens, characters or bytes) are bred for the highest cost per byte, growth and memory. The best
    are minimized, compared with the listed families in the same process, and added to your own
    families, which `tokgate run` measures from then on.
    """

    options.check_cluster(cluster)
    seconds = options.seconds_of(budget)
    file = (families or user.default_path()) if keep else None
    plan = make_plan(
        impl, vocab, seconds, size, withhold, grey, most, seed, options.bytes_of(memory)
    )
    said = f"searching for the worst inputs of {plan.participant.name} on {plan.vocabulary.id}"
    progress = CampaignProgress(f"{said} {seconds_text(seconds)}, seed {seed}", seconds)
    line = options.command_line()
    size_of = plan.plan.limits.memory + addresses.WORKER_BYTES
    opened = partial(addresses.opened, cluster, 1, size_of) if cluster else None
    study = WorstStudy(plan, out, line, progress, file, opened)
    finished, events = conducted(study, out, progress)
    for event in of(events, Searched):
        report = report_of(event.report)
        page = told.page(report, events)
        show("worst", report.to_json(), page, out, as_json=as_json)
        if finished.complete and report.families:
            progress.say(f"  added to {report.families}: see tokgate list families")
    return finished.exit_status
