"""``tokgate fuzz``: a campaign that goes on for as long as it is let."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from corpora.generators.catalog import generators
from harness.checks import CHECKS
from harness.cli.commands.common import (
    EXIT_STATUSES,
    Checks,
    Cluster,
    Expect,
    Generators,
    Impls,
    Inputs,
    Jobs,
    Memory,
    References,
    Seed,
    Timeout,
    Vocabs,
    command_line,
    known_findings,
    limits_of,
    name_missing,
    recorded,
    texts_of,
    trend_series,
)
from harness.cli.display import Display
from harness.cli.progress.fuzz import FuzzProgress, closing
from harness.cluster import opening
from harness.core.countdown import seconds_text
from harness.core.writing import writing
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget, Suite, parse_budget
from harness.engine.texts import DRAWN_FROM, drawn
from harness.studies.fuzz import run
from harness.studies.fuzz.plan import FuzzPlan, fuzzed, seeds
from harness.studies.fuzz.store import CampaignStore
from harness.verdict import expectations
from reports import write_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.cli.progress.fuzz import FuzzProgress
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.record import Record

EPILOG = f"""
A campaign is kept in a database, round by round: run the same command again and it goes on, be it
after Ctrl-C, kill -9 or a power cut. One seed, one set of versions and options: the same cases, the
same findings, however often it was cut off.
{EXIT_STATUSES}"""

LONGEST_INPUT = 1 << 20
"""Bytes: as in the suite for CI. Longer ones take seconds in slow libraries, and are measured by
``tokgate run --check scaling``."""


def fuzz(
    vocab: Vocabs = None,
    impl: Impls = None,
    reference: References = None,
    check: Checks = None,
    generator: Generators = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Of this session, from the first case to the verdict: 10m, 8h; or of the "
            "campaign: 20000cases a vocabulary. Default: endless, until Ctrl-C."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    shards: Annotated[
        int, typer.Option(min=1, help="Targets of each vocabulary, with seeds of their own.")
    ] = 1,
    ledger: Annotated[
        str | None,
        typer.Option(
            envvar="TOKGATE_LEDGER",
            help="Database: a SQLite file (default: campaign.db in --out), or postgresql://..",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(help="Of the campaign, where a database has several.")
    ] = "default",
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--anew", help="Go on with the campaign of this name, or begin anew."
        ),
    ] = True,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="Files, or folders of files, to begin with. May be repeated."),
    ] = None,
    texts: Inputs = None,
    save_corpus: Annotated[
        Path | None,
        typer.Option(help="Folder that receives the corpus at the end, one input a file."),
    ] = None,
    structured: Annotated[
        bool, typer.Option(help="Let Hypothesis make inputs, too, by the same strategies.")
    ] = True,
    coverage: Annotated[
        bool,
        typer.Option(
            help="Let Atheris make inputs, too, by the coverage of our interpreted source."
        ),
    ] = True,
    database: Annotated[
        str | None,
        typer.Option(
            help="Hypothesis's example database to share inputs through: a folder, redis://.., "
            "or github:OWNER/REPO (read only)."
        ),
    ] = None,
    cost: Annotated[
        bool,
        typer.Option(help="Be guided by the time that inputs take, too: no longer reproducible."),
    ] = False,
    canary: Annotated[
        bool | None,
        typer.Option(
            help="Let a planted mistake ride along, which must be found.",
            show_default="on, unless --check or --generator leaves it out",
        ),
    ] = None,
    expect: Expect = None,
    out: Annotated[
        Path, typer.Option(help="Folder that receives the findings, the corpus and the reports.")
    ] = Path("tokgate-fuzz"),
    report_every: Annotated[
        str, typer.Option(help="Write the reports so often, besides at the end.")
    ] = "10m",
    timeout: Timeout = 8.0,
    memory: Memory = 4.0,
    cluster: Cluster = None,
) -> None:
    """Fuzz: generators chosen by what they still yield, inputs kept that show something new.

    Remembers all it has found, and tells only what is new. Without arguments it takes the embedded
    vocabularies, some random ones, and every implementation installed, and goes on until Ctrl-C.
    """

    if cluster is not None:
        opening.check(cluster)
        if texts:
            raise SelectionError(opening.TEXTS_STAY)
        if database is not None:
            raise SelectionError(
                "--cluster: what a --database shares depends on when it is read; leave one of them "
                "out"
            )
    limits = limits_of(timeout, memory)
    try:
        amount = parse_budget(budget) if budget else Budget()
    except ValueError as error:
        raise SelectionError(f"--budget: {error}") from error
    try:
        report_seconds = parse_budget(report_every).seconds
    except ValueError:
        report_seconds = None
    if report_seconds is None:
        raise SelectionError(f"--report-every {report_every!r}: no time; write 10m, or 1h")
    catalog = generators()
    checks = selection.chosen("check", check or [], CHECKS)
    present, missing = selection.participants(impl or [])
    known = expectations.load(expectations.SHIPPED)
    if expect is not None:
        known = [*expectations.load(expect), *known]
    console = Display(stderr=True)
    name_missing(console, missing)
    plan = Plan(
        vocabularies=fuzzed(vocab or [], seed),
        participants=present,
        references=selection.references(reference or [], present),
        generators=[catalog[n] for n in selection.chosen("generator", generator or [], catalog)],
        checks=[CHECKS[n] for n in checks],
        expectations=known,
        suite=Suite("fuzz", "a campaign", "endless", LONGEST_INPUT, 0.0, 0),
        budget=amount,
        seed=seed,
        jobs=jobs or max(1, (os.cpu_count() or 2) // 2),
        fail_fast=False,
        named=[participant.name for participant in present] if impl else [],
        asked={"vocabularies": vocab or [], "checks": check or []},
        expect=str(expect.resolve()) if expect is not None else None,
        limits=limits,
    )
    begun = seeds(corpus or [])
    own = texts_of(texts)
    if own is not None:
        documents = drawn(own, seed, count=DRAWN_FROM)
        plan = replace(plan, places={one.data: one.place for one in documents})
        begun = list(dict.fromkeys([*begun, *(one.data for one in documents)]))
    campaign = FuzzPlan(
        plan=plan,
        shards=shards,
        structured=structured,
        coverage=coverage,
        costly=cost,
        database=database,
        canary=canary if canary is not None else not (check or generator),
        seeds=begun,
    )
    where = ledger or str(out / "campaign.db")

    def progress(before: Mapping[str, str]) -> FuzzProgress:
        console.print(Text(beginning(campaign, resume=resume)), soft_wrap=True)
        return FuzzProgress(console, before, amount.seconds)

    def report(made: Record) -> None:
        with writing(out):
            write_all(recorded(out), out, trend_series(where), known_findings(where))

    store = CampaignStore(where, name)
    elsewhere = None if cluster is None else opening.opened(cluster, len(present))
    if elsewhere is not None:
        campaign = replace(campaign, plan=replace(campaign.plan, jobs=elsewhere.slots))
    record = run.execute(
        campaign, store, out, command_line(), progress, report, report_seconds, anew=not resume,
        executor=elsewhere,
    )  # fmt: skip
    closing(console, record, str(out / "report.html"))
    if save_corpus is not None:
        new = run.save_corpus(campaign, store, save_corpus)
        console.print(Text(f"  {new:,} new inputs in {save_corpus}", style="dim"), soft_wrap=True)
    raise typer.Exit(record.finished.exit_status)


def beginning(campaign: FuzzPlan, *, resume: bool) -> str:
    """What a session is about to do, and for how long: the first line that it says."""
    plan = campaign.plan
    count = len(plan.vocabularies)
    vocabularies = "1 vocabulary" if count == 1 else f"{count} vocabularies"
    threads = max(1, min(plan.jobs, len(campaign.targets)))
    turns = f" ({threads} at a time)" if threads < len(campaign.targets) else ""
    several = "" if len(plan.participants) == 1 else "s"
    how_long = seconds_text(plan.budget.seconds)
    if plan.budget.cases is not None:
        how_long = f"up to {plan.budget.cases:,} cases each"
    said = f"fuzzing {vocabularies}{turns} with {len(plan.participants)} implementation{several}"
    return f"{said} {how_long}, seed {plan.seed}{'' if resume else ', anew'}"
