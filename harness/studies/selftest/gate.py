"""The hunt of plug-ins that the gate must not pass: a run of ``tokgate run`` for each of them.

Caught is what ends in any verdict but ``pass``. What is right must pass, in the same way.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies import scratch, sources
from harness.core.exit_statuses import HOLDS
from harness.studies.selftest.events import HuntDone, MistakeJudged
from harness.studies.selftest.groups import REFERENCES
from harness.studies.selftest.hunt import algorithm_of, cut_off
from harness.studies.survey.files import RUN

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.events import Event
    from harness.studies.selftest.groups import Group

CHECK = "gate"

AMOUNT = ("--budget", "2000cases", "--family", "prose")
"""A number of cases, so that a busy machine sees what another one does, and growth on one family,
which is not what these mistakes are about."""

POLL_SECONDS = 0.2


class Stopped(Exception):
    """The selftest ended before the run did."""


def hunt_gate(
    group: Group, seed: int, stopped: Callable[[], bool], ready: Callable[[], None] = lambda: None
) -> list[Event]:
    """Run the gate on each mistake of a group, and on what is right; HuntDone is the last event.

    stopped: whether to break off. ready: called when the first run is about to begin.
    """
    started = time.monotonic()
    ready()
    specs = {one.control: one.expect for one in group.mistakes}
    specs |= {one.spec: one.expect for one in group.mistakes}
    told: dict[str, tuple[str, str]] = {}
    trouble = ""
    for spec, expect in specs.items():
        try:
            told[spec] = verdict(group.vocabulary, spec, expect, seed, stopped)
        except Stopped:
            trouble = cut_off(len(told), "runs")
            break
    events: list[Event] = [
        judged(group, spec, *told.get(spec, ("pass", "")), "" if spec in told else trouble)
        for spec in specs
    ]
    events.append(
        HuntDone(
            vocabulary=group.vocabulary,
            kind=str(group.kind),
            mistakes=[one.name for one in group.mistakes],
            references=references(group.vocabulary),
            seconds=time.monotonic() - started,
            cases={},
        )
    )
    return events


def references(vocabulary: str) -> list[str]:
    """Whom the mistakes are compared with."""
    return sorted(REFERENCES[algorithm_of(sources.resolve(vocabulary))])


def verdict(
    vocabulary: str,
    spec: str,
    expect: str = "",
    seed: int = 0,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[str, str]:
    """The verdict of ``tokgate run`` on an implementation, and the first reason for it.

    expect: the expectations file, if there is one. Raises Stopped.
    """
    with scratch.temporary("gate-") as folder:
        out = Path(folder, "out")
        command = [sys.executable, "-c", RUN, "run", "--vocab", vocabulary, "--impl", spec]
        for name in references(vocabulary):
            command += ["--impl", name]
        command += [*AMOUNT, "--seed", str(seed), "--out", str(out)]
        if expect:
            file = Path(folder, "expected.toml")
            file.write_text(expect, encoding="utf-8")
            command += ["--expect", str(file)]
        environment = {k: v for k, v in os.environ.items() if k != "TOKGATE_LEDGER"}
        with Path(folder, "said").open("w+b") as said:
            run = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
            try:
                while run.poll() is None:
                    if stopped():
                        raise Stopped
                    time.sleep(POLL_SECONDS)
            finally:
                run.terminate()
                run.wait()
            if run.returncode == HOLDS:
                return "pass", ""
            if not (out / "summary.json").is_file():
                said.seek(0)
                lines = said.read().decode("utf-8", "replace").split()
                return f"status-{run.returncode}", " ".join(lines)
        summary = json.loads((out / "summary.json").read_text("utf-8"))
        return str(summary["verdict"]), "; ".join(summary["reasons"])


def judged(group: Group, spec: str, verdict: str, reason: str, trouble: str) -> MistakeJudged:
    """What became of one plug-in."""
    mutant = next((one for one in group.mistakes if one.spec == spec), None)
    return MistakeJudged(
        name=mutant.name if mutant else spec,
        family=mutant.family if mutant else "",
        summary=mutant.summary if mutant else "",
        spec=spec,
        vocabulary=group.vocabulary,
        mode=mutant.mode if mutant else "",
        check=CHECK if mutant else "",
        stages=[],
        named=[] if verdict == "pass" else [f"{CHECK}/{verdict}"],
        bucket=reason,
        input_b64=base64.b64encode(b"").decode("ascii"),
        sightings=[],
        trouble=trouble,
    )
