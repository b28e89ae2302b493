"""How often a gate accuses the innocent: ``python -m tests.benchmarks.false_alarms --runs 100``.

Whole gates are run as users run them, from a folder of their own, on the embedded vocabularies,
beside processes that take the processor away. In the kinds ``run`` (the default run), ``plugin``
(a correct plug-in against tiktoken), ``stdio`` (one over the stdio protocol) and ``fuzz``, all is
right but what the shipped expectations know of, so that every other finding, every withdrawal,
every growth verdict against what is known to be linear, and every exit status but 0 is false. The
other kinds have a planted mistake, which must be named, with its cause, and nobody else.

Results are kept as they come, so that a benchmark of hours can be interrupted by Ctrl-C or SIGTERM
and gone on with (``--resume``). Exit status: 0 where nothing was false, 1 otherwise, 130
interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import signal
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.alarms import gates, results, running, tables
from tests.benchmarks.alarms.plan import GATES, KINDS, PLANTED, Run, plan
from tests.benchmarks.alarms.results import Result

INTERRUPTED = 130

GUARD_SECONDS = 1800.0
"""After which a run is given up: many times what the longest takes."""


def numbers(text: str) -> list[int]:
    """Return the numbers of ``0,2,4``."""
    return [int(part) for part in text.split(",")]


def kinds(text: str) -> list[str]:
    """Return the kinds of ``run,plugin``; ``planted`` stands for all planted mistakes."""
    named = [
        name for part in text.split(",") for name in (PLANTED if part == "planted" else (part,))
    ]
    unknown = [name for name in named if name not in KINDS]
    if unknown:
        known = ", ".join((*KINDS, "planted"))
        raise argparse.ArgumentTypeError(f"there is no kind {unknown[0]!r}; there are {known}")
    return list(dict.fromkeys(named))


def budgets(text: str) -> dict[str, float | None]:
    """Return the budgets of ``20``, or of ``fuzz=30,planted=10``, over the usual ones."""
    found = dict(gates.BUDGETS)
    for part in text.split(",") if text else ():
        name, _, value = part.rpartition("=")
        try:
            named = KINDS if not name else kinds(name)
            found.update(dict.fromkeys(named, float(value)))
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part!r} is no budget; write seconds, as 20, or fuzz=30,planted=10"
            ) from None
    return found


def options() -> argparse.ArgumentParser:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.false_alarms",
        description="Measure how often a gate accuses the innocent, and whether it still names "
        "planted mistakes, beside busy processes and with cold caches.",
    )
    parser.add_argument(
        "--runs", type=int, default=100, help="gates of what is right [%(default)s]"
    )
    parser.add_argument(
        "--planted",
        type=int,
        default=1,
        metavar="ROUNDS",
        help="how often each planted mistake is run under each load, warm, and as often cold "
        "where there are cold runs; 0: not at all [%(default)s]",
    )
    parser.add_argument(
        "--load", type=numbers, default=[0, 2, 4], help="busy processes beside a run [0,2,4]"
    )
    parser.add_argument(
        "--cold",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="share of the runs whose caches of compiled functions and tables are empty "
        "[%(default)s]",
    )
    parser.add_argument(
        "--kinds",
        type=kinds,
        default=list(KINDS),
        help=f"of {', '.join(KINDS)}, or planted for all planted mistakes [all]",
    )
    usual = ", ".join(f"{name}={gates.BUDGETS[name]:g}" for name in GATES if gates.BUDGETS[name])
    parser.add_argument(
        "--budget",
        type=budgets,
        default=dict(gates.BUDGETS),
        metavar="SECONDS",
        help=f"of each kind, as 20 or fuzz=30,planted=10 [run: tokgate's own, {usual}, planted=20]",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the plan [%(default)s]")
    parser.add_argument(
        "--timeout", type=float, default=2.0, help="limit of planted runs, in s [%(default)s]"
    )
    parser.add_argument(
        "--memory", type=float, default=1.0, help="limit of planted runs, in GiB [%(default)s]"
    )
    parser.add_argument(
        "--expect",
        type=Path,
        metavar="FILE",
        help="expectations that every run is given besides the shipped ones: true divergences "
        "that were looked into and are no false alarms",
    )
    parser.add_argument(
        "--out", type=Path, help="folder for the tables, the results and the runs [a temporary one]"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the results that are in --out"
    )
    parser.add_argument("--keep", action="store_true", help="keep the reports of all runs")
    parser.add_argument(
        "--no-warm-up",
        action="store_true",
        help="do not make one short run first, which fills the caches of the warm runs",
    )
    parser.add_argument(
        "--guard",
        type=float,
        default=GUARD_SECONDS,
        metavar="SECONDS",
        help="after which a run is killed, and counts as failed [%(default)s]",
    )
    return parser


def fixed(asked: argparse.Namespace) -> dict[str, object]:
    """Return the options that must be the same for results to be gone on with."""
    expect = None if asked.expect is None else asked.expect.read_text(encoding="utf-8")
    return {"timeout": asked.timeout, "memory": asked.memory, "expect": expect}


def warm_up(folder: Path) -> None:
    """Fill the caches of the warm runs: what they have compiled is there before the first."""
    run = Run("run", 0, cold=False, nth=0, seed=0, budget=10.0)
    print("warming up: a short default run, which is not counted", flush=True)
    gates.prepare(folder)
    running.watched(gates.command(run, 0, 0), folder, gates.environment(run, folder), GUARD_SECONDS)


def report(found: list[Result], planned: int, out: Path, given: str) -> str:
    """Write the tables as JSON and Markdown; return the latter."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    text = tables.markdown(found, planned, given, machine)
    (out / "false_alarms.md").write_text(text, encoding="utf-8")
    whole = {
        "options": given,
        "machine": machine,
        "runs": len(found),
        "planned": planned,
        "gates": tables.gates(found),
        "planted": tables.planted(found),
        "false": [
            {"run": one.run.name, "folder": one.folder, "lines": lines}
            for one in found
            if (lines := tables.false(one))
        ],
    }
    (out / "false_alarms.json").write_text(json.dumps(whole, indent=1), encoding="utf-8")
    return text


