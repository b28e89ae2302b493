"""The ``tokgate`` command."""

from __future__ import annotations

import json
import logging
import math
import os
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from corpora.vocabularies.model import VocabularyError
from harness import gate
from harness.expectations import ExpectationsError
from harness.selection import SelectionError
from harness.store import OutputError
from impls.registry import ImplementationError

if TYPE_CHECKING:
    from harness.events import Event
    from harness.run import RunResult

app = typer.Typer(
    name="tokgate",
    help="Differential fuzzing and conformance harness for LLM tokenizers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

EXIT_STATUSES = """
Exit status: 0 the gate holds; 1 it does not (unexpected findings, a broken bound, an expected
finding that no longer shows); 2 usage or input error; 3 an implementation could not be started,
or the run broke off; 130 interrupted.
"""

BENCH_EPILOG = """
Other fast tokenizers to compare with: pip install 'tokgate\\[bench]'. Exit status: 0 measured;
2 usage or input error; 3 an implementation could not be started, or none could be measured;
130 interrupted, what was measured till then is written.
"""

FORCED_EPILOG = """
Exit status: 0 the exact policy erred nowhere (or took no part); 1 it did, or nothing was walked;
2 usage or input error; 3 no process could be started; 130 interrupted, run again to go on.
"""

VOCAB_HELP = (
    "A vocabulary: an embedded name, tiktoken:NAME, hf:ORG/NAME, or a path "
    "(FILE#pattern=NAME where the format has no pattern). May be repeated."
)
IMPL_HELP = (
    "An implementation: a registered name, module:attr, path.py:attr, or 'cmd:PROGRAM ARGS'. "
    "May be repeated."
)

Vocabs = Annotated[list[str] | None, typer.Option("--vocab", "-V", help=VOCAB_HELP)]
Impls = Annotated[list[str] | None, typer.Option("--impl", "-i", help=IMPL_HELP)]
Out = Annotated[Path, typer.Option("--out", help="Folder that receives the record and reports.")]
Seed = Annotated[int, typer.Option(help="Same seed, versions and options: the same cases.")]


class Kind(StrEnum):
    """What ``tokgate list`` lists."""

    VOCABS = "vocabs"
    IMPLS = "impls"
    GENERATORS = "generators"
    FAMILIES = "families"
    CHECKS = "checks"


class SuiteName(StrEnum):
    """How much a run does."""

    SMOKE = "smoke"
    CI = "ci"
    NIGHTLY = "nightly"


class Whitespace(StrEnum):
    """What a JSON Schema's grammar admits between tokens."""

    FLEXIBLE = "flexible"
    COMPACT = "compact"


@app.callback(epilog="Add --debug to any command to see the traceback behind an error.")
def common() -> None:
    """Differential fuzzing and conformance harness for LLM tokenizers."""


@app.command(epilog=EXIT_STATUSES)
def run(
    vocab: Vocabs = None,
    impl: Impls = None,
    reference: Annotated[
        list[str] | None, typer.Option(help="Trusted implementation (default: by format).")
    ] = None,
    check: Annotated[
        list[str] | None, typer.Option(help="Only this check. May be repeated.")
    ] = None,
    generator: Annotated[
        list[str] | None, typer.Option(help="Only this generator. May be repeated.")
    ] = None,
    suite: Annotated[SuiteName, typer.Option(help="How much of everything.")] = SuiteName.SMOKE,
    budget: Annotated[
        str | None,
        typer.Option(help="Time for checking, 60s, 5m, 8h (loading comes on top), or 20000cases."),
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[
        int, typer.Option(min=0, help="Vocabularies side by side; 0: by the cores.")
    ] = 0,
    expect: Annotated[
        Path | None, typer.Option(help="Expectations file, besides the shipped one.")
    ] = None,
    out: Out = Path("tokgate-out"),
    fail_fast: Annotated[bool, typer.Option(help="Stop at the first unexpected finding.")] = False,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds for a batch, and 10 more a megabyte: then it hangs."),
    ] = 8.0,
    memory: Annotated[
        float, typer.Option(min=0.1, help="GiB that an implementation may take.")
    ] = 4.0,
) -> None:
    """Compare implementations on generated and hostile inputs: the main job.

    Without arguments it takes the embedded vocabularies and every implementation installed.
    """
    from corpora.generators.catalog import generators  # noqa: PLC0415
    from harness import expectations, selection  # noqa: PLC0415
    from harness.campaign import Plan  # noqa: PLC0415
    from harness.checks import CHECKS, MEASURES  # noqa: PLC0415
    from harness.progress import Progress  # noqa: PLC0415
    from harness.run import execute  # noqa: PLC0415
    from harness.store import RunFolder  # noqa: PLC0415
    from harness.suites import SUITES, parse_budget  # noqa: PLC0415
    from harness.workers import Limits  # noqa: PLC0415

    chosen_suite = SUITES[suite.value]
    if not math.isfinite(memory) or not math.isfinite(timeout):
        raise SelectionError("--memory, --timeout: give a finite number")
    try:
        amount = parse_budget(budget or chosen_suite.budget)
    except ValueError as error:
        raise SelectionError(f"--budget: {error}") from error
    catalog = generators()
    checks = selection.chosen("check", check or [], [*CHECKS, *MEASURES])
    present, missing = selection.contestants(impl or [])
    known = expectations.load(expectations.SHIPPED)
    if expect is not None:
        known = [*expectations.load(expect), *known]
    console = Console(stderr=True, highlight=False)
    for spec, why in missing.items():
        console.print(Text(f"{spec} takes no part: {why}", style="dim"))
    plan = Plan(
        vocabularies=selection.vocabularies(vocab or []),
        contestants=present,
        references=selection.references(reference or [], present),
        generators=[catalog[n] for n in selection.chosen("generator", generator or [], catalog)],
        checks=[CHECKS[n] for n in checks if n in CHECKS],
        scaled=selection.scaled(vocab or [], checks),
        walked=selection.walked(vocab or [], checks),
        expectations=known,
        suite=chosen_suite,
        budget=amount,
        seed=seed,
        jobs=jobs or max(1, (os.cpu_count() or 2) // 2),
        fail_fast=fail_fast,
        named=[contestant.name for contestant in present] if impl else [],
        expect=str(expect.resolve()) if expect is not None else None,
        limits=Limits(seconds=timeout, memory=int(memory * 2**30)),
    )
    folder = RunFolder(out)
    progress = Progress(console, amount.seconds)
    try:
        result = execute(plan, folder, [progress.consume], command_line())
    finally:
        progress.stop()
    finish(result, out)


@app.command("list")
def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """List what there is: names to use with the options of `tokgate run`."""
    from harness.catalogues import rows  # noqa: PLC0415

    entries = rows(kind.value)
    if as_json:
        print(json.dumps(entries, indent=1))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for heading in entries[0] if entries else ["name"]:
        table.add_column(heading, header_style="dim", overflow="fold")
    for entry in entries:
        table.add_row(*(Text(plain(value)) for value in entry.values()))
    Console(highlight=False).print(table)


@app.command()
def preflight(
    vocab: Annotated[list[str], typer.Argument(help=VOCAB_HELP)],
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Say what makes a vocabulary improper for an algorithm."""
    from corpora.vocabularies import preflight as rules  # noqa: PLC0415
    from corpora.vocabularies import sources  # noqa: PLC0415

    console = Console(highlight=False)
    report: dict[str, list[dict[str, Any]]] = {}
    for source in vocab:
        vocabulary = sources.resolve(source)
        problems = rules.preflight(vocabulary)
        report[source] = [
            {"kind": p.kind, "count": p.count, "examples": list(p.examples), "message": p.message}
            for p in problems
        ]
        if not as_json:
            sizes = f"{vocabulary.format} {vocabulary.algorithm}, {len(vocabulary):,} ids"
            console.print(Text.assemble((source, "bold"), f"  {sizes}"))
            for problem in problems:
                console.print(Text(f"  {problem.message}", style="yellow"))
            if not problems:
                console.print(Text("  proper: nothing to report", style="green"))
    if as_json:
        print(json.dumps(report, indent=1))


@app.command(epilog=EXIT_STATUSES)
def minimize(
    impl: Annotated[list[str], typer.Option("--impl", "-i", help="Two of them. " + IMPL_HELP)],
    vocab: Annotated[str, typer.Option("--vocab", "-V", help=VOCAB_HELP)],
    text: Annotated[str | None, typer.Option(help="The input as text.")] = None,
    hexadecimal: Annotated[str | None, typer.Option("--hex", help="The input in hex.")] = None,
    file: Annotated[Path | None, typer.Option(help="The input as a file's bytes.")] = None,
    out: Out = Path("tokgate-minimize"),
) -> None:
    """Minimise one input on which two implementations differ."""
    from harness.again import examine_inputs  # noqa: PLC0415

    given = [one for one in (text, hexadecimal, file) if one is not None]
    if len(given) != 1:
        raise SelectionError("minimize: give the input once, by --text, --hex or --file")
    if hexadecimal is not None:
        try:
            data = bytes.fromhex(hexadecimal)
        except ValueError as error:
            raise SelectionError(f"--hex: {error}; write two digits a byte") from error
    elif file is not None:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise SelectionError(f"--file {file}: {error.strerror}; check the path") from error
    else:
        data = os.fsencode(text or "")
    finish(examine_inputs({vocab: [data]}, impl, out, command_line()), out)


@app.command(epilog=EXIT_STATUSES)
def replay(
    what: Annotated[str, typer.Argument(help="A run's folder, or a finding's id (f-..).")],
    out: Annotated[
        Path, typer.Option(help="Folder for the replay's own record and reports.")
    ] = Path("tokgate-replay"),
    run_folder: Annotated[
        Path, typer.Option("--run", help="The run's folder, with a finding's id.")
    ] = Path("tokgate-out"),
) -> None:
    """Run recorded findings again, on today's implementations."""
    from harness.again import replay_findings  # noqa: PLC0415

    finish(replay_findings(what, run_folder, out, command_line()), out)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A run's folder.")] = Path("tokgate-out"),
    form: Annotated[str, typer.Option("--format", help="html, junit, markdown or json.")] = "html",
) -> None:
    """Print a report of a recorded run, in another format or of an interrupted run."""
    from reports import FORMATS  # noqa: PLC0415

    if form not in FORMATS:
        raise SelectionError(f"--format {form!r}: none; there are {', '.join(FORMATS)}")
    text = FORMATS[form](recorded(folder))
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))


