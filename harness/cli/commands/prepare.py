"""``tokgate prepare``: what a first run would compile and build, ahead of it."""

from __future__ import annotations

import os
import threading
import time

from rich.text import Text

from corpora.generators.catalog import generators
from harness.checks import CHECKS, MEASURES
from harness.cli.commands.common import Jobs, Vocabs
from harness.cli.display import Display
from harness.cli.progress.run import Progress
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.suites import SUITES, Budget
from harness.studies import preparing


def prepare(vocab: Vocabs = None, jobs: Jobs = 0) -> None:
    """Compile what runs need and build the tables of vocabularies, once for all later runs.

    A run does so by itself for what it needs, before its time begins. What is made is kept in the
    user's cache folder; it is made again where tokgate or Numba is another.
    """

    began = time.monotonic()
    present, _ = selection.participants([])
    names = vocab or []
    plan = Plan(
        vocabularies=selection.vocabularies(names, 0),
        participants=present,
        references=frozenset(),
        generators=list(generators().values()),
        checks=list(CHECKS.values()),
        scaled=selection.scaled(names, list(MEASURES)),
        walked=selection.walked(names, list(MEASURES)),
        expectations=(),
        suite=SUITES["smoke"],
        budget=Budget(),
        seed=0,
        jobs=jobs or max(2, (os.cpu_count() or 2) // 2),
        fail_fast=False,
    )
    console = Display(stderr=True)
    progress = Progress(console, None)
    try:
        count = preparing.prepare(plan, progress.consume, threading.Event())
    finally:
        progress.stop()
    seconds = time.monotonic() - began
    what = f"{count} vocabularies" if count else "all was there already"
    console.print(Text(f"prepared in {seconds:.0f} s ({what})", style="bold"))
