"""The options that several commands share, and how their values are read."""

from __future__ import annotations

import math
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpora.vocabularies import embedded
from harness.cli.display import Display
from harness.cluster import addresses
from harness.confinement.plan import CONFINEMENT, CONFINEMENT_OFF
from harness.engine import selection
from harness.engine.suites import Budget, parse_budget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.texts.corpus import Corpus
    from harness.core.participants import Participant
    from harness.workers import Limits

EXIT_STATUSES = """
\b
Exit status:
  0    the gate passed
  1    it failed: unexpected findings, a broken growth limit, or an expected
       finding that is gone
  2    usage or input error
  3    an implementation could not be started, or an internal error
  4    not examined: nothing that was tested is wrong, but something that you
       named was not tested
  130  interrupted (143 by SIGTERM)
"""

ONE_VOCAB_HELP = (
    "A vocabulary: an embedded name, random:KIND:SEED, tiktoken:NAME, hf:ORG/NAME, "
    "pypi:PACKAGE==VERSION/PATH, npm:PACKAGE==VERSION/PATH, or a path "
    "(FILE#pattern=NAME where the format has no pattern)."
)
VOCAB_HELP = f"{ONE_VOCAB_HELP} May be repeated."


def option(text: str, metavar: str | None = None, *names: str, **more: Any) -> Any:
    """An option of a command. text: its help. names: if its parameter does not name it."""
    return typer.Option(*names, metavar=metavar, help=text, **more)


def finite(parameter: typer.CallbackParam, value: float) -> float:
    """A number that is neither infinite nor NaN. Raises SelectionError for others."""
    if not math.isfinite(value):
        raise selection.SelectionError(f"{parameter.opts[0]}: give a finite number")
    return value


Vocabs = Annotated[list[str], option(VOCAB_HELP, "VOCAB", "--vocab", "-V")]
OneVocab = Annotated[str, option(ONE_VOCAB_HELP, "VOCAB", "--vocab", "-V")]
Impls = Annotated[
    list[str],
    option(
        "An implementation: a registered name, module:attr, path.py:attr, "
        "pip:NAME==VERSION, npm:NAME==VERSION, or 'cmd:PROGRAM ARGS'. May be repeated.",
        "IMPL",
        "--impl",
        "-i",
    ),
]
References = Annotated[
    list[str],
    option(
        "An implementation to trust: the others are compared with it. The default depends on "
        "the vocabulary's format. May be repeated.",
        "IMPL",
    ),
]
Checks = Annotated[
    list[str],
    option("Run only this check (see tokgate list checks). May be repeated.", "CHECK"),
]
Generators = Annotated[
    list[str],
    option("Use only this generator (see tokgate list generators). May be repeated.", "GENERATOR"),
]
Inputs = Annotated[
    list[str],
    option(
        "Your own texts: a file, a folder, a file name pattern, - for standard input, or "
        "hf:ORG/NAME. Say after # how to read them: corpus.jsonl#field=text. May be repeated; see "
        "docs/texts.md.",
        "TEXTS",
        "--input",
    ),
]
Amount = Annotated[
    str | None,
    option(
        "Time for testing, such as 60s, 5m or 8h, counted from the first case (one test "
        "input); or a number of cases, such as 20000cases.",
        "BUDGET",
        "--budget",
    ),
]
Families = Annotated[
    Path | None,
    option(
        "File with your own families of slow inputs (default: the one that `tokgate worst` "
        "writes).",
        "FILE",
    ),
]
Policies = Annotated[
    list[str],
    option(
        "A policy for healing: none, printed, healed[:tokens=4|:bytes=7][:conservative], "
        "drop-pretoken, exact, llguidance, llguidance.partial, xgrammar, or a healer of your own: "
        "path.py:Mine, module:attr, cmd:PROGRAM. May be repeated.",
        "POLICY",
        "--policy",
        "-p",
    ),
]
Jobs = Annotated[
    int,
    option("Vocabularies tested in parallel (0: as many as CPU cores allow).", "N", min=0),
]
Processes = Annotated[int, option("Worker processes (0: one per CPU core).", "N", "--jobs", min=0)]
Expect = Annotated[
    Path | None,
    option("A file of expected findings, in addition to the one shipped.", "FILE"),
]
Timeout = Annotated[
    float,
    option(
        "Time limit for a batch in CPU seconds, plus 10 s per MB of input.",
        "SECONDS",
        min=0.1,
        callback=finite,
    ),
]
JobTimeout = Annotated[
    float,
    option(
        "Time limit for a worker process without progress.",
        "SECONDS",
        "--timeout",
        min=1.0,
        callback=finite,
    ),
]
Memory = Annotated[
    float,
    option("Memory limit of a worker process in GiB.", "GIB", min=0.1, callback=finite),
]
Out = Annotated[Path, option("Folder for the record and the reports.", "FOLDER", "--out")]
Seed = Annotated[
    int,
    option("Random seed: the same seed, versions and options generate the same inputs.", "N"),
]
AsJson = Annotated[bool, option("Print JSON instead of tables.", None, "--json")]
Ledger = Annotated[
    str | None,
    option(
        "Database that keeps every run, for trends: a SQLite file, or postgresql://..",
        "DATABASE",
        envvar="TOKGATE_LEDGER",
    ),
]
Cluster = Annotated[
    str | None,
    option(
        "Run on a Ray cluster: auto, ray://HOST:10001, or local:4 to try it out on this "
        "machine (needs the extra 'ray').",
        "ADDRESS",
    ),
]