@app.command(epilog=BENCH_EPILOG)
def bench(
    vocab: Vocabs = None,
    impl: Impls = None,
    input_: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="source, multilingual, tokens, one-piece, or a UTF-8 file. May be repeated.",
        ),
    ] = None,
    size: Annotated[
        list[str] | None, typer.Option(help="Bytes of an input: 1KB, 64KB, 1MB. May be repeated.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Of each cell (default: by the time, 3 to 15).")
    ] = None,
    cold: Annotated[
        int, typer.Option(min=0, help="First calls in an encoder loaded afresh, largest size.")
    ] = 1,
    cold_sizes: Annotated[
        bool, typer.Option("--cold-sizes", help="First calls at all sizes.")
    ] = False,
    mode: Annotated[
        list[str] | None, typer.Option(help="text (pre-tokenized) or raw (one piece); both.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed and versions: the same texts.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder that receives bench.json, bench.html.")] = Path(
        "tokgate-bench"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print bench.json, no tables.")] = False,
) -> None:
    """Measure how fast implementations encode, interleaved, cold and warm apart.

    Without arguments: an embedded vocabulary, every implementation installed that runs it, four
    kinds of input at three sizes, with and without pre-tokenization, in about two minutes.
    """
    from harness.benching.plan import make_plan  # noqa: PLC0415
    from harness.benching.progress import BenchProgress  # noqa: PLC0415
    from harness.benching.run import execute  # noqa: PLC0415
    from reports import bench_text, write_bench  # noqa: PLC0415
    from reports.bench import BenchRecord  # noqa: PLC0415

    plan, missing = make_plan(
        vocab or [], impl or [], input_ or [], size or [], mode or [],
        rounds, cold, cold_sizes, seed,
    )  # fmt: skip
    console = Console(stderr=True, highlight=False)
    for spec, why in missing.items():
        console.print(Text(f"{spec} takes no part: {why}", style="dim"))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"--out {out}: {error.strerror}; name a writable folder") from error
    record, progress = BenchRecord(), BenchProgress(console)

    def emit(event: Event) -> None:
        record.consume(event)
        progress.consume(event)

    try:
        status = execute(plan, command_line(), emit, progress.watch)
    finally:
        progress.stop()
    write_bench(record, out)
    if as_json:
        print(record.to_json(), end="")
    else:
        shown = Console(highlight=False)
        for part in bench_text.render(record):
            shown.print(part)
    console.print(Text(f"  {out / 'bench.html'}", style="dim"), soft_wrap=True)
    raise typer.Exit(status)


