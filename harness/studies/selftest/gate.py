"""The hunt of plug-ins that the gate must not pass: a run of ``tokgate run`` for each of them.

Caught is what ends in any verdict but ``pass``. What is right must pass, in the same way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies import scratch, sources
from harness.core.exit_statuses import HOLDS
from harness.studies.selftest.groups import Shown, references

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.studies.selftest.groups import Group

CHECK = "gate"

RUN = "import sys; from harness.cli.application import main; sys.exit(main())"

PASS = "pass"

AMOUNT = ("--budget", "2000cases", "--family", "prose")
"""A number of cases, so that a busy machine sees what another one does, and growth on one family,
which is not what these mistakes are about."""

POLL_SECONDS = 0.2

NO_TIME = "there was no time to run it"


def gated(group: Group, seed: int, over: Callable[[], bool]) -> dict[str, Shown]:
    """Run the gate on what is right, and on each mistake of a group; what showed, by name.

    over: whether to break off.
    """
    asked = {one.control: (one.control, one.expect) for one in group.mistakes}
    asked |= {one.name: (one.spec, one.expect) for one in group.mistakes}
    shown = {}
    for name, (spec, expect) in asked.items():
        said = None if over() else verdict(group.vocabulary, spec, expect, seed, over)
        if said is None:
            shown[name] = Shown(trouble=NO_TIME)
        else:
            shown[name] = Shown([f"{CHECK}/{said[0]}"] if said[0] != PASS else [], said[1])
    return shown


def verdict(
    vocabulary: str,
    spec: str,
    expect: str = "",
    seed: int = 0,
    over: Callable[[], bool] = lambda: False,
) -> tuple[str, str] | None:
    """The verdict of ``tokgate run`` on an implementation, and the first reason for it.

    expect: the expectations file, if there is one. None where it was over before the run was.
    """
    with scratch.temporary("gate-") as folder:
        out, file = Path(folder, "out"), Path(folder, "expected.toml")
        file.write_text(expect, encoding="utf-8")
        command = [sys.executable, "-P", "-c", RUN, "run", "--vocab", vocabulary, f"--impl={spec}"]
        command += [f"--impl={name}" for name in references(sources.resolve(vocabulary))]
        command += [*AMOUNT, "--seed", str(seed), "--out", str(out)]
        command += ["--expect", str(file)] if expect else []
        environment = {k: v for k, v in os.environ.items() if k != "TOKGATE_LEDGER"}
        environment["TOKGATE_CONFIG"] = ""  # the options of the folder's project are not for it
        with Path(folder, "said").open("w+b") as said:
            run = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
            while run.poll() is None:
                if over():
                    run.terminate()
                    run.wait()
                    return None
                time.sleep(POLL_SECONDS)
            if run.returncode == HOLDS:
                return PASS, ""
            if not (out / "summary.json").is_file():
                said.seek(0)
                words = said.read().decode("utf-8", "replace").split()
                return f"status-{run.returncode}", " ".join(words)
        summary = json.loads((out / "summary.json").read_text("utf-8"))
        return str(summary["verdict"]), "; ".join(summary["reasons"])
