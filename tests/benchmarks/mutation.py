"""How many mutants of the rooms that judge are killed by their tests: ``make mutation``.

A mutant is the product with one small change, by cosmic-ray: another comparison, a number that is
one more, a condition turned round, a loop that does nothing. It is killed where a test of its room
fails. Of each room so many are drawn at random, the same for the same seed and the same source;
what is compiled by Numba runs interpreted. Changes in annotations and decorators, and of
constants outside of functions, say nothing of tests and are left out.

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
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec
from rich.progress import track

ROOT = Path(__file__).parents[2]

ENOUGH = 0.9
"""The share of its mutants that a room's tests must kill."""

Result = dict[str, Any]
"""What became of a mutant: its :data:`IDENTITY`, ``line``, ``killed``, and the ``change``."""

IDENTITY = ("path", "operator", "occurrence")

HANGS = 5
"""Tests that take so many times as long as without a mutant are taken to hang, which kills it."""


@dataclass(frozen=True)
class Room:
    """What is mutated, and the tests that must notice: patterns of paths, with spaces between."""

    product: str
    tests: str


ROOMS = {
    "checks": Room(
        "harness/checks/*.py",
        "tests/properties/checks/test_*.py tests/mutants/test_checks.py "
        "tests/mutants/test_mutants.py",
    ),
    "findings": Room("harness/findings/*.py", "tests/properties/findings/test_*.py"),
    "verdict": Room(
        "harness/verdict/*.py",
        "tests/properties/verdict/test_*.py tests/properties/studies/test_costs_*.py",
    ),
    "vocabularies": Room(
        "corpora/vocabularies/*.py",
        "tests/properties/corpora/test_*.py tests/faults/files/test_*.py",
    ),
    "algorithms": Room(
        "impls/bpe/*.py impls/spm/*.py impls/unigram/*.py impls/wordpiece/*.py "
        "impls/pretokenize/*.py impls/forced/exact.py",
        "tests/properties/impls/test_bpe*.py tests/properties/impls/test_spm*.py "
        "tests/properties/impls/test_unigram*.py tests/properties/impls/test_wordpiece*.py "
        "tests/properties/impls/test_pretokenizers.py tests/properties/impls/test_forced*.py",
    ),
}
"""The rooms that judge."""


def mutants(room: Room, number: int, seed: int) -> list[MutationSpec]:
    """The mutants of a room that are tried: at so many places, which are drawn at random."""
    with tempfile.TemporaryDirectory() as folder, use_db(f"{folder}/mutants.sqlite") as known:
        init(expand(room.product), known, {})
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
    if mutant.definition_name is None or mutant.operator_name == "core/RemoveDecorator":
        return False
    line, column = mutant.start_pos
    if lines(mutant.module_path)[line - 1][:column].endswith("strict="):
        return False
    return not any(a <= mutant.start_pos < b for a, b in annotations(mutant.module_path))


@cache
def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text().splitlines()


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


def copied(folders):
    """Copy the files of the repository into one of some folders, and work there from now on."""
    folder = Path(folders.get())
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in names.stdout.decode().split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1"}


def identity(mutant: MutationSpec) -> tuple[str, str, int]:
    """What makes a mutant this one: the values of :data:`IDENTITY`."""
    return str(mutant.module_path), mutant.operator_name, mutant.occurrence


def unharmed(command: str) -> float:
    """The seconds that the tests take without a mutant; 0 where they fail."""
    began = time.monotonic()
    done = subprocess.run(shlex.split(command), check=False, stdout=subprocess.DEVNULL)
    return 0.0 if done.returncode else time.monotonic() - began


def tried(mutant: MutationSpec, command: str, seconds: float) -> Result:
    """What became of a mutant, in the copy of the repository that is this process's own."""
    made = mutate_and_test([mutant], command, seconds)
    told = dict(zip(IDENTITY, identity(mutant), strict=True))
    change = "" if made.is_killed else made.diff
    return {**told, "line": mutant.start_pos[0], "killed": made.is_killed, "change": change}


def measured(name: str, mutants: Sequence[MutationSpec], out: Path, jobs: int) -> list[Result]:
    """What became of each mutant of a room; what is in its file of results is not tried again."""
    command = f"{sys.executable} -m pytest -x -q -n0 -p no:cacheprovider --hypothesis-seed 0"
    command = shlex.join([*shlex.split(command), *map(str, expand(ROOMS[name].tests))])
    record = out / f"{name}.jsonl"
    known = (
        [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    )
    done = {tuple(one[key] for key in IDENTITY): one for one in known}
    left = [one for one in mutants if identity(one) not in done]
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(record.open("a"))
        copies = multiprocessing.SimpleQueue()
        for _ in range(jobs):
            copies.put(stack.enter_context(tempfile.TemporaryDirectory()))
        pool = stack.enter_context(multiprocessing.Pool(jobs, copied, (copies,)))
        usual = pool.apply(unharmed, (command,)) if left else 0.0
        if left and not usual:
            sys.exit(f"mutation: the tests of {name} fail without a mutant")
        perform = partial(tried, command=command, seconds=HANGS * usual)
        pending = pool.imap_unordered(perform, left)
        for result in track(pending, f"{name:12}", total=len(left), auto_refresh=False):
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
    short = 0
    for name in given.rooms or ROOMS:
        results = measured(name, mutants(ROOMS[name], given.mutants, given.seed), out, given.jobs)
        for one in (one for one in results if not one["killed"]):
            print(f"survived: {one['path']}:{one['line']} {one['operator']}\n{one['change']}")
        share = sum(bool(one["killed"]) for one in results) / len(results)
        print(f"{name}: {share:.1%} of {len(results)} mutants killed")
        short += share < ENOUGH
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