@app.command(epilog=FORCED_EPILOG)
def forced(
    corpus: Annotated[
        str, typer.Argument(help="A folder or archive of schemas, or: own (those shipped).")
    ],
    vocab: Annotated[str, typer.Option("--vocab", "-V", help=VOCAB_HELP)],
    whitespace: Annotated[
        Whitespace, typer.Option(help="Whether the grammar admits white space between JSON tokens.")
    ] = Whitespace.FLEXIBLE,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", "-p", help="none, printed, healed[:tokens=4|:bytes=7][:conservative], "
            "drop-pretoken, exact, llguidance, llguidance.partial. May be repeated.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many schemas, evenly spread over the corpus.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0: by the cores.")] = 0,
    seed: Seed = 0,
    timeout: Annotated[
        float, typer.Option(min=1.0, help="Seconds for a text or a schema: then it hangs.")
    ] = 120.0,
    memory: Annotated[float, typer.Option(min=0.5, help="GiB that a process may take.")] = 4.0,
    out: Annotated[
        Path, typer.Option(help="Folder for reports and forced.jsonl, with which it goes on.")
    ] = Path("tokgate-forced"),
) -> None:  # fmt: skip
    """Compare how grammars' forced tokens are healed, on JSON Schemas with instances.

    Each instance is walked at the boundaries of its own tokens. Run again with the same options,
    it goes on where it was left.
    """
    from harness.cli_forced import walk  # noqa: PLC0415

    if not math.isfinite(memory) or not math.isfinite(timeout):
        raise SelectionError("--memory, --timeout: give a finite number")
    finished = walk(
        corpus, vocab, whitespace.value, policy or [], limit, jobs or os.cpu_count() or 1,
        seed, timeout, int(memory * 2**30), out, command_line(),
    )  # fmt: skip
    from harness.cli_forced import show  # noqa: PLC0415
    from reports import write_all  # noqa: PLC0415

    record = recorded(out)
    write_all(record, out)
    show(record, finished, out / "report.html")
    raise typer.Exit(finished.exit_status)


