"""``tokgate run``: the main job."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from harness.cli import options
from harness.cli.display import Display
from harness.cli.settings import Configured
from harness.engine import selection
from harness.engine.suites import SUITES, Budget
from impls import roster

EPILOG = f"""
\b
Options may stand in a file, tokgate.toml or [tool.tokgate] of pyproject.toml (see
docs/gate.md).
{options.EXIT_STATUSES}"""

KIND = Configured

OF_TEXTS = ("survival", "equivalence")
"""Checks on texts alone, unless others are named: whether all answer, and whether ids differ.
Others ask further questions, and a corpus would take several times as long."""

CERTIFICATE = "certificate"


def command(
    vocab: options.Vocabs = [],
    impl: options.Impls = [],
    reference: options.References = [],
    check: options.Checks = [],
    generator: options.Generators = [],
    texts: options.Inputs = [],
    only_input: Annotated[
        bool,
        options.option(
            "Test the texts of --input only: no generated inputs, no growth measurements, no "
            "forced tokens.",
            None,
            "--only-input",
        ),
    ] = False,
    suite: Annotated[
        Literal["smoke", "ci", "nightly"],
        options.option(
            "Test intensity: inputs up to 128 KiB (smoke), 1 MiB (ci) or 16 MiB (nightly)."
        ),
    ] = "smoke",
    budget: options.Amount = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 0,
    expect: options.Expect = None,
    family: Annotated[
        list[str],
        options.option(
            "Measure growth on this family of inputs only (see tokgate list families). The "
            "default is as many families as there is time for. May be repeated.",
            "FAMILY",
        ),
    ] = [],
    families: options.Families = None,
    out: options.Out = Path("tokgate-out"),
    certify: Annotated[
        bool,
        options.option(
            "Also prove that the ids of your implementations are right, without a reference "
            "(byte-level BPE).",
            None,
            "--certify",
        ),
    ] = False,
    fail_fast: Annotated[bool, options.option("Stop at the first unexpected finding.")] = False,
    timeout: options.Timeout = 8.0,
    memory: options.Memory = 4.0,
    ledger: options.Ledger = None,
    cluster: options.Cluster = None,
    resume: Annotated[
        bool,
        options.option(
            "Continue an interrupted run with the same options in --out: finished "
            "vocabularies are not tested again. With --cluster this is always on.",
            None,
            "--resume",
        ),
    ] = False,
) -> int:
    """Compare implementations on generated and hostile inputs.

    This is the main command. Without arguments it tests every installed implementation on the
    embedded vocabularies. The default --budget is 45s, 5m or 8h, by suite. The time for compiling
    and loading is not counted, and what you name is tested even if that takes longer.
    """

    options.check_cluster(cluster, texts)
    chosen_suite = SUITES[suite]
    if only_input and not texts:
        raise selection.SelectionError("--only-input needs texts; name some with --input")
    amount = options.budget_of(budget or chosen_suite.budget)
    how_long = amount.words
    if only_input and budget is None:
        how_long, amount = "on all of your texts", Budget()
    vocabularies = selection.vocabularies(vocab, seed)
    joining = selection.readers(load() for load in vocabularies.values()) if vocab else []
    if suite == "nightly":
        joining += roster.joining(roster.Joins.FAST)
    present = options.participants(impl, vocab, joining)
    console = Display(stderr=True)
    # What takes longer than all before is imported now, so that a mistake is told sooner.
    from corpora.families import catalog as hostile  # noqa: PLC0415
    from corpora.families import user  # noqa: PLC0415
    from corpora.generators.catalog import generators  # noqa: PLC0415
    from harness.checks import CHECKS, DEFAULT, MEASURES  # noqa: PLC0415
    from harness.cli.run_command import perform  # noqa: PLC0415
    from harness.cluster import addresses  # noqa: PLC0415
    from harness.engine.flow import Ways  # noqa: PLC0415
    from harness.engine.joiners import installed, joiners  # noqa: PLC0415
    from harness.engine.journal import Journal  # noqa: PLC0415
    from harness.engine.plan import Plan  # noqa: PLC0415
    from harness.engine.texts import mutated  # noqa: PLC0415
    from harness.studies.preparation import prepare  # noqa: PLC0415
    from harness.verdict import bounds, expectations  # noqa: PLC0415
    from reports.blocks.units import plural  # noqa: PLC0415

    catalog = generators()
    made = [catalog[n] for n in selection.chosen("generator", generator, catalog)]
    more = [CERTIFICATE] * (certify and CERTIFICATE not in check)
    usual = [*OF_TEXTS] if only_input else [*DEFAULT, *MEASURES]
    checks = selection.chosen("check", [*(check or usual), *more], [*CHECKS, *MEASURES])
    corpus = options.texts_of(texts)
    own = user.chosen(families)
    known = expectations.with_shipped(expect)
    if only_input:  # what is expected still is, but its examples are no texts of the user's
        checks = [name for name in checks if name in CHECKS]
        known = [replace(one, asked=False) for one in known]
        made = []
    elif corpus is not None:
        made.insert(0, mutated(corpus, seed))
    named = [participant.name for participant in present] if impl else []
    if impl and not reference and "equivalence" in checks:
        loaded = (load() for load in vocabularies.values())
        for one in joiners(loaded, present, installed):
            present.append(one.participant)
            console.print(one.line)
    plan = Plan(
        vocabularies=vocabularies,
        participants=present,
        references=selection.references(reference, present),
        generators=made,
        texts=corpus,
        only_texts=only_input,
        checks=[CHECKS[n] for n in checks if n in CHECKS],
        scaled=selection.scaled(vocab, checks),
        walked=selection.walked(vocab, checks),
        families=own,
        measured=selection.chosen("family", family, hostile.families(own)) if family else [],
        expectations=known,
        bounds=bounds.with_shipped(expect),
        suite=chosen_suite,
        budget=amount,
        seed=seed,
        jobs=options.at_once(jobs, 2),
        fail_fast=fail_fast,
        named=named,
        asked={
            "vocabularies": [name for name in vocab if name in vocabularies],
            "checks": [*check, *more],
            "inputs": texts,
        },
        expect=str(expect.resolve()) if expect is not None else None,
        limits=options.limits_of(timeout, memory),
    )
    growth = f", growth on {len(plan.scaled)} of them" if plan.scaled else ""
    with Journal(out, plan) as journal:  # first of all: what another run has in this folder stays
        executor = addresses.opened(cluster, len(present)) if cluster else None
        if resume and executor is None and not journal.holds(plan.visited):
            console.print(
                f"--resume: {out} has no interrupted run with these options; starting a new one"
            )
        console.print(
            f"checking {plural(len(plan.visited), 'vocabulary')} with up to "
            f"{plural(len(present), 'implementation')} each, {how_long}{growth}: "
            f"{plural(len(checks), 'check')}, seed {seed}; loading comes first"
        )
        if len(vocab) == 2:
            line = "each vocabulary is tested by itself; to compare the two: tokgate compare "
            console.print(line + shlex.join(vocab))
        return perform(plan, out, ledger, Ways(prepare, journal, resume, executor))
