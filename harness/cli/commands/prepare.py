"""``tokgate prepare``: what a first run would compile and build, ahead of it."""

from __future__ import annotations

import compileall
import os
import time
from importlib.util import find_spec

from rich.text import Text

from corpora.generators.catalog import generators
from harness.checks import CHECKS, MEASURES
from harness.cli.commands.common import Jobs, Vocabs
from harness.cli.display import Display
from harness.cli.progress.run import Progress
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.suites import SUITES, Budget
from harness.findings.tracker import FindingTracker
from harness.studies.preparing import Preparation
from impls import registry


def prepare(vocab: Vocabs = None, jobs: Jobs = 0) -> None:
    """Compile what runs need and build the tables of vocabularies, once for all later runs.

    A run does so by itself for what it comes to, which takes most of a first run's time. What is
    made is kept in the user's cache folder; it is made again where tokgate or Numba is another.
    """

    began = time.monotonic()
    compile_modules()
    present, _ = selection.participants([])
    names = vocab or []
    plan = Plan(
        vocabularies=selection.vocabularies(names, 0),
        participants=[one for one in present if registry.our_own(one.spec)],
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
    count = len(plan.visited)
    console.print(f"preparing {count} vocabularies for {len(plan.participants)} of our algorithms")
    progress = Progress(console, None)
    tracker = FindingTracker(progress.consume, lambda *_: None, (), plan.versions)
    run = RunState(plan, progress.consume, tracker)
    sessions = Sessions(run, [Preparation(run)])
    try:
        sessions.run(None)
    finally:
        progress.stop()
    seconds = time.monotonic() - began
    console.print(Text(f"prepared in {seconds:.0f} s: runs find it all in the cache", style="bold"))


def compile_modules() -> None:
    """Write the byte code of all modules that the workers import, who may write none themselves.

    Nothing is said where it cannot be written: an installed package has it already.
    """
    for package in ("corpora", "harness", "impls"):
        found = find_spec(package)
        for folder in (found and found.submodule_search_locations) or ():
            compileall.compile_dir(folder, quiet=2)