def measure(asked: argparse.Namespace, out: Path, todo: list[Run], found: list[Result]) -> None:
    """Make the runs that are left, and add their results to ``found`` and to the file."""
    if todo and not asked.no_warm_up and not all(run.cold for run in todo):
        warm_up(out / "runs" / "warm-up")
    expect = asked.expect.resolve() if asked.expect else None
    for run in todo:
        folder = out / "runs" / run.name
        arguments = gates.command(run, asked.timeout, asked.memory, expect)
        judged = running.carry_out(run, arguments, folder, asked.guard)
        result = Result(run, judged, str(folder.relative_to(out)), os.getloadavg()[0])
        wrong = tables.false(result)
        gates.tidy(folder, keep=asked.keep or bool(wrong))
        results.append(out / "results.jsonl", result)
        found.append(result)
        print(
            f"{len(found):4}  {run.name}: {judged.seconds:.0f} s, {judged.cases:,} cases, "
            f"exit status {judged.exit_status}, {len(wrong)} wrong",
            flush=True,
        )
        for line in wrong:
            print(f"      {line}", flush=True)


def main() -> None:
    """Plan, run what is left of it, and print the tables."""
    parser = options()
    asked = parser.parse_args()
    if asked.resume and asked.out is None:
        parser.error("--resume goes on with the results of a folder; name it by --out")
    if asked.expect is not None and not asked.expect.is_file():
        parser.error(f"--expect {asked.expect}: there is no such file")
    out = asked.out or Path(tempfile.mkdtemp(prefix="tokgate-false-alarms-"))
    out.mkdir(parents=True, exist_ok=True)
    out = out.resolve()
    path = out / "results.jsonl"
    if path.exists() and not asked.resume:
        parser.error(f"--out {out} has results; go on with them by --resume, or name another")
    same = out / "options.json"
    if path.exists() and same.exists() and json.loads(same.read_text()) != fixed(asked):
        parser.error(
            f"--out {out} has results under another --timeout, --memory or --expect; "
            "give the same, or name another folder"
        )
    same.write_text(json.dumps(fixed(asked)), encoding="utf-8")
    wanted = plan(
        asked.kinds, asked.load, asked.runs, asked.planted, asked.cold, asked.seed, asked.budget
    )
    found = [one for one in results.read(path) if one.run in set(wanted)]
    done = {one.run for one in found}
    status = 0
    for sent in (signal.SIGINT, signal.SIGTERM):  # A shell may have it ignore the former.
        signal.signal(sent, signal.default_int_handler)
    try:
        measure(asked, out, [run for run in wanted if run not in done], found)
    except KeyboardInterrupt:
        print(f"interrupted: go on with --resume --out {out}", file=sys.stderr)
        status = INTERRUPTED
    print(report(found, len(wanted), out, shlex.join(sys.argv[1:])))
    print(f"{out}/false_alarms.md")
    sys.exit(status or int(any(map(tables.false, found))))


if __name__ == "__main__":
    main()
