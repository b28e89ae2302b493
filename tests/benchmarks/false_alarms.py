"""How often a gate accuses the innocent: ``python -m tests.benchmarks.false_alarms --runs 100``.

Whole gates are run as users run them, on the embedded vocabularies, beside processes that take the
processor away. In the kinds ``run`` (the default run), ``plugin`` (a correct plug-in against
tiktoken), ``stdio`` (one over the stdio protocol) and ``fuzz``, all is right but what the shipped
expectations know of, so that every other finding, every withdrawal, every growth verdict against
what is known to be linear, and every exit status but 0 is false. The other kinds have a planted
mistake, which must be named, with its cause, and nobody else.

Each run has a folder, with its result when it is done: the same command goes on with these. Exit
status: 0 where nothing was wrong, 1 otherwise, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from harness.events import BatchDone, GrowthJudged, Measured, read_events
from harness.verdict.coverage import Coverage

ROOT = Path(__file__).parents[2]
PLUG_INS = Path(__file__).with_name("planted.py")
CORRECT = ROOT / "tests" / "mutants" / "in_process.py"
STDIO = ROOT / "impls" / "examples" / "stdio_encoder.py"

GATES = ("run", "plugin", "stdio", "fuzz")
"""Kinds of gates in which everything is right but what the shipped expectations know of."""

SLOW = "mini-slow"
"""The planted implementation that is right, and of which nothing may be said."""

PLANTED = {
    "mini-hang": (f"{CORRECT}:Hang", "timed-out"),
    "mini-busy": (f"{PLUG_INS}:Busy", "timed-out"),
    "mini-late": (f"{PLUG_INS}:Late", "timed-out"),
    "mini-grow": (f"{CORRECT}:Grow", "out-of-memory"),
    "mini-leaks": (f"{PLUG_INS}:Leaks", "out-of-memory"),
    SLOW: (f"{PLUG_INS}:Slow", ""),
}
"""By the name of each planted implementation: its spec, and the stage of the finding that names it
rightly (empty for the one of which nothing may be said)."""

LINEAR = ("bpe.", "spm.", "unigram.", "wordpiece.", "mini-", "stdio-example")
"""How the names of those begin whose cost is known to be linear, or n log n, but for the definition
itself, which looks through all pairs for each merge."""

STARVED = 3.0
"""The slow implementation starves another where that one is judged on fewer than so many times its
cases: left to itself it would have a hundred times as many."""

GUARD_SECONDS = 1800.0
"""After which a run is given up: many times what the longest takes."""

BUSY = (
    "import ctypes, os, sys\n"
    "ctypes.CDLL(None).prctl(1, 9)\n"  # PR_SET_PDEATHSIG: it dies with the benchmark, however
    "if os.getppid() != int(sys.argv[1]): sys.exit()\n"
    "while True: pass\n"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the plan.

    kind: of :data:`GATES` or :data:`PLANTED`. load: busy processes beside it. cold: it has an empty
    cache of compiled functions and tables. nth: tells runs of one kind apart.
    """

    kind: str
    load: int
    cold: bool
    nth: int

    @property
    def name(self):
        """What tells a run from all others of a plan, as the name of its folder."""
        return f"{self.kind}-load{self.load}-{'cold' if self.cold else 'warm'}-{self.nth:03}"

    def command(self):
        """The arguments after ``tokgate``.

        The default run has the seed that it has for everybody, as the very first command that a
        user types must not be wrong; the others have one each, so that many inputs are tried.
        """
        beside = ["run", "--vocab=tekken_240911", "--reference=tiktoken", "--impl=tiktoken"]
        seed = f"--seed={zlib.crc32(self.name.encode()) % 10_000}"
        if self.kind == "run":
            return ["run"]
        if self.kind == "fuzz":
            names = ("tekken_240911", "mistral_v1", "unigram_nfkc", "toy_bytes")
            return ["fuzz", *(f"--vocab={name}" for name in names), "--budget=60s", seed]
        if self.kind == "plugin":
            return [*beside, f"--impl={CORRECT}:Correct", "--budget=20s", seed]
        if self.kind == "stdio":
            return [*beside, f"--impl=cmd:{sys.executable} {STDIO}", "--budget=20s", seed]
        spec = f"--impl={PLANTED[self.kind][0]}"
        limits = [] if self.kind == SLOW else ["--timeout=2", "--memory=1"]
        return [*beside, "--impl=bpe.heap", spec, "--budget=20s", seed, *limits]


