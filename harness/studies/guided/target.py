"""The target of one algorithm, as libFuzzer runs it::

    python -m harness.studies.guided.target ALGORITHM [--vocab NAME].. [--impl SPEC]..
        [--findings FOLDER] [--plain] [CORPUS..] [-max_total_time=600 ..]

Each input is given to all implementations of the algorithm that are installed, on its small
embedded vocabularies. What looks like a difference, or a failure, is looked into by the harness,
and only a finding of it ends the process: libFuzzer keeps the input as ``crash-..``, and the folder
of the finding has the minimal input and the reproducer.

Our source runs interpreted (``NUMBA_DISABLE_JIT=1``) and instrumented. Where Atheris is not
installed, or with ``--plain``, the same target runs without guidance, compiled: a corpus, and then
``-runs=N`` mutants of it under ``-seed=N``.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.events import Found
    from harness.studies.guided.subject import Subject, Suspicion

    Look = Callable[[Subject, bytes, Path], list[Found]]

FINDINGS = "tokgate-guided"
"""The folder for findings, where none is named."""

LONGEST = 256
"""Bytes of an input, unless ``-max_len`` says otherwise: every branch of ours has a short input."""

RUNS = 10_000
"""Mutants without Atheris, unless ``-runs`` says otherwise."""


class Disagreement(Exception):
    """The harness found something: with its sentence and its reproducer."""


class Asked:
    """Asks the subjects, and has looked into what is suspect. For one thread.

    What is expected is not looked into again where it alone explains an input: without the minimal
    inputs of the expected findings, the rest of it is not suspect. Answers that are suspect for
    another reason, which came to nothing before, are looked into ever more rarely, but never
    ignored: it may be another reason now.
    look: what the harness finds in an input of a subject, with reproducers in a folder below
    ``findings``.
    """

    def __init__(self, subjects: Sequence[Subject], look: Look, findings: Path) -> None:
        self._subjects, self._look, self._findings = subjects, look, findings
        self._known: dict[str, list[bytes]] = {one.source: [] for one in subjects}
        self._unexplained: Counter[Suspicion] = Counter()
        self._number = itertools.count(1)

    def __call__(self, data: bytes) -> None:
        """Ask one input of everybody. Raises Disagreement."""
        for subject in self._subjects:
            suspicion = subject.suspicion(data)
            if suspicion is None or self._explained(subject, data):
                continue
            self._unexplained[suspicion] += 1
            if self._unexplained[suspicion].bit_count() != 1:  # at 1, 2, 4, 8 and so on
                continue
            out = self._findings / f"look-{os.getpid()}-{next(self._number)}"
            found = self._look(subject, data, out)
            if told := [one for one in found if one.expected is None]:
                raise Disagreement(
                    "; ".join(f"{one.bucket}: {one.difference}" for one in told)
                    + f"; reproduce: python {out / (told[0].reproducer or '')}"
                )
            known = self._known[subject.source]
            parts = [one.input for one in found]
            new = [part for part in parts if part and part not in known]
            if new:
                known += new
                self._unexplained[suspicion] -= 1

    def _explained(self, subject: Subject, data: bytes) -> bool:
        """Whether an input without the parts that are known is not suspect."""
        rest = data
        for part in sorted(self._known[subject.source], key=len, reverse=True):
            rest = rest.replace(part, b"")
        if rest == data or not subject.vocabulary.can_encode(rest):
            return False
        return subject.suspicion(rest) is None


def main(arguments: Sequence[str]) -> None:
    """Fuzz; see above."""
    options, libfuzzer = parsed(arguments)
    if options.plain or importlib.util.find_spec("atheris") is None:
        print("without Atheris: nothing guides what comes next", file=sys.stderr)
        plainly(options, libfuzzer)
    elif os.environ.get("NUMBA_DISABLE_JIT") == "1":
        fuzz(options, libfuzzer)
    else:  # Numba reads it when it is imported
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", __spec__.name, *arguments])


def parsed(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our options and libFuzzer's, which begin with one dash and may have an equals sign."""
    parser = argparse.ArgumentParser(prog="guided.target", allow_abbrev=False)
    parser.add_argument("algorithm", choices=("bpe", "spm", "unigram", "wordpiece"))
    parser.add_argument("corpus", nargs="*", type=Path)
    parser.add_argument("--vocab", action="append")
    parser.add_argument("--impl", action="append", default=[])
    parser.add_argument("--findings", type=Path, default=Path(FINDINGS))
    parser.add_argument("--plain", action="store_true")
    theirs = [one for one in arguments if one.startswith("-") and not one.startswith("--")]
    ours = [one for one in arguments if one not in theirs]
    return parser.parse_intermixed_args(ours), theirs