def recorded(folder: Path) -> Any:
    """The record in a run's folder. Raises SelectionError with one line."""
    from harness.events import read_events  # noqa: PLC0415
    from reports.record import RunRecord  # noqa: PLC0415

    path = folder / "run.jsonl"
    if not path.is_file():
        raise SelectionError(f"{path}: no such record; name the --out folder of a run")
    try:
        return RunRecord.from_events(read_events(path))
    except (ValueError, TypeError, KeyError) as error:
        raise SelectionError(f"{path}: damaged ({error}); run again") from error


def finish(result: RunResult, out: Path) -> NoReturn:
    """Write all reports, say the last words, exit with the verdict's status."""
    from harness.progress import closing  # noqa: PLC0415
    from reports import write_all  # noqa: PLC0415

    write_all(recorded(out), out)
    console = Console(stderr=True, highlight=False)
    closing(
        console, result.finished, result.findings, result.expectations, str(out / "report.html")
    )
    raise typer.Exit(result.finished.exit_status)


def plain(value: object) -> str:
    """A cell of a table."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def command_line() -> str:
    """The command that repeats this run."""
    return shlex.join(["tokgate", *sys.argv[1:]])


def main() -> None:
    """The entry point: one line for what a user can mend, a traceback only on request."""
    debug = "--debug" in sys.argv  # allowed anywhere, so that it can be added to a failed line
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    if debug:
        logging.basicConfig()
        logging.getLogger("harness").setLevel(logging.DEBUG)
    try:
        app()
    except (VocabularyError, SelectionError, ExpectationsError, OutputError) as error:
        fail(str(error), gate.USAGE, debug=debug)
    except ImplementationError as error:
        fail(str(error), gate.USAGE if error.unknown else gate.CANNOT_START, debug=debug)
    except KeyboardInterrupt:
        fail("interrupted", gate.INTERRUPTED, debug=debug)


def fail(line: str, status: int, *, debug: bool) -> None:
    """Print the one line (and, on request, the traceback) and exit."""
    if debug:
        Console(stderr=True).print_exception()
    Console(stderr=True, highlight=False).print(
        Text.assemble(("tokgate: ", "bold red"), line), soft_wrap=True
    )
    raise SystemExit(status)