def budget_of(text: str | None, option: str = "--budget") -> Budget:
    """A time or a number of cases; no end where none is given.

    Raises SelectionError with the option at fault.
    """
    if text is None:
        return Budget()
    try:
        return parse_budget(text)
    except ValueError as error:
        raise selection.SelectionError(f"{option}: {error}") from error


def seconds_of(text: str, option: str = "--budget") -> float:
    """A budget that is a time, in seconds. Raises SelectionError for any other."""
    seconds = budget_of(text, option).seconds
    if seconds is None:
        raise selection.SelectionError(f"{option} {text!r}: give a time, such as 10m or 1h")
    return seconds


def at_once(jobs: int, least: int = 1) -> int:
    """How many vocabularies are tested in parallel: as many as asked for, or half of the cores."""
    return jobs or max(least, (os.cpu_count() or 2) // 2)


def limits_of(timeout: float, memory: float) -> Limits:
    """What one request may take: seconds, GiB."""
    from harness.workers import Limits  # noqa: PLC0415 (it takes long to import)

    return Limits(seconds=timeout, memory=bytes_of(memory))


def bytes_of(gib: float) -> int:
    """The bytes of so many GiB."""
    return int(gib * 2**30)


def texts_of(given: list[str]) -> Corpus | None:
    """The texts that a user named, if any. Raises TextsError."""
    if not given:
        return None
    from corpora.texts.corpus import Corpus  # noqa: PLC0415 (likewise)

    return Corpus.of(given)


def check_cluster(address: str | None, texts: Sequence[str] = ()) -> None:
    """Raise ClusterError where a cluster cannot be used, before anything is begun.

    Raises SelectionError where texts of the user's would have to leave this machine.
    """
    if address is not None:
        addresses.check(address)
        if texts:
            raise selection.SelectionError(addresses.TEXTS_STAY)


def participants(
    impls: Sequence[str], vocabs: Sequence[str], joining: Sequence[str] = ()
) -> list[Participant]:
    """The implementations named, or all; what is not installed is said.

    vocabs: the vocabularies named, or none for all. joining: others that join where no
    implementation is named. Raises ImplementationError.
    """
    present, missing = selection.participants(impls, joining)
    name_missing(missing | ({} if vocabs else embedded.left_out()))
    return present


def name_missing(missing: Mapping[str, str]) -> None:
    """Say what is not installed, and why: a line for each reason."""
    console = Display(stderr=True)
    reasons: dict[str, list[str]] = {}
    for name, why in missing.items():
        reasons.setdefault(why.removeprefix(f"{name}: "), []).append(name)
    for why, names in reasons.items():
        console.print(f"skipped: {', '.join(names)} ({why})", style="dim")


def command_line() -> str:
    """The command that repeats this run."""
    unconfined = os.environ.get(CONFINEMENT) == CONFINEMENT_OFF
    return shlex.join(["tokgate", *sys.argv[1:], *(["--no-confinement"] * unconfined)])
