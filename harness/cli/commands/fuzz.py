"""``tokgate fuzz``: a campaign that runs until it is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from corpora.generators.catalog import generators
from harness.checks import CHECKS, DEFAULT
from harness.cli import options
from harness.cli.display import Display
from harness.cli.progress import CampaignProgress
from harness.cli.records import reported
from harness.cluster import addresses
from harness.engine import selection
from harness.engine.plan import Plan
from harness.engine.suites import Suite
from harness.engine.texts import DRAWN_FROM, drawn
from harness.events import ClusterUsed, by_cause
from harness.studies.campaigns.store import CampaignStore
from harness.studies.fuzz import run
from harness.studies.fuzz.folder import save_corpus as save_corpus_of
from harness.studies.fuzz.plan import FuzzPlan, fuzzed, seeds, spent
from harness.studies.fuzz.record import Record
from harness.studies.fuzz.state import State
from harness.verdict import expectations
from reports.blocks import Block
from reports.blocks.units import plural
from reports.cluster import sentences
from reports.last_words import closing

EPILOG = f"""
A campaign is kept in a database, round by round: the same command continues it, even after Ctrl-C,
kill -9 or a power cut. The same seed, versions and options give the same cases and the same
findings, no matter how often the campaign was interrupted.
{options.EXIT_STATUSES}"""

LONGEST_INPUT = 1 << 20
"""Bytes: as in the suite for CI. Longer ones take seconds in slow libraries, and are measured by
``tokgate run --check scaling``."""


def command(
    vocab: options.Vocabs = [],
    impl: options.Impls = [],
    reference: options.References = [],
    check: options.Checks = [],
    generator: options.Generators = [],
    budget: options.Amount = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 0,
    shards: Annotated[
        int,
        options.option(
            "Number of searches on each vocabulary, each with its own seed.", "N", min=1
        ),
    ] = 1,
    ledger: options.Ledger = None,
    name: Annotated[
        str, options.option("Name of the campaign in the database.", "NAME")
    ] = "default",
    resume: Annotated[
        bool,
        options.option(
            "Continue the campaign of this name, or start it again.", None, "--resume/--anew"
        ),
    ] = True,
    restart: Annotated[
        bool,
        options.option(
            "Start again instead of refusing if options, vocabularies or versions have changed.",
            None,
            "--restart-if-changed",
        ),
    ] = False,
    corpus: Annotated[
        list[Path],
        options.option(
            "A file, or a folder of files, with inputs to begin with. May be repeated.", "PATH"
        ),
    ] = [],
    texts: options.Inputs = [],
    save_corpus: Annotated[
        Path | None,
        options.option("Folder to save the corpus in at the end, one file per input.", "FOLDER"),
    ] = None,
    structured: Annotated[
        bool,
        options.option("Also generate inputs with Hypothesis, with the same strategies."),
    ] = True,
    coverage: Annotated[
        bool,
        options.option(
            "Also generate inputs with Atheris, guided by the coverage of tokgate's own algorithms."
        ),
    ] = True,
    database: Annotated[
        str | None,
        options.option(
            "Example database of Hypothesis to share inputs with: a folder, redis://.., or "
            "github:OWNER/REPO (read only).",
            "DATABASE",
        ),
    ] = None,
    cost: Annotated[
        bool,
        options.option("Also prefer inputs that take long; the run is not reproducible then."),
    ] = False,
    canary: Annotated[
        bool | None,
        options.option(
            "Add a tokenizer with a known bug; the campaign fails if the bug is not found.",
            show_default="on, unless --check or --generator is given",
        ),
    ] = None,
    expect: options.Expect = None,
    out: options.Out = Path("tokgate-fuzz"),
    report_every: Annotated[
        str,
        options.option("Interval between reports.", "TIME"),
    ] = "10m",
    timeout: options.Timeout = 8.0,
    memory: options.Memory = 4.0,
    cluster: options.Cluster = None,
) -> int:
    """Search for new findings in a campaign that can be continued.

    Generators that still find new things are preferred, and inputs that show something new are kept
    and changed further. The campaign remembers all that it found and reports only what is new.
    Without arguments it runs every installed implementation on the embedded vocabularies and some
    random ones until Ctrl-C. A --budget that is a time is that of this session; a number of cases
    is the size of the whole campaign on each vocabulary. The --ledger is the database of the
    campaign (default: campaign.db in --out).
    """

    options.check_cluster(cluster, texts)
    if cluster is not None and database is not None:
        raise selection.SelectionError(
            "--cluster, --database: give one of them; inputs that are shared at any time would "
            "make the campaign irreproducible"
        )
    amount = options.budget_of(budget)
    report_seconds = options.seconds_of(report_every, "--report-every")
    catalog = generators()
    checks = selection.chosen("check", check or [*DEFAULT], CHECKS)
    present = options.participants(impl, vocab)
    own = options.texts_of(texts)
    documents = [] if own is None else drawn(own, seed, count=DRAWN_FROM)
    plan = Plan(
        vocabularies=fuzzed(vocab, seed),
        participants=present,
        references=selection.references(reference, present),
        generators=[catalog[n] for n in selection.chosen("generator", generator, catalog)],
        checks=[CHECKS[n] for n in checks],
        expectations=expectations.with_shipped(expect),
        suite=Suite("fuzz", "endless", LONGEST_INPUT, 0.0, 0),
        budget=amount,
        seed=seed,
        jobs=options.at_once(jobs),
        named=[participant.name for participant in present] if impl else [],
        asked={"vocabularies": vocab, "checks": check},
        expect=str(expect.resolve()) if expect is not None else None,
        limits=options.limits_of(timeout, memory),
        places={one.data: one.place for one in documents},
    )
    campaign = FuzzPlan(
        plan=plan,
        shards=shards,
        structured=structured,
        coverage=coverage,
        costly=cost,
        database=database,
        canary=canary if canary is not None else not (check or generator),
        seeds=list(dict.fromkeys([*seeds(corpus), *(one.data for one in documents)])),
    )
    store = CampaignStore(where := ledger or str(out / "campaign.db"), name, restarts=restart)
    executor = addresses.opened(cluster, len(present)) if cluster else None
    if executor is not None:
        campaign = replace(campaign, plan=replace(plan, jobs=executor.slots))

    def progress(before: set[str], states: Sequence[State]) -> CampaignProgress:
        line = (
            f"fuzzing {plural(len(plan.vocabularies), 'vocabulary')} with "
            f"{plural(len(present), 'implementation')} {amount.words}, seed {seed}"
            f"{'' if resume else ', starting again'}"
        )
        made = CampaignProgress(line, amount.seconds, before)
        if store.row.sessions > 1:
            made.say(resumed(store, states))
        return made

    def report(made: Record) -> None:
        reported(out, where)

    record = run.execute(
        campaign, store, out, options.command_line(), progress, report, report_seconds,
        anew=not resume, executor=executor,
    )  # fmt: skip
    console = Display(stderr=True)
    console.show(last_words(record, out / "report.html"))
    if save_corpus is not None:
        new = save_corpus_of(campaign, store, save_corpus)
        console.print(f"  {new:,} new inputs in {save_corpus}", style="dim")
    return record.finished.exit_status


def resumed(store: CampaignStore, states: Sequence[State]) -> str:
    """Where a campaign continues: ``round 14 of campaign default, 2 known findings ..``."""
    rounds = sum(one.schedule.number for one in states)
    cases = sum(one.cases for one in states)
    known = by_cause(found for one in states if one.again for found in one.findings)
    return (
        f"resuming: session {store.row.sessions}, round {rounds + 1:,} of campaign {store.name}, "
        f"{plural(cases, 'case')} so far; {plural(len(known), 'known finding')} asked again first"
    )


def last_words(record: Record, report: Path) -> list[Block]:
    """Of a session: what is new, what may be yet to come, and where the report is."""
    fresh = [found for found in record.new if found.expected is None]
    finished, campaign = record.finished, record.campaign
    new = len(by_cause(fresh))
    known = len(by_cause(record.findings)) - new
    first = len(by_cause(found for found in record.new if found.expected is not None))
    also = f" ({first} of them seen for the first time)" if first else ""
    said = (
        f"{plural(finished.cases, 'case')}, {plural(finished.comparisons, 'comparison')} in "
        f"{spent(finished.seconds)}: {new} new findings, {known} known{also}"
    )
    used = (event for event in record.events if isinstance(event, ClusterUsed))
    more = [line for event in used for line in sentences(event)]
    if not record.session_cases and finished.cases:
        more.append("this session finished no round: all results are from earlier sessions")
    more.append(campaign.said)
    if record.session_cases:
        ahead = {one.kind: one for one in campaign.outlooks}
        more.append(
            f"chance of a new finding in another hour: {ahead['findings'].chance:.0%} "
            "(Good-Turing estimate)"
        )
    return closing(finished, said, report, fresh, record.expectations, more)
