"""``tokgate adversary``: a search for grammars on which healing policies err."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from corpora.vocabularies import sources
from harness.cli import options
from harness.cli.display import Display
from harness.cli.progress.moving import Progress
from harness.core import exit_statuses
from harness.core.countdown import Countdown, seconds_text
from harness.core.interruption import exit_status
from harness.engine.selection import SelectionError
from harness.studies.forced.hunt import COUNTEREXAMPLES, RECORD, Hunt, HuntRecord, hunt
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import EXACT, named
from harness.studies.forced.replaying import replayed
from reports.text import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.studies.forced.counterexamples import Counterexample
    from harness.studies.forced.hunt import Bag

EPILOG = """
\b
Exit status:
  0    nothing was found against exact (or it was not tested)
  1    something was found against it
  2    usage or input error
  3    no process could be started
  130  interrupted (143 by SIGTERM): the same command continues
"""

USUAL = ("healed:tokens=4", EXACT)
"""The documented heuristic, and the policy that nothing is to be found against."""

SHOWN = 32
"""Characters of a text in the table."""

BROKEN_SHOWN = 8
"""Rounds that broke off of which a line tells."""


def command(
    vocab: Annotated[
        str | None,
        typer.Option("--vocab", "-V", metavar="VOCAB", help=options.ONE_VOCAB_HELP),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="POLICY",
            help="A policy, named as in tokgate forced. May be repeated.",
            show_default=", ".join(USUAL),
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="BUDGET",
            help="Time from the first grammar on, such as 60s, 5m or 8h, or a number of grammars, "
            "such as 20000cases (in whole rounds).",
        ),
    ] = "60s",
    seed: options.Seed = 0,
    jobs: options.Processes = 0,
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Counterexample file to check again, or `shipped`. There is no search then.",
        ),
    ] = None,
    timeout: options.JobTimeout = 120.0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-adversary"),
) -> None:
    """Search for small grammars on which a policy forces wrong tokens.

    A grammar has two sentences. Four kinds are tried in turn: long tokens, characters cut in two,
    chains of merges that flip, and the look-ahead of pre-tokenizers. The counterexample with the
    most wrong tokens for each vocabulary, policy and kind is shortened and kept in trophies.json.
    Run the command again with the same folder to continue; counterexamples of other runs in that
    file are kept unless a better one is found.
    """

    size = options.bytes_of(memory)
    if replay is not None:
        raise typer.Exit(ask_again(replay, vocab, policy or [], timeout, size))
    if vocab is None:
        raise SelectionError("--vocab: name a vocabulary to search in, or give --replay shipped")
    amount = options.budget_of(budget)
    names = named(policy or USUAL)
    task = Task(sources.resolve(vocab), names, "flexible", seed, timeout, size)
    plan = Hunt(task, amount, jobs or os.cpu_count() or 1)
    record = HuntRecord(out, plan)
    console = Display(stderr=True)
    how_long = seconds_text(amount.seconds)
    if amount.cases is not None:
        how_long = f"for {amount.cases:,} grammars"
    what = f"searching {task.vocabulary.id} for grammars against {', '.join(names)}"
    console.print(f"{what} {how_long}, seed {seed}")
    progress = Progress(console)
    try:
        cut_off = hunt(plan, record, progress.watch, Countdown(amount.seconds), progress.prepared)
    finally:
        progress.stop()
    shown = Display()
    own = [one for one in record.bag.best.values() if one.vocabulary == task.vocabulary.id]
    shown.print(caught(own, names, record.bag.tried))
    for line in remarks(record.bag, names):
        shown.print(line, style="dim")
    console.print(f"  {out / COUNTEREXAMPLES}; {RECORD}: run again to continue", style="dim")
    if cut_off is not None:
        raise typer.Exit(exit_status(cut_off))
    erred = EXACT in names and any(one.policy == EXACT for one in own)
    raise typer.Exit(exit_statuses.FAILS if erred else exit_statuses.HOLDS)


def caught(
    found: Sequence[Counterexample], policies: Sequence[str], tried: Mapping[str, int]
) -> Table:
    """The counterexamples, by policy. tried: by policy, how many grammars were."""
    made = table("policy", "kind", "depth", "forced", "and then", "or")
    for policy in policies:
        own = sorted((one for one in found if one.policy == policy), key=lambda one: one.worth)
        if not own:
            count = tried.get(policy, 0)
            nowhere = Text(f"no error in {count:,} grammars", style="green")
            made.add_row(policy, nowhere if count else "no grammar was tried")
        for one in reversed(own):
            texts = (one.context + one.forced, *one.sentences[:2])
            made.add_row(policy, one.kind, Text(str(one.depth), "red"), *map(shortened, texts))
    return made


def table(*headings: str) -> Table:
    """A table without lines."""
    made = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for heading in headings:
        made.add_column(heading, no_wrap=True)
    return made


def shortened(data: bytes) -> str:
    """A text as Python would write it, its end left out where it is long."""
    shown = literal(data, limit=SHOWN)
    return shown.code + ("…" if shown.missing else "")


def remarks(bag: Bag, policies: Sequence[str]) -> list[str]:
    """How much was tried, and what broke off."""
    tried = ", ".join(f"{bag.tried.get(policy, 0):,} against {policy}" for policy in policies)
    lines = [f"grammars tried, including earlier runs: {tried}"]
    lines += [f"failed: {where}: {how}" for where, how in list(bag.broke.items())[:BROKEN_SHOWN]]
    return lines + [f"a worker {line}" for line in bag.left]


def ask_again(
    source: str, vocab: str | None, policies: Sequence[str], seconds: float, memory: int
) -> int:
    """Ask about counterexamples again and show what they say; the exit status: 1 if exact errs."""
    made = table("vocabulary", "kind", "policy", "then", "now")
    status = exit_statuses.HOLDS
    for one, depths in replayed(source, vocab, policies, seconds, memory):
        for name, depth in depths.items():
            then = str(one.depth) if name == one.policy else ""
            now = f"{depth} wrong tokens" if depth else "no error"
            made.add_row(
                one.vocabulary, one.kind, name, then, Text(now, "red" if depth else "green")
            )
            if depth and name == EXACT:
                status = exit_statuses.FAILS
    Display().print(made)
    return status
