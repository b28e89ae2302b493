"""``tokgate replay``: the findings of a recorded run once more."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import EXIT_STATUSES, Out, option
from harness.cli.records import recorded
from harness.cli.run_command import perform
from harness.engine.selection import SelectionError
from harness.engine.trust import demand
from harness.studies.given import at, plan_of
from harness.verdict import expectations
from harness.workers import Limits

EPILOG = EXIT_STATUSES


def command(
    what: Annotated[
        str, typer.Argument(help="The folder of a run, or the id of a finding (f-..).")
    ],
    out: Out = Path("tokgate-replay"),
    run_folder: Annotated[
        Path,
        option("The folder of the run, if you give the id of a finding.", "FOLDER", "--run"),
    ] = Path("tokgate-out"),
    trust: Annotated[
        bool,
        option(
            "Also run implementations that the record names but that are not registered here "
            "(cmd:, pip:, npm:, module:attr, path.py:attr), and download the vocabularies that it "
            "names.",
            None,
            "--trust",
        ),
    ] = False,
) -> int:
    """Run recorded findings again on what is installed now.

    A record may come from somebody else, and it names what is to run. Registered implementations
    (see tokgate list impls) run as they are installed here; vocabularies that are embedded, random,
    tiktoken's, or files are loaded. For anything else the command stops, lists it, and asks for
    --trust.
    """

    folder, wanted = Path(what), ""
    if what.startswith("f-"):
        # A report says how to replay its findings from its own folder.
        here = Path()
        inside = (here / "run.jsonl").is_file() and not (run_folder / "run.jsonl").is_file()
        folder, wanted = here if inside else run_folder, what
    record = recorded(folder)
    if folder.resolve() == out.resolve():
        raise SelectionError(f"--out {out} is the run to replay; name another folder")
    findings = [one for one in record.findings if wanted in ("", one.id)]
    if wanted and not findings:
        raise SelectionError(f"{wanted}: no such finding in {folder}; see its report.html")
    started = record.started
    if not findings or started is None:
        raise SelectionError(f"{folder / 'run.jsonl'}: has no finding to replay")
    sources = {one.id: one.source for one in record.vocabularies}
    inputs: dict[str, list[bytes]] = defaultdict(list)
    for found in findings:
        source = at(started.folder, sources.get(found.vocabulary, found.vocabulary))
        inputs[source].append(found.input)
    specs = [at(started.folder, spec) for spec in started.specs.values()]
    demand(folder / "run.jsonl", specs, inputs, trust=trust)
    expect = Path(at(started.folder, started.expect)) if started.expect is not None else None
    known = expectations.with_shipped(expect)
    references = [name for name in started.references if name in started.specs]
    limits = None
    if started.timeout:
        limits = Limits(seconds=started.timeout, memory=started.memory)
    # All others take part as they did in the run, where they can.
    blamed = {name for found in findings for name in found.culprits}
    return perform(plan_of(inputs, specs, references, known, limits, blamed), out)
