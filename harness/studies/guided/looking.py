"""A suspicion, or a file that libFuzzer kept, looked into as any run would: our finding, with our
reproducer, or nothing.

In a process of its own: the target's runs interpreted and instrumented, and may be about to die.
``python -m harness.studies.guided.looking ALGORITHM FILE OUT [--vocab NAME].. [--impl SPEC]..``
does the same for a file by hand, and ends with status 1 where there is a finding.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.vocabularies import scratch
from harness.checks import CHECKS
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.suites import Budget, Suite
from harness.findings.folder import RunFolder
from harness.studies.guided.subject import ALGORITHMS, CHECKED, small
from harness.verdict import expectations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Found

GIVEN = "guided"
"""The generator of what is given."""

SECONDS = 600.0
"""The time limit of a look, which is there for hangs."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the harness came to. found: id, bucket, sentence and reproducer of each finding. known:
    the minimal inputs of those that are expected."""

    found: list[dict[str, str]]
    known: list[bytes]


class Looks:
    """Has suspicions looked into. impl: specs that the user named, in place of the names of those
    that were asked."""

    def __init__(self, algorithm: str, impl: Sequence[str], out: Path) -> None:
        self._algorithm, self._impl, self._out = algorithm, impl, out
        self._number = 0

    def look(self, source: str, names: Sequence[str], data: bytes) -> Look:
        """Return what the harness found in an input.

        Raises RuntimeError where it could not look, with its last line.
        """
        self._number += 1
        out = self._out / f"look-{os.getpid()}-{self._number}"
        with scratch.temporary("guided-") as folder:
            file = Path(folder, "input")
            file.write_bytes(data)
            command = [sys.executable, "-m", __spec__.name, self._algorithm, str(file), str(out)]
            command += ["--vocab", source, "--json"]
            for spec in self._impl or names:
                command += ["--impl", spec]
            environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
            environment.pop("LD_PRELOAD", None)  # a sanitizer of the target's process
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, env=environment,
                check=False,
            )  # fmt: skip
        if ended.returncode not in (0, 1):
            lines = ended.stderr.strip().splitlines() or ["it said nothing"]
            raise RuntimeError(f"the input could not be looked into: {lines[-1]}")
        told = json.loads(ended.stdout)
        return Look(told["found"], [base64.b64decode(one) for one in told["known"]])


def looked_into(
    data: bytes, sources: Sequence[str], impl: Sequence[str], out: Path
) -> tuple[list[Found], bool]:
    """Run one input on some vocabularies; the findings, and whether the run is whole.

    Those that are expected may be of the examples of the expectations, which are run first.
    """
    from harness.engine.flow import execute  # noqa: PLC0415 (the whole engine)
    from harness.studies.default import studies  # noqa: PLC0415

    participants, _ = selection.participants(impl)
    plan = Plan(
        vocabularies=selection.vocabularies(sources),
        participants=participants,
        references=frozenset(),
        generators=[FunctionGenerator(GIVEN, "what a target gave", lambda *_: iter([data]))],
        checks=[CHECKS[name] for name in CHECKED],
        expectations=expectations.load(expectations.SHIPPED),
        suite=Suite(GIVEN, "one input", "endless", max(len(data), 1), 0.0, 0),
        budget=Budget(cases=1),
        seed=0,
        jobs=1,
        fail_fast=False,
    )
    result = execute(plan, RunFolder(out), [], "tokgate guided", studies)
    given = [one for one in result.findings if one.generator == GIVEN or one.expected is not None]
    return given, result.finished.complete


def main(arguments: Sequence[str]) -> int:
    """Look into a file; 1 where there is a finding, 2 where the run was not whole."""
    parser = argparse.ArgumentParser(prog="guided.looking")
    parser.add_argument("algorithm", choices=ALGORITHMS)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vocab", action="append")
    parser.add_argument("--impl", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    sources = asked.vocab or small(asked.algorithm)
    found, whole = looked_into(asked.file.read_bytes(), sources, asked.impl, asked.out)
    described = [
        {
            "id": one.id,
            "bucket": one.bucket,
            "difference": one.difference,
            "reproducer": str(asked.out / one.reproducer) if one.reproducer else "",
        }
        for one in found
        if one.expected is None
    ]
    if asked.json:
        known = [one.input_b64 for one in found if one.expected is not None]
        print(json.dumps({"found": described, "known": known}))
    else:
        for one in described:
            print(f"{one['id']} {one['bucket']}: {one['difference']} {one['reproducer']}".rstrip())
        print(f"{len(described)} findings in {asked.out}")
    if not whole:
        print("the run is not whole: nothing can be said", file=sys.stderr)
        return 2
    return 1 if described else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