@dataclass(frozen=True, slots=True)
class Result:
    """A run, how long it took, and a line for each thing that is wrong with it."""

    run: Run
    seconds: float
    wrong: list[str]


def plan(kinds, loads, runs, rounds, cold):
    """The runs in their order, the same each time: gates, and planted mistakes among them.

    kinds: those wanted. runs: the number of gates. rounds: how often each planted mistake is run
    under each load. cold: the share of the runs that are cold.
    """
    rng, cells = random.Random(0), list(product(kinds, loads))
    gates = [cell for cell in cells if cell[0] in GATES]
    rng.shuffle(gates)
    every = (gates * -(-runs // max(1, len(gates))))[:runs]
    every += [cell for cell in cells if cell[0] in PLANTED] * rounds
    rng.shuffle(every)
    return [Run(*cell, rng.random() < cold, nth) for nth, cell in enumerate(every)]


def accusations(events):
    """Who is accused by a record, of what, and at which stage a finding is; nothing expected."""
    seen = Coverage.of(events)
    for one in seen.findings.values():
        if one.expected is None:
            yield one.culprits, f"finding {one.bucket} on {one.vocabulary}", one.stage
    for gone in seen.withdrawn.values():
        yield [gone.implementation], f"withdrawal {gone.line}", ""
    broken = {
        (one.implementation, f"growth {one.family}, {one.measure}, on {one.vocabulary}")
        for one in events
        if (isinstance(one, GrowthJudged) and one.outcome == "fail")
        or (
            isinstance(one, Measured)
            and one.verdict == "superlinear"
            and one.implementation.startswith(LINEAR)
            and one.implementation != "bpe.naive"
        )
    }
    yield from (([name], line, "") for name, line in sorted(broken))


def judged(run, events, status, seconds):
    """What is wrong with a run, by its record and the status of its end (None: it was killed).

    The planted implementation, and nobody else, may be accused: what hangs or leaks is withdrawn
    for it, and how its cost grows is anybody's guess. But it must be named with its cause.
    """
    told = list(events)
    planted, stage = run.kind, PLANTED.get(run.kind, ("", ""))[1]
    accused = list(accusations(told))
    deserved = [one for one in accused if stage and one[0] == [planted] and one[2] in ("", stage)]
    wrong = [
        f"{line} blames {', '.join(who)}"
        for who, line, at in accused
        if (who, line, at) not in deserved
    ]
    if status != 0 and not accused:
        wrong.append(f"exit status {status} for no reason that is told")
    if stage and not any(at for _, _, at in deserved):
        wrong.append(f"missed: {planted} was not named")
    if planted == SLOW:
        batches = (one for one in told if isinstance(one, BatchDone))
        cases = Counter()
        for one in batches:
            cases.update(one.exercised.get("survival", {}))
        wrong += [] if cases[SLOW] else [f"missed: {SLOW} was never judged"]
        wrong += [
            f"starved: {name} had {count:,} cases, {SLOW} {cases[SLOW]:,}"
            for name, count in sorted(cases.items())
            if name != SLOW and count < STARVED * cases[SLOW]
        ]
    return Result(run, seconds, wrong)


@contextlib.contextmanager
def busy(count):
    """So many processes that do nothing but take a processor, for as long as the block lasts."""
    every = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(count)]
    try:
        yield
    finally:
        for one in every:
            one.kill()
            one.wait()


def result_of(run, folder):
    """The result of a run in a folder of its own, made from there as a user does where it has
    none."""
    kept = folder / "result.json"
    if not kept.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        made = carried_out(run, folder)
        kept.write_text(json.dumps([made.seconds, made.wrong]))
        print(f"{run.name}: {len(made.wrong)} wrong", flush=True)
    return Result(run, *json.loads(kept.read_text()))


def carried_out(run, folder):
    """Make one run; its output stays where something is wrong with it."""
    given = os.environ | {"PYTHONPATH": str(ROOT)}
    given.pop("TOKGATE_LEDGER", None)  # runs of a benchmark are nobody's history
    if run.cold:
        caches = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TOKGATE_CACHE_DIR")
        given |= {name: str(folder / "caches" / name) for name in caches}
    code = "import sys; from harness.cli.application import main; sys.exit(main())"
    command, status = [sys.executable, "-c", code, *run.command(), "--out=out"], None
    began = time.monotonic()
    with (
        busy(run.load),
        (folder / "output.txt").open("wb") as said,
        contextlib.suppress(subprocess.TimeoutExpired),
    ):
        status = subprocess.run(
            command, cwd=folder, env=given, stdout=said, stderr=said, timeout=GUARD_SECONDS,
            check=False,
        ).returncode  # fmt: skip
    seconds, record = time.monotonic() - began, folder / "out" / "run.jsonl"
    result = judged(run, read_events(record) if record.exists() else (), status, seconds)
    for name in ("caches", *["out"] * (not result.wrong)):
        shutil.rmtree(folder / name, ignore_errors=True)
    return result


def upper_bound(successes, trials, level=0.95):
    """The one-sided upper bound of Clopper and Pearson (Biometrika 26, 1934) on a share.

    It is the largest share under which so few successes are not rarer than ``1 - level``. Without
    any success it is about ``3 / trials`` at 95 % (the rule of three). Without any trial nothing is
    known, and the bound is 1.
    """
    low, high = 0.0, 1.0
    while successes < trials and high - low > 1e-9:
        share = (low + high) / 2
        rare = sum(
            math.comb(trials, k) * share**k * (1 - share) ** (trials - k)
            for k in range(successes + 1)
        )
        low, high = (share, high) if rare > 1 - level else (low, share)
    return high


def table(results):
    """The shares of runs in Markdown, by kind and load and by load, with their upper bounds."""
    lines = ["| kind | busy processes | runs (cold) | wrong | s |", "|---" * 5 + "|"]
    loads = sorted({one.run.load for one in results})
    for kind, load in product((*GATES, *PLANTED, "all gates"), loads):
        of = {kind} if kind in (*GATES, *PLANTED) else {*GATES}
        some = [one for one in results if one.run.load == load and one.run.kind in of]
        if some:
            wrong = sum(bool(one.wrong) for one in some)
            share = f"{wrong} (at most {upper_bound(wrong, len(some)):.1%})"
            cold, seconds = sum(one.run.cold for one in some), sum(one.seconds for one in some)
            row = (kind, load, f"{len(some)} ({cold})", share, f"{seconds / len(some):.0f}")
            lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(
        [*lines, "", *(f"- `{one.run.name}`: {line}" for one in results for line in one.wrong)]
    )


def main():
    """Plan, run what is left of it, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100, help="gates of what is right")
    parser.add_argument("--planted", type=int, default=1, help="rounds of the planted mistakes")
    parser.add_argument("--load", type=int, nargs="+", default=[0, 2, 4], help="busy processes")
    parser.add_argument("--cold", type=float, default=0.1, help="share of runs with empty caches")
    kinds = [*GATES, *PLANTED]
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--out", type=Path, default=Path("tokgate-false-alarms"))
    asked = parser.parse_args()
    wanted = plan(asked.kinds, asked.load, asked.runs, asked.planted, asked.cold)
    found, interrupted = [], False
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        found.extend(result_of(run, asked.out.resolve() / run.name) for run in wanted)
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
        interrupted = True
    print(f"{len(found)} of {len(wanted)} runs\n\n{table(found)}")
    sys.exit(130 if interrupted else int(any(one.wrong for one in found)))


if __name__ == "__main__":
    main()
