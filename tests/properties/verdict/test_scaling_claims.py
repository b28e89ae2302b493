"""A real program behind a pipe whose word is not its cost: what the harness makes of it."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.families.catalog import families
from harness.engine.suites import SUITES
from harness.studies.growth.claims import reconcile
from harness.studies.growth.measurement import Measurement
from harness.verdict.exponents import Verdict
from harness.workers import Limits
from impls.processes import descendants, processor_time
from tests.doubles import lying_program
from tests.doubles.command import here, summary
from tests.doubles.plugged import live

PROGRAM = f"{sys.executable} {Path(lying_program.__file__)}"
SIZES = [256 << i for i in range(9)]


def measured(command):
    said = []
    with live([f"cmd:{command}"], limits=Limits(seconds=60)) as (pool, contracts):
        taken = [families()["letter-run"]]
        measurement = Measurement(pool, contracts[:1], taken, 32 << 10, longest_call=0.06)
        measurement.run(120.0, said.append)
    (one,) = said
    return one


def test_a_lying_program_is_found_out_and_it_is_said():
    found = measured(PROGRAM)
    assert found.verdict == "superlinear", found
    assert found.exponent is not None and found.exponent > 1.5
    assert "it says of itself that" in found.note and "0.001 ms" in found.note
    assert "ms of CPU time" in found.note


@pytest.mark.thorough  # a whole run
def test_the_gate_fails_it(tmp_path, monkeypatch):
    # It ends as soon as its one cell is decided, whose calls are short by the size of the inputs.
    monkeypatch.setitem(SUITES, "smoke", replace(SUITES["smoke"], scaling_bytes=32 << 10))
    done = here(
        "run", "--check=scaling", "--vocab=toy_bytes", "--budget=600s", "--family=letter-run",
        f"--impl=cmd:{PROGRAM}", f"--out={tmp_path}",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    # Its lists may take more memory than it is allowed, too.
    reasons = summary(tmp_path)["reasons"]
    assert any(one.startswith("lying is beyond its limit on") for one in reasons), reasons


class TestReconciled:
    """Told and counted, as numbers."""

    def found(self, told, counted, hidden=False):
        """Powers of the size."""
        by_clock = {size: 100.0 * size**counted for size in SIZES}
        share = 0.001 if hidden else 0.9
        return reconcile(
            {size: 100.0 * size**told for size in SIZES},
            {size: share * cost for size, cost in by_clock.items()},
            by_clock,
            named=False,
        )

    @pytest.mark.parametrize(
        ("told", "counted", "verdict", "contradicted"),
        [
            (1.0, 1.0, Verdict.LINEAR, False),
            (0.0, 1.0, Verdict.LINEAR, False),
            (2.0, 2.0, Verdict.SUPERLINEAR, False),
            # The protocol, which is linear, hides the square from the clock.
            (2.0, 1.0, Verdict.SUPERLINEAR, False),
            (1.0, 2.0, Verdict.SUPERLINEAR, True),
            (0.0, 1.5, Verdict.SUPERLINEAR, True),
        ],
    )
    def test_both_are_looked_at(self, told, counted, verdict, contradicted):
        found = self.found(told, counted)
        assert (found.growth.verdict, bool(found.contrast)) == (verdict, contradicted)

    def test_the_wall_accuses_nobody(self):
        found = self.found(1.0, 2.0, hidden=True)
        assert found.growth.verdict is Verdict.INCONCLUSIVE
        assert "of a round trip" in found.contrast


def test_the_time_of_other_processes_is_counted():
    burning = (
        "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"
    )
    # A shell between us and it.
    command = ["sh", "-c", f'"{sys.executable}" -c "{burning}"; true']
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"done\n"
        assert processor_time(program.pid) > 250_000_000
        assert len(descendants(program.pid)) == 1
        program.stdin.close()
    assert (processor_time(program.pid), descendants(program.pid)) == (0, [])
    before = time.process_time_ns()
    assert processor_time(os.getpid()) >= before
