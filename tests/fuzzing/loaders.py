"""Fuzz the loaders: mutants of valid files, each of which must be refused clearly or load whole.

    python -m tests.fuzzing.loaders --mutants 100000 --format all --seed 0

prints a table: of each format the mutants, those refused with one clear line, those accepted (with
``preflight`` and what else a run asks of them), and the others, of which there must be none:
tracebacks, deaths, more than 1 GiB of memory or 20 seconds of CPU time. The exit status is 1 if
there is one. A mutant is named by seed, format and number; ``--show NUMBER`` writes it to a file
and loads it without limits, so that the traceback can be seen. Ctrl-C prints the table so far.

Mutants are loaded in a child process with limits. It counts in memory that both share; where it
dies, the mutant that it was at is counted, and another child goes on behind it.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import mmap
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

NAMES = (
    *(
        "tiktoken",
        "tiktoken-json",
        "tekken",
        "json-bpe",
        "json-unigram",
        "json-wordpiece",
        "sentencepiece",
        "gguf",
    ),
    *("expectations", "families", "defects", "record", "corpus"),
)
"""Of all formats, in the order of the table: known without importing what loads them."""

PLANTED = ("traceback", "unclear", "broken", "hang", "memory", "death")
"""Formats of :mod:`tests.fuzzing.planted`: each has a loader that is wrong in one way."""

MEMORY = 1 << 30
"""Bytes that loading may take beyond what the interpreter has with everything imported."""

SECONDS = 20
"""CPU time that one mutant may take."""

COUNTERS = struct.Struct("=4q")
"""Of the shared memory: the number of the mutant that is being loaded, and how many were refused,
accepted and neither."""


@dataclass
class Tally:
    """What became of the mutants of one format. faults: a line for each that is neither."""

    name: str
    refused: int = 0
    accepted: int = 0
    other: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def mutants(self):
        """How many there were."""
        return self.refused + self.accepted + self.other


def mutant(form, seed, number):
    """The mutant of this number: the same on every machine."""
    from tests.fuzzing.formats import mutant_of

    return mutant_of(form, random.Random(f"{seed} {form.name} {number}"))


def named(name):
    """A format, or one of the planted ones that show that the fuzzer catches what it should."""
    if name in PLANTED:
        from tests.fuzzing import planted

        return planted.FORMATS[name]
    from tests.fuzzing.formats import FORMATS

    return FORMATS[name]


# --- the child ------------------------------------------------------------------------------------


def child(name, seed, first, last, counters, seconds=SECONDS):
    """Load mutants ``first`` to ``last`` within limits; faults go to stdout, a line each."""
    form = named(name)
    with counters.open("r+b") as file:
        shared = mmap.mmap(file.fileno(), COUNTERS.size)
        path = counters.with_name(form.file)  # the parent removes the folder, however this ends
        os.environ["TOKGATE_WARMING"] = "1"
        for number in range(8):  # import and compile before the limits hold
            path.write_bytes(mutant(form, -1, number))
            with contextlib.suppress(Exception):
                form.use(path)
        del os.environ["TOKGATE_WARMING"]
        bound_memory()
        # The default action of SIGPROF ends the process, also where compiled code never returns.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        _, refused, accepted, other = COUNTERS.unpack(shared)
        for number in range(first, last):
            shared[:] = COUNTERS.pack(number, refused, accepted, other)
            path.write_bytes(mutant(form, seed, number))
            signal.setitimer(signal.ITIMER_PROF, seconds)
            try:
                if form.use(path):
                    accepted += 1
                else:
                    refused += 1
            except Exception as error:
                other += 1
                print(f"{number}: {described(error)}", flush=True)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if number % 1000 == 999:
                gc.collect()
        shared[:] = COUNTERS.pack(last, refused, accepted, other)


def bound_memory():
    """Let this process take :data:`MEMORY` more than it has."""
    status = Path("/proc/self/statm").read_text().split()
    limit = int(status[0]) * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def described(error):
    """An exception in one line: where in our sources it was, and what it says."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/site-packages/" not in frame.filename]
    last = ours[-1] if ours else frames[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__} at {place}: {ascii(str(error))[:200]}"


# --- the parent -----------------------------------------------------------------------------------