def opened(options: argparse.Namespace) -> tuple[list[Subject], Asked]:
    """Load the vocabularies into all that take part, and say who does; what asks them."""
    # Only here, as it is instrumented what these import.
    from harness.engine import selection  # noqa: PLC0415
    from harness.studies.guided import looking  # noqa: PLC0415
    from harness.studies.guided.subject import Subject, small  # noqa: PLC0415

    participants, _ = selection.participants(options.impl)
    # A program is a process of its own: it covers nothing here, and takes a millisecond.
    here = [one for one in participants if not one.spec.startswith(("cmd:", "pip:", "npm:"))]
    subjects = [Subject(one, here) for one in options.vocab or small(options.algorithm)]
    for one in subjects:
        print(f"{one.source}: {', '.join(one.names)}", file=sys.stderr)
        for name, why in one.left_out.items():
            print(f"{one.source}: without {name}: {why}", file=sys.stderr)

    def look(subject: Subject, data: bytes, out: Path) -> list[Found]:
        impl = options.impl or subject.names
        return looking.look(options.algorithm, subject.source, impl, data, out)

    return subjects, Asked(subjects, look, options.findings.resolve())


def fuzz(options: argparse.Namespace, libfuzzer: Sequence[str]) -> None:
    """Have Atheris guide it. Does not return."""
    import atheris  # noqa: PLC0415 (it is slow to import, and not on every system)

    with atheris.instrument_imports(include=["impls"], enable_loader_override=False):
        subjects, target = opened(options)
        for one in subjects:
            one.suspicion(b"a")  # imports what is imported late

    from harness.studies.guided.making import Mutator  # noqa: PLC0415

    def theirs(data: bytes, most: int) -> bytes:
        # Looked up late: Atheris has another one as soon as the fuzzing begins.
        mutant: bytes = atheris.Mutate(data, most)
        return mutant

    mutator = Mutator([one.vocabulary for one in subjects], theirs)
    given = [f"-max_len={LONGEST}", *libfuzzer, *map(str, options.corpus)]
    atheris.Setup(["tokgate", *given], target, custom_mutator=mutator)
    atheris.Fuzz()


def plainly(options: argparse.Namespace, libfuzzer: Sequence[str]) -> None:
    """Ask a corpus, and then mutants of it and of one another. Raises Disagreement."""
    from harness.studies.fuzz.plan import seeds  # noqa: PLC0415
    from harness.studies.guided.making import Mutator, by_bytes  # noqa: PLC0415

    said = dict(one[1:].partition("=")[::2] for one in libfuzzer)
    rng = random.Random(int(said.get("seed") or 0))
    longest = int(said.get("max_len") or LONGEST)
    given = [data[:longest] for data in seeds(options.corpus)]
    subjects, target = opened(options)
    mutator = Mutator([one.vocabulary for one in subjects], by_bytes(rng))
    for data in given:
        target(data)
    pool = given or [b""]
    for _ in range(int(said.get("runs") or RUNS)):
        data = mutator(rng.choice(pool), longest, rng.getrandbits(32))
        target(data)
        place = rng.randrange(2 * len(given) + 64)
        pool[place:place + 1] = [data]  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
