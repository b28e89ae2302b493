"""How many mutants of the rooms that judge are killed by the quick tests: ``make mutation``.

A mutant is the product with one small change, by cosmic-ray: another comparison, a number that is
one more, a condition turned round, a loop that does nothing. Of each room so many are drawn at
random, the same for the same seed and the same source; what is compiled by Numba runs interpreted.
Changes in annotations and decorators, and of constants outside of functions, say nothing of tests
and are left out.

First all tests are run once, to see which of them reach which line (by coverage.py) and how long
each takes. A mutant is killed where one of those that reach its line fails: they are tried, the
quickest first, for :data:`PATIENCE` seconds of what they take without it.

Results are kept in a file a room as they come, and the same command goes on with them. Those that
survive are printed. Exit status: 0 where each room reaches its share, 1 otherwise.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import multiprocessing
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec
from coverage import CoverageData
from rich.progress import track

ROOT = Path(__file__).parents[2]

ENOUGH = 0.9
"""The share of its mutants that a room's tests must kill."""

Result = dict[str, Any]
"""What became of a mutant: its :data:`IDENTITY`, ``line``, ``killed``, and the ``change``."""

IDENTITY = ("path", "operator", "occurrence")

PATIENCE = 60.0
"""Seconds that the tests of one mutant take without it, at most."""

SLOW = 20.0
"""Seconds after which a test, interpreted and under coverage, is too slow to be tried."""

ENDLESS = "tests/properties/impls/test_conformance.py"
"""What it tests catches all that is raised, and so does not end when a test is too slow."""

HANGS = 5
"""Tests that take so many times as long as without a mutant are taken to hang, which kills it."""

START = 30.0
"""Seconds that pytest may take to begin, on a machine that is busy."""

REACHED = "reached.coverage"
"""The file of what tests reach, in the folder of the results."""

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed", "0"]

TESTS = (
    "tests/properties",
    "tests/mutants",
    "tests/contracts",
    "tests/faults/files",
    "tests/faults/findings",
)
"""Tests that run what they test in their own process, so that a mutant is there."""

ROOMS = {
    "checks": "harness/checks/*.py",
    "findings": "harness/findings/*.py",
    "verdict": "harness/verdict/*.py",
    "vocabularies": "corpora/vocabularies/*.py",
    "algorithms": "impls/bpe/*.py impls/spm/*.py impls/unigram/*.py impls/wordpiece/*.py "
    "impls/pretokenize/*.py impls/forced/exact.py",
}
"""The rooms that judge, as patterns of paths with spaces between."""


@dataclass(frozen=True)
class Reach:
    """Which tests reach a line, and the seconds that each test takes."""

    data: CoverageData
    seconds: dict[str, float]

    @classmethod
    def of(cls, out: Path, jobs: int) -> Reach:
        """From a run of all tests, which is made once for a folder of results."""
        data, times = out / REACHED, out / "tests.jsonl"
        if not data.exists():
            command = [*PYTEST, "--timeout", str(SLOW), "-o", "timeout_method=signal"]
            command += ["-n", str(jobs), "--dist", "worksteal", "--report-log", str(times)]
            command += ["--ignore", ENDLESS, "--cov", "--cov-config", str(configuration(out))]
            command += ["--cov-context", "test"]
            subprocess.run([*command, "--cov-report", "", *TESTS], check=False, env=interpreted())
        lines = map(json.loads, times.read_text().splitlines())
        calls = [one for one in lines if one.get("when") == "call"]
        passed = {one["nodeid"]: one["duration"] for one in calls if one["outcome"] == "passed"}
        read = CoverageData(data)
        read.read()
        return cls(read, passed)

    def tests(self, mutant: MutationSpec) -> list[str]:
        """The tests that reach the lines of a mutant, the quickest first, as far as time allows."""
        by_line = self.data.contexts_by_lineno(str(ROOT / mutant.module_path))
        places = range(mutant.start_pos[0], mutant.end_pos[0] + 1)
        names = {name.rpartition("|")[0] for line in places for name in by_line.get(line, ())}
        ordered = sorted(names & self.seconds.keys(), key=self.seconds.__getitem__)
        ends = accumulate(map(self.seconds.__getitem__, ordered))
        return [name for name, end in zip(ordered, ends, strict=True) if end <= PATIENCE]


def configuration(out: Path) -> Path:
    """A file of settings for coverage.py: what is looked at, and where it is kept."""
    folders = ",".join(
        sorted({Path(one).parts[0] for room in ROOMS.values() for one in room.split()})
    )
    file = out / "coverage.ini"
    file.write_text(f"[run]\nsource = {folders}\ndata_file = {out / REACHED}\n")
    return file


def mutants(room: str, number: int, seed: int) -> list[MutationSpec]:
    """The mutants of a room that are tried: at so many places, which are drawn at random."""
    with tempfile.TemporaryDirectory() as folder, use_db(f"{folder}/mutants.sqlite") as known:
        init(expand(room), known, {})
        every = [one for item in known.work_items for one in item.mutations if tells(one)]
    # A place with ten operators to put there counts no more than one that can only be turned round.
    places: dict[tuple[str, tuple[int, int]], list[MutationSpec]] = {}
    for one in sorted(every, key=lambda one: (one.operator_name, one.occurrence)):
        places.setdefault((str(one.module_path), one.start_pos), []).append(one)
    draw = random.Random(seed)
    chosen = draw.sample(sorted(places), min(number, len(places)))
    return [draw.choice(places[one]) for one in chosen]


