"""``tokgate run``: the main job."""

from __future__ import annotations

import os
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.commands.common import (
    EXIT_STATUSES,
    Checks,
    Cluster,
    Expect,
    Generators,
    Impls,
    Inputs,
    Jobs,
    Ledger,
    Memory,
    Out,
    References,
    Seed,
    Timeout,
    Vocabs,
    finish,
    limits_of,
    name_missing,
    texts_of,
)
from harness.cli.display import Display
from harness.cluster import opening
from harness.engine import selection
from harness.engine.selection import SelectionError
from harness.engine.suites import SUITES, Budget, parse_budget

EPILOG = EXIT_STATUSES

OF_TEXTS = ("survival", "equivalence")
"""Checks on texts alone, unless others are named: whether all answer, and whether ids differ.
Others ask further questions, and a corpus would take several times as long."""


class SuiteName(StrEnum):
    """How much a run does."""

    SMOKE = "smoke"
    CI = "ci"
    NIGHTLY = "nightly"


def run(
    vocab: Vocabs = None,
    impl: Impls = None,
    reference: References = None,
    check: Checks = None,
    generator: Generators = None,
    texts: Inputs = None,
    only_input: Annotated[
        bool,
        typer.Option(
            "--only-input",
            help="Compare on the texts of --input alone: no generators, growth or forced tokens.",
        ),
    ] = False,
    suite: Annotated[SuiteName, typer.Option(help="How much of everything.")] = SuiteName.SMOKE,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Time for cases, as 60s, 5m or 8h; or cases, as 20000cases. Compiling and loading "
            "before the first case come on top. What you name is tested even if that takes longer.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    expect: Expect = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="A family to measure growth on (tokgate list families; default: as many as there "
            "is time for). May be repeated."
        ),
    ] = None,
    families: Annotated[
        Path | None,
        typer.Option(help="Families of your own (default: those that tokgate worst keeps)."),
    ] = None,
    out: Out = Path("tokgate-out"),
    fail_fast: Annotated[bool, typer.Option(help="Stop at the first unexpected finding.")] = False,
    timeout: Timeout = 8.0,
    memory: Memory = 4.0,
    ledger: Ledger = None,
    cluster: Cluster = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with an interrupted run of the same options in --out: vocabularies that "
            "were done are not done again. With --cluster this is always so.",
        ),
    ] = False,
) -> None:
    """Compare implementations on generated and hostile inputs: the main job.

    Without arguments it takes the embedded vocabularies and every implementation installed.
    """

    if cluster is not None:
        opening.check(cluster)
        if texts:
            raise SelectionError(opening.TEXTS_STAY)
    chosen_suite = SUITES[suite.value]
    if only_input and not texts:
        raise SelectionError("--only-input: needs texts; name some with --input")
    try:
        amount = parse_budget(budget or chosen_suite.budget)
        if only_input and budget is None:  # all of them, however long it takes
            amount = Budget()
    except ValueError as error:
        raise SelectionError(f"--budget: {error}") from error
    vocabularies = selection.vocabularies(vocab or [], seed)
    joining = selection.readers(load() for load in vocabularies.values()) if vocab else []
    if impl:
        present, missing = selection.participants(impl, joining)
    # What takes longer than all before is imported step by step, so that a mistake is told sooner.
    from corpora.generators.catalog import generators  # noqa: PLC0415
    from harness.checks import CHECKS, MEASURES  # noqa: PLC0415

    catalog = generators()
    made = [catalog[n] for n in selection.chosen("generator", generator or [], catalog)]
    wanted = check or (list(OF_TEXTS) if only_input else [])
    checks = selection.chosen("check", wanted, [*CHECKS, *MEASURES])
    if only_input:
        checks = [name for name in checks if name in CHECKS]

    from corpora.families import catalog as hostile  # noqa: PLC0415
    from corpora.families import user  # noqa: PLC0415
    from harness.verdict import bounds, expectations  # noqa: PLC0415

    corpus = texts_of(texts)
    own = user.chosen(families)
    known, bound = expectations.load(expectations.SHIPPED), bounds.load(expectations.SHIPPED)
    if expect is not None:
        known = [*expectations.load(expect), *known]
        bound = [*bounds.load(expect), *bound]
    if only_input:  # what is expected still is, but its examples are no texts of the user's
        known = [replace(one, asked=False) for one in known]
    if not impl:  # all of them, which takes longer than to tell any mistake
        present, missing = selection.participants([], joining)
    console = Display(stderr=True)
    name_missing(console, missing)
    named = [participant.name for participant in present] if impl else []
    if impl and not reference and "equivalence" in checks:
        from harness.engine.joining import installed, joiners  # noqa: PLC0415

        loaded = (load() for load in vocabularies.values())
        for one in joiners(loaded, present, installed):
            present.append(one.participant)
            console.print(one.line, soft_wrap=True)

    from harness.engine.planning import Plan  # noqa: PLC0415
    from harness.engine.texts import mutated  # noqa: PLC0415

    limits = limits_of(timeout, memory)
    if corpus is not None:
        made = [] if only_input else [mutated(corpus, seed), *made]
    plan = Plan(
        vocabularies=vocabularies,
        participants=present,
        references=selection.references(reference or [], present),
        generators=made,
        texts=corpus,
        only_texts=only_input,
        checks=[CHECKS[n] for n in checks if n in CHECKS],
        scaled=selection.scaled(vocab or [], checks),
        walked=selection.walked(vocab or [], checks),
        families=own,
        measured=selection.chosen("family", family, hostile.families(own)) if family else [],
        expectations=known,
        bounds=bound,
        suite=chosen_suite,
        budget=amount,
        seed=seed,
        jobs=jobs or max(2, (os.cpu_count() or 2) // 2),
        fail_fast=fail_fast,
        named=named,
        asked={
            "vocabularies": [name for name in vocab or [] if name in vocabularies],
            "checks": check or [],
            "inputs": texts or [],
        },
        expect=str(expect.resolve()) if expect is not None else None,
        limits=limits,
    )
    from harness.cli.comparing import perform  # noqa: PLC0415 (when the plan stands)

    how_long = "all of your texts" if amount == Budget() else budget or chosen_suite.budget
    result = perform(plan, out, how_long, len(checks), ledger, cluster, resume=resume)
    finish(result, out, ledger)
