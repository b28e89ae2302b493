"""``tokgate adversary``: a search for grammars on which healing policies err."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from corpora.vocabularies import sources
from harness.cli import options
from harness.cli.display import Display
from harness.cli.progress import Progress
from harness.core import exit_statuses
from harness.core.countdown import Countdown
from harness.core.interruption import exit_status
from harness.engine.selection import SelectionError
from harness.studies.forced.counterexamples import replayed
from harness.studies.forced.hunt import COUNTEREXAMPLES, RECORD, Hunt
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import EXACT, named
from reports import forced

EPILOG = """
\b
Exit status:
  0    no counterexample to the policy exact was found (or it was not tested)
  1    a counterexample to it was found
  2    usage or input error
  3    no process could be started
  130  interrupted (143 by SIGTERM): the same command continues
"""

USUAL = ("healed:tokens=4", EXACT)
"""The documented heuristic, and the policy that nothing is to be found against."""


BROKEN_SHOWN = 8
"""Rounds that failed of which a line tells."""


def command(
    vocab: Annotated[
        str | None,
        options.option(options.ONE_VOCAB_HELP, "VOCAB", "--vocab", "-V"),
    ] = None,
    policy: options.Policies = [],
    budget: options.Amount = "60s",
    seed: options.Seed = 0,
    jobs: options.Processes = 0,
    replay: Annotated[
        str | None,
        options.option(
            "Counterexample file to check again, or `shipped`. There is no search then.", "FILE"
        ),
    ] = None,
    timeout: options.JobTimeout = 120.0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-adversary"),
) -> int:
    """Search for small grammars on which a policy forces wrong tokens.

    The --budget is a time, counted from the first grammar, or a number of grammars (such as
    200cases), which is rounded up to whole rounds. The default policies are healed:tokens=4 and
    exact. Each grammar has two sentences. Four kinds of grammars are tried in turn: long tokens,
    characters cut in two, chains of merges that flip, and the look-ahead of pre-tokenizers. The
    counterexample with the most wrong tokens for each vocabulary, policy and kind is shortened and
    kept in trophies.json. Run the command again with the same folder to continue; counterexamples
    of other runs in that file are kept unless a better one is found.
    """

    size = options.bytes_of(memory)
    if replay is not None:
        again = list(replayed(replay, vocab, policy, timeout, size))
        Display().show(forced.replayed(again))
        errs = any(depths.get(EXACT) for _, depths in again)
        return exit_statuses.FAILS if errs else exit_statuses.HOLDS
    if vocab is None:
        raise SelectionError("--vocab: name a vocabulary to search in, or give --replay shipped")
    amount = options.budget_of(budget)
    names = named(policy or USUAL)
    task = Task(sources.resolve(vocab), names, "flexible", seed, timeout, size)
    hunt = Hunt(task, amount, out, jobs or os.cpu_count() or 1)
    what = f"searching {task.vocabulary.id} for grammars against {', '.join(names)}"
    progress = Progress(f"{what} {amount.words}, seed {seed}")
    try:
        cut_off = hunt.search(progress.watch, Countdown(amount.seconds), progress.prepared)
    finally:
        progress.stop()
    own = hunt.own()
    remarks = [f"failed: {where}: {how}" for where, how in [*hunt.broke.items()][:BROKEN_SHOWN]]
    remarks += [f"a worker {line}" for line in hunt.journal.left]
    tried = {name: hunt.tried[name] for name in names}
    Display().show(forced.found(own, tried, remarks))
    progress.say(f"  {out / COUNTEREXAMPLES}; {RECORD}: run again to continue")
    if cut_off is not None:
        return exit_status(cut_off)
    erred = EXACT in names and any(one.policy == EXACT for one in own)
    return exit_statuses.FAILS if erred else exit_statuses.HOLDS