def fuzz(name, mutants, seed, tell=False, seconds=SECONDS):
    """Load so many mutants of a format, one child after another."""
    tally = Tally(name)
    with tempfile.TemporaryDirectory(prefix="tokgate-fuzz-") as folder:
        counters = Path(folder, "counters")
        counters.write_bytes(COUNTERS.pack(0, 0, 0, 0))
        first = 0
        try:
            while first < mutants:
                command = [sys.executable, "-m", "tests.fuzzing.loaders", "--child", str(counters)]
                command += ["--format", name, "--seed", str(seed), "--first", str(first)]
                command += ["--mutants", str(mutants), "--seconds", str(seconds)]
                with subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                ) as process:
                    try:
                        tally.faults += _watched(process, counters, tally, mutants, tell)
                    finally:
                        process.kill()
                _read(counters, tally)
                if process.returncode == 0:
                    break
                at = COUNTERS.unpack(counters.read_bytes())[0]
                if process.returncode > 0:
                    raise RuntimeError(f"the fuzzer itself failed at mutant {at}: see above")
                died = -process.returncode
                reason = f"more than {seconds} s" if died == signal.SIGPROF else f"died by {died}"
                tally.faults.append(f"{at}: {reason}")
                counts = (tally.refused, tally.accepted, tally.other + 1)
                counters.write_bytes(COUNTERS.pack(at + 1, *counts))
                _read(counters, tally)
                first = at + 1
        except KeyboardInterrupt:
            _read(counters, tally)
            raise Interrupted(tally) from None
    return tally


class Interrupted(Exception):
    """Ctrl-C: with what was counted till then."""

    def __init__(self, tally):
        self.tally = tally
        super().__init__("interrupted")


def _watched(process, counters, tally, mutants, tell):
    """The lines of a child, while a line of progress is shown."""
    while True:
        try:
            out, err = process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            _read(counters, tally)
            if tell:
                line = f"{tally.name}: {tally.mutants:,} of {mutants:,}, {tally.other} other"
                print(f"\r{line:<70}", end="", file=sys.stderr, flush=True)
        else:
            if process.returncode > 0:
                print(err[-3000:], file=sys.stderr)
            return out.splitlines()


def _read(counters, tally):
    _, tally.refused, tally.accepted, tally.other = COUNTERS.unpack(counters.read_bytes())


def table(tallies):
    """The table in Markdown."""
    lines = ["| format | mutants | clean errors | accepted | other |", "|---|--:|--:|--:|--:|"]
    lines += [
        f"| {one.name} | {one.mutants:,} | {one.refused:,} | {one.accepted:,} | {one.other:,} |"
        for one in tallies
    ]
    return "\n".join(lines)


def show(name, seed, number):
    """Write one mutant to a file and load it here, without limits."""
    form = named(name)
    path = Path(tempfile.mkdtemp(prefix="tokgate-fuzz-"), form.file)
    path.write_bytes(mutant(form, seed, number))
    print(path)
    print("accepted" if form.use(path) else "refused")


def main():
    """The command; 1 where a mutant was neither refused clearly nor accepted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--mutants", type=int, default=1000, help="of each format")
    parser.add_argument("--format", default="all", choices=["all", *NAMES, *PLANTED])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, metavar="NUMBER", help="load this mutant alone")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of CPU time for one")
    given = parser.parse_args()
    if given.child is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        child(given.format, given.seed, given.first, given.mutants, given.child, given.seconds)
        return 0
    if given.show is not None:
        show(given.format, given.seed, given.show)
        return 0
    tallies = []
    start = time.monotonic()
    status = 0
    try:
        for name in NAMES if given.format == "all" else (given.format,):
            tally = fuzz(name, given.mutants, given.seed, sys.stderr.isatty(), given.seconds)
            tallies.append(tally)
    except Interrupted as stopped:
        tallies.append(stopped.tally)
        status = 130
    print(table(tallies))
    for one in tallies:
        for fault in one.faults[:20]:
            print(f"{one.name} {fault}")
    print(f"{time.monotonic() - start:.0f} s, seed {given.seed}", file=sys.stderr)
    return status or int(any(one.other for one in tallies))


if __name__ == "__main__":
    sys.exit(main())
