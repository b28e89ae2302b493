"""Fuzz the loaders: mutants of valid files, each of which must be refused clearly or load whole.

    python -m tests.faults.fuzzing.loaders --mutants 100000 --format all --seed 0

prints a table: of each format the mutants, those refused with one clear line, those accepted (with
``preflight`` and what else a run asks of them), and the others, of which there must be none:
tracebacks, deaths, more than 1 GiB of memory or 20 seconds of CPU time. The exit status is 1 if
there is one. A mutant is named by seed, format and number; ``--show NUMBER`` writes it to a file
and loads it without limits, so that the traceback can be seen.

Mutants are loaded in copies of this process, which have limits, and tell of each mutant what became
of it. Where one dies, the mutant that it was at is counted, and another goes on behind it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.fuzzing import planted
from tests.faults.fuzzing.formats import FORMATS, mutant

MEMORY = 1 << 30
"""Bytes that loading may take beyond what the interpreter has with everything imported."""

SECONDS = 20
"""CPU time that one mutant may take."""

CHUNK = 1000
"""Mutants of one child: it ends with all that they have left in its memory."""


@dataclass
class Tally:
    """What became of the mutants of one format. faults: a line for each that is neither."""

    refused: int = 0
    accepted: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def mutants(self):
        """How many there were."""
        return self.refused + self.accepted + len(self.faults)


def in_child(work):
    """Have a copy of this process do something; yields what it tells, then the signal it died of.

    work: is given what tells a line. Raises RuntimeError where it failed itself.
    """
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
            with os.fdopen(writing, "w") as told:
                work(lambda line: print(line, file=told, flush=True))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield from (line.rstrip("\n") for line in told)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status > 0:
        raise RuntimeError("the fuzzer itself failed: see above")
    yield -status


def bound(seconds):
    """Let this process take :data:`MEMORY` more than it has, and so much CPU time from here on."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    # The default action of SIGPROF ends the process, also where compiled code never returns.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def warm_up(form, folder):
    """Import and compile all that loading needs, before there are limits."""
    for number in range(8):
        (folder / form.file).write_bytes(mutant(form, -1, number))
        with contextlib.suppress(Exception):
            form.use(folder / form.file)


def described(error):
    """An exception in one line: where in our sources it was, and what it says."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/site-packages/" not in frame.filename]
    last = ours[-1] if ours else frames[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__} at {place}: {ascii(str(error))[:200]}"


def fuzz(form, mutants, seed, tally, folder, seconds=SECONDS):
    """Load so many mutants of a format, one child after another, into a tally."""
    path = folder / form.file

    def work(tell):
        bound(seconds)
        for number in range(first, min(first + CHUNK, mutants)):
            signal.setitimer(signal.ITIMER_PROF, 0)
            path.write_bytes(mutant(form, seed, number))
            signal.setitimer(signal.ITIMER_PROF, seconds)
            try:
                tell("accepted" if form.use(path) else "refused")
            except Exception as error:
                tell(described(error))

    while (first := tally.mutants) < mutants:
        for told in in_child(work):
            at = tally.mutants
            if told == "accepted":
                tally.accepted += 1
            elif told == "refused":
                tally.refused += 1
            elif isinstance(told, str):
                tally.faults.append(f"{at}: {told}")
            elif told:
                late = f"more than {seconds} s" if told == signal.SIGPROF else f"died by {told}"
                tally.faults.append(f"{at}: {late}")


def show(form, seed, number):
    """Write one mutant to a file and load it here, without limits."""
    path = Path(tempfile.mkdtemp(prefix="tokgate-fuzz-"), form.file)
    path.write_bytes(mutant(form, seed, number))
    print(path)
    print("accepted" if form.use(path) else "refused")


def main():
    """The command; 1 where a mutant was neither refused clearly nor accepted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--mutants", type=int, default=1000, help="of each format")
    every = {"all": FORMATS, "planted": planted.FORMATS}
    parser.add_argument("--format", default="all", choices=[*every, *FORMATS])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, metavar="NUMBER", help="load this mutant alone")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of CPU time for one")
    given = parser.parse_args()
    if given.show is not None:
        show(FORMATS[given.format], given.seed, given.show)
        return 0
    began, faults = time.monotonic(), []
    print("| format | mutants | clean errors | accepted | other |\n|---|--:|--:|--:|--:|")
    forms = every.get(given.format) or {given.format: FORMATS[given.format]}
    try:  # Ctrl-C prints what there is so far
        for name, form in forms.items():
            with tempfile.TemporaryDirectory(prefix="tokgate-fuzz-") as folder:
                if name in FORMATS:
                    warm_up(form, Path(folder))
                tally = Tally()
                try:
                    fuzz(form, given.mutants, given.seed, tally, Path(folder), given.seconds)
                finally:
                    row = (tally.mutants, tally.refused, tally.accepted, len(tally.faults))
                    print(f"| {name} | {' | '.join(f'{one:,}' for one in row)} |", flush=True)
                    faults += [f"{name} {fault}" for fault in tally.faults[:20]]
    finally:
        print("".join(f"{fault}\n" for fault in faults), end="")
        print(f"{time.monotonic() - began:.0f} s, seed {given.seed}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