def expand(patterns: str) -> list[Path]:
    """The files that patterns name, relative to the working directory; each names at least one."""
    found = {one: sorted(Path().glob(one)) for one in patterns.split()}
    if missing := [one for one, files in found.items() if not files]:
        sys.exit(f"mutation: nothing is named {', '.join(missing)}: correct the table of rooms")
    return [file for files in found.values() for file in files]


def tells(mutant: MutationSpec) -> bool:
    """Whether tests could notice a mutant: it is in a function, and no type or decorator.

    Nor is it ``strict=True``, which is there for what never happens.
    """
    if mutant.operator_name == "core/RemoveDecorator":
        return False
    line, column = mutant.start_pos
    if not any(first < line <= last for first, last in functions(mutant.module_path)):
        return False
    if lines(mutant.module_path)[line - 1][:column].endswith("strict="):
        return False
    return not any(a <= mutant.start_pos < b for a, b in annotations(mutant.module_path))


@cache
def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text().splitlines()


@cache
def functions(path: Path) -> list[tuple[int, int]]:
    """The lines in which each function of a file begins and ends."""
    nodes = ast.walk(ast.parse(path.read_text()))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(one.lineno, one.end_lineno or 0) for one in nodes if isinstance(one, kinds)]


@cache
def annotations(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where the annotations of a file begin and end, as lines and columns."""
    nodes = ast.walk(ast.parse(path.read_text()))
    found = (getattr(node, name, None) for node in nodes for name in ("annotation", "returns"))
    return [
        ((one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset))
        for one in found
        if one is not None
    ]


def interpreted() -> dict[str, str]:
    """The environment of tests of what lies in the working directory, with kernels interpreted."""
    return os.environ | {"PYTHONPATH": str(Path.cwd()), "NUMBA_DISABLE_JIT": "1"}


def copied(folders):
    """Copy the files of the repository into one of some folders, and work there from now on."""
    folder = Path(folders.get())
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in names.stdout.decode().split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    os.chdir(folder)
    os.environ.update(interpreted())


def identity(mutant: MutationSpec) -> tuple[str, str, int]:
    """What makes a mutant this one: the values of :data:`IDENTITY`."""
    return str(mutant.module_path), mutant.operator_name, mutant.occurrence


def tried(asked: tuple[MutationSpec, list[str], float]) -> Result:
    """What became of a mutant under these tests, which take so many seconds without it.

    In the copy of the repository that is this process's own. One that no test reaches survives.
    """
    mutant, tests, seconds = asked
    command = shlex.join([*PYTEST, "-x", "-n0", *tests]) if tests else "true"
    made = mutate_and_test([mutant], command, START + HANGS * seconds)
    told = dict(zip(IDENTITY, identity(mutant), strict=True))
    change = "" if made.is_killed else made.diff
    line = mutant.start_pos[0]
    return {**told, "line": line, "tests": len(tests), "killed": made.is_killed, "change": change}


def measured(
    name: str, mutants: Sequence[MutationSpec], reach: Reach, out: Path, jobs: int
) -> list[Result]:
    """What became of each mutant of a room; what is in its file of results is not tried again."""
    record = out / f"{name}.jsonl"
    known = (
        [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    )
    done = {tuple(one[key] for key in IDENTITY): one for one in known}
    asked = []
    for one in mutants:
        if identity(one) not in done:
            tests = reach.tests(one)
            asked.append((one, tests, sum(map(reach.seconds.__getitem__, tests))))
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(record.open("a"))
        copies = multiprocessing.SimpleQueue()
        for _ in range(jobs):
            copies.put(stack.enter_context(tempfile.TemporaryDirectory()))
        pool = stack.enter_context(multiprocessing.Pool(jobs, copied, (copies,)))
        pending = pool.imap_unordered(tried, asked)
        for result in track(pending, f"{name:12}", total=len(asked), auto_refresh=False):
            log.write(json.dumps(result) + "\n")
            log.flush()
            done[tuple(result[key] for key in IDENTITY)] = result
    return [done[identity(one)] for one in mutants]


def main() -> int:
    """Measure the rooms that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--mutants", type=int, default=300, help="mutants of a room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("mutation"), help="folder of the results")
    given = parser.parse_args()
    if unknown := {*given.rooms} - {*ROOMS}:
        parser.error(f"no room is named {', '.join(sorted(unknown))}: {', '.join(ROOMS)} are")
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    short, reach = 0, Reach.of(out, given.jobs)
    for name in given.rooms or ROOMS:
        results = measured(
            name, mutants(ROOMS[name], given.mutants, given.seed), reach, out, given.jobs
        )
        for one in (one for one in results if not one["killed"]):
            print(f"survived: {one['path']}:{one['line']} {one['operator']}\n{one['change']}")
        share = sum(bool(one["killed"]) for one in results) / len(results)
        print(f"{name}: {share:.1%} of {len(results)} mutants killed")
        short += share < ENOUGH
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
