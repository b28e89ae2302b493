"""``tokgate prepare``: what a first run would compile and build, ahead of it."""

from __future__ import annotations

import threading
import time

from corpora.generators.catalog import generators
from harness.checks import DEFAULT, MEASURES
from harness.cli.options import Jobs, Vocabs, at_once
from harness.cli.progress import Progress
from harness.engine import selection
from harness.engine.plan import Plan
from harness.engine.suites import SUITES, Budget
from harness.studies import preparation


def command(vocab: Vocabs = [], jobs: Jobs = 0) -> None:
    """Compile code and build tables, so that later runs start faster.

    A run does this itself for what it needs, before its time begins. The results are kept in your
    cache folder, and are made again when the version of tokgate or Numba changes.
    """

    began = time.monotonic()
    plan = Plan(
        vocabularies=selection.vocabularies(vocab, 0),
        participants=selection.participants([])[0],
        generators=list(generators().values()),
        checks=[*DEFAULT.values()],
        scaled=selection.scaled(vocab, list(MEASURES)),
        walked=selection.walked(vocab, list(MEASURES)),
        suite=SUITES["smoke"],
        budget=Budget(),
        jobs=at_once(jobs, 2),
    )
    progress = Progress()
    try:
        count = preparation.prepare(plan, progress.consume, threading.Event())
    finally:
        progress.stop()
    what = f"{count} vocabularies" if count else "everything was ready already"
    progress.say(f"prepared in {time.monotonic() - began:.0f} s ({what})", "bold")
