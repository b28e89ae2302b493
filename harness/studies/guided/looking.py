"""A suspicion, or a file that libFuzzer kept, looked into as any run would: our finding, with our
reproducer, or nothing.

In a process of its own: the target's runs interpreted and instrumented, and may be about to die.
``python -m harness.studies.guided.looking ALGORITHM FILE OUT [--vocab NAME].. [--impl SPEC]..``
does the same for a file by hand, and ends with status 1 where there is a finding.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies import scratch
from harness.checks import CHECKS
from harness.events import read_events
from harness.findings.folder import RECORD, RunFolder
from harness.studies import given
from harness.studies.guided.subject import ALGORITHMS, CHECKED, small
from harness.verdict import expectations
from harness.verdict.coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Found

SECONDS = 600.0
"""The time limit of a look, which is there for hangs."""


def look(algorithm: str, source: str, impl: Sequence[str], data: bytes, out: Path) -> list[Found]:
    """Return what the harness finds in an input; the reproducers are in a folder, ``out``.

    Raises RuntimeError where it could not look, with its last line.
    """
    with scratch.temporary("guided-") as folder:
        file = Path(folder, "input")
        file.write_bytes(data)
        command = [sys.executable, "-P", "-m", __spec__.name, algorithm, str(file), str(out)]
        command += ["--vocab", source]
        for spec in impl:
            command += ["--impl", spec]
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
        environment.pop("LD_PRELOAD", None)  # a sanitizer of the target's process
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False
        )
    if ended.returncode not in (0, 1):
        lines = ended.stderr.strip().splitlines() or ["it said nothing"]
        raise RuntimeError(f"the input could not be looked into: {lines[-1]}")
    return found_in(out)


def found_in(out: Path) -> list[Found]:
    """The findings of a look.

    Those that are expected may be of the examples of the expectations, which are run first.
    """
    found = Coverage.of(read_events(out / RECORD)).findings.values()
    return [one for one in found if one.expected is not None or one.generator == given.GIVEN]


def looked_into(data: bytes, sources: Sequence[str], impl: Sequence[str], out: Path) -> bool:
    """Run one input on some vocabularies, into a folder; whether the run is whole."""
    from harness.engine.flow import execute  # noqa: PLC0415 (the whole engine)
    from harness.studies.default import studies  # noqa: PLC0415

    inputs, known = {one: [data] for one in sources}, expectations.load(expectations.SHIPPED)
    plan = given.plan_of(inputs, impl, expected=known)
    checks = [CHECKS[name] for name in CHECKED]
    plan = replace(plan, checks=checks, references=frozenset(), named=())
    return execute(plan, RunFolder(out), [], "tokgate guided", studies).finished.complete


def main(arguments: Sequence[str]) -> int:
    """Look into a file; 1 where there is a finding, 2 where the run was not whole."""
    parser = argparse.ArgumentParser(prog="guided.looking")
    parser.add_argument("algorithm", choices=ALGORITHMS)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vocab", action="append")
    parser.add_argument("--impl", action="append", default=[])
    asked = parser.parse_args(arguments)
    sources = asked.vocab or small(asked.algorithm)
    whole = looked_into(asked.file.read_bytes(), sources, asked.impl, asked.out)
    found = [one for one in found_in(asked.out) if one.expected is None]
    for one in found:
        script = asked.out / one.reproducer if one.reproducer else ""
        print(f"{one.id} {one.bucket}: {one.difference} {script}".rstrip())
    print(f"{len(found)} findings in {asked.out}")
    if not whole:
        print("the run is not whole: nothing can be said", file=sys.stderr)
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
