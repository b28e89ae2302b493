"""The benchmark of false alarms: results on disk, watched commands, plug-ins, the command."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from corpora.vocabularies import sources
from harness.events import Phase, write_events
from harness.studies.selftest.plain.bpe import PlainBpe
from impls import registry
from impls.interface import Mode
from tests.benchmarks import false_alarms
from tests.benchmarks.alarms import gates, plugins, results, running
from tests.benchmarks.alarms.judging import EXIT, FINDING, judged
from tests.benchmarks.alarms.plan import PLANTED, Run
from tests.harness.alarm_records import DONE, FINISHED, SOME, STARTED, found

RAW = Mode(pretokenize=False)


# --- results on disk ------------------------------------------------------------------------------


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert list(results.read(path)) == []
    for one in SOME:
        results.append(path, one)
    assert list(results.read(path)) == SOME


def test_a_line_cut_short_is_passed_over_and_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results.append(path, SOME[0])
    path.write_text(path.read_text() + SOME[1].to_json()[:50])
    assert list(results.read(path)) == SOME[:1]
    results.append(path, SOME[2])
    assert list(results.read(path)) == [SOME[0], SOME[2]]


# --- running and watching -------------------------------------------------------------------------


def test_the_record_tells_when_the_first_case_came(tmp_path: Path) -> None:
    (tmp_path / gates.OUT).mkdir()
    watch = running.Watch(tmp_path)
    path = tmp_path / gates.OUT / "run.jsonl"
    lines = [STARTED.to_json(), Phase("loading v").to_json(), Phase("checking v").to_json()]
    seen = []
    with path.open("w") as out:
        for now, text in enumerate(
            [f"{lines[0]}\n{lines[1]}\n", lines[2], "\n", DONE.to_json() + "\n"]
        ):
            out.write(text)
            out.flush()
            watch.look(now)
            seen.append(watch.first_case)
        assert seen == [None, None, 2, 2]
        assert watch.verdict is None
        out.write(FINISHED.to_json() + "\n")
    watch.look(9)
    assert (watch.first_case, watch.verdict) == (2, 9)


def test_a_record_that_comes_at_once_does_not_tell(tmp_path: Path) -> None:
    (tmp_path / gates.OUT).mkdir()
    watch = running.Watch(tmp_path)
    write_events(tmp_path / gates.OUT / "run.jsonl", [STARTED, DONE, FINISHED])
    watch.look(5)
    assert (watch.first_case, watch.verdict) == (None, 5)


def test_a_campaign_tells_by_its_rounds(tmp_path: Path) -> None:
    (tmp_path / gates.OUT).mkdir()
    watch = running.Watch(tmp_path)
    path = tmp_path / gates.OUT / "campaign.db"
    path.touch()
    watch.look(1)  # There is no table yet.
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE campaigns (seconds FLOAT)")
        database.execute("INSERT INTO campaigns VALUES (0.0)")
    database.close()
    watch.look(2)
    assert watch.first_case is None
    with sqlite3.connect(path) as database:
        database.execute("UPDATE campaigns SET seconds = 1.5")
    database.close()
    watch.look(8)
    assert watch.first_case == 6.5


def test_busy_processes_live_as_long_as_the_block() -> None:
    before = set(psutil.Process().children())
    with running.busy(3):
        others = set(psutil.Process().children()) - before
        assert len(others) == 3
        while any(sum(one.cpu_times()[:2]) < 0.1 for one in others):  # They work.
            time.sleep(0.02)
    assert not any(one.is_running() for one in others)


WRITES = "import pathlib, sys; p = pathlib.Path('out'); p.mkdir(); " + (
    "(p / 'run.jsonl').write_text(open('given').read()); print('said', *sys.argv[1:]); sys.exit(1)"
)


def test_a_command_is_run_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "TOKGATE", (sys.executable, "-c", WRITES))
    folder = tmp_path / "run"

    def prepare(folder: Path) -> None:
        folder.mkdir()
        write_events(folder / "given", [STARTED, DONE, found(), FINISHED])

    monkeypatch.setattr(gates, "prepare", prepare)
    run = running.carry_out(Run("fuzz", 1, True, 0, 0, None), ["a", "b"], folder, 60)
    assert [one.kind for one in run.accusations] == [FINDING]
    assert run.exit_status == 1
    assert (folder / "output.txt").read_text() == "said a b\n"


def test_a_command_without_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "TOKGATE", (sys.executable, "-c", "while True: pass"))
    ended = running.watched([], tmp_path, {}, 0.3)
    assert ended.exit_status is None
    (one,) = judged([], ended).accusations
    assert one.kind == EXIT


def test_only_a_cold_run_has_caches_of_its_own(tmp_path: Path) -> None:
    warm = gates.environment(Run("run", 0, False, 0, 0, None), tmp_path)
    cold = gates.environment(Run("run", 0, True, 0, 0, None), tmp_path)
    assert {name for name in cold if cold[name] != warm.get(name)} == set(gates.CACHES)
    assert all(Path(cold[name]).is_relative_to(gates.caches(tmp_path)) for name in gates.CACHES)


def test_what_is_wrong_is_kept(tmp_path: Path) -> None:
    for keep in (True, False):
        gates.prepare(tmp_path)
        for name in ("out/summary.json", "caches/numba/x", "output.txt"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        gates.tidy(tmp_path, keep=keep)
        assert (tmp_path / "out").exists() is (tmp_path / "mine.py").exists() is keep
        assert (tmp_path / "output.txt").exists()
        assert not (tmp_path / "caches").exists()


# --- plug-ins -------------------------------------------------------------------------------------


def plain_ids(data: bytes) -> list[int]:
    return PlainBpe().load(sources.resolve("toy_bytes")).encode(data, RAW)


@pytest.mark.parametrize("kind", ["Mine", *(kind for kind, _ in PLANTED.values())])
def test_plug_ins_are_right_where_nothing_is_planted(tmp_path: Path, kind: str) -> None:
    gates.prepare(tmp_path)
    plugin = registry.resolve(f"{tmp_path / 'mine.py'}:{kind}")
    vocabulary = sources.resolve("toy_bytes")
    assert plugin.supports(vocabulary, RAW) is None
    assert plugin.supports(vocabulary, Mode()) is not None
    assert plugin.supports(sources.resolve("toy_characters"), RAW) is not None
    encoder = plugin.load(vocabulary)
    for data in (b"", b"a", b"\xff\x00abab" * 9, "caf\u00e8 \u4e2d".encode()):
        assert list(encoder.encode(data, RAW)) == plain_ids(data)
    assert plugin.about.name in ("mine", *PLANTED)


def test_the_slow_plug_in_takes_its_time() -> None:
    encoder = plugins.Slow().load(sources.resolve("toy_bytes"))
    before = time.thread_time()
    encoder.encode(b"", RAW)
    assert time.thread_time() - before >= plugins.SLOW_CALL_SECONDS


def test_the_leaking_plug_in_keeps_memory() -> None:
    encoder = plugins.Leaks().load(sources.resolve("toy_bytes"))
    assert isinstance(encoder, plugins.LeakingEncoder)
    for _ in range(3):
        encoder.encode(b"a", RAW)
    assert sum(map(len, encoder.leaked)) == 3 * plugins.LEAKED_BYTES


# --- the command ----------------------------------------------------------------------------------


def test_budgets_and_kinds_as_they_are_typed() -> None:
    assert false_alarms.kinds("run,planted,run") == ["run", *PLANTED]
    assert set(false_alarms.budgets("7").values()) == {7.0}
    some = false_alarms.budgets("fuzz=30,planted=4")
    assert (some["fuzz"], some["grows"], some["run"]) == (30.0, 4.0, None)


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.false_alarms", *arguments],
        cwd=gates.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--kinds", "run,nonesuch"], "there is no kind 'nonesuch'"),
        (["--budget", "fuzz=x"], "'fuzz=x' is no budget"),
        (["--resume"], "name it by --out"),
        (["--expect", "nonesuch.toml"], "there is no such file"),
    ],
)
def test_bad_options_are_said_in_one_line(arguments: list[str], line: str) -> None:
    done = ask(*arguments)
    assert done.returncode == 2
    assert line in done.stderr.splitlines()[-1]


def test_results_are_not_mixed_by_mistake(tmp_path: Path) -> None:
    results.append(tmp_path / "results.jsonl", SOME[0])
    done = ask("--out", str(tmp_path))
    assert done.returncode == 2
    assert "go on with them by --resume" in done.stderr


@pytest.mark.thorough  # whole runs
def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    given = ["--runs", "1", "--planted", "0", "--load", "0", "--cold", "0", "--kinds", "run"]
    results.append(tmp_path / "results.jsonl", SOME[0])
    done = ask(*given, "--resume", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "1 of 1 runs" in done.stdout
    whole = json.loads((tmp_path / "false_alarms.json").read_text())
    assert (whole["runs"], whole["false"], whole["gates"][0]["kind"]) == (1, [], "run")
    other = ask(*given, "--resume", "--memory", "2", "--out", str(tmp_path))
    assert other.returncode == 2
    assert "under another --timeout, --memory or --expect" in other.stderr
    false = replace(SOME[1], run=SOME[0].run)
    (tmp_path / "results.jsonl").write_text(false.to_json() + "\n")
    assert ask(*given, "--resume", "--out", str(tmp_path)).returncode == 1


@pytest.mark.thorough  # whole runs of a benchmark
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_benchmark_ends_its_run_and_prints_its_tables(
    tmp_path: Path, sent: signal.Signals
) -> None:
    given = ["--runs", "1", "--planted", "0", "--load", "1", "--cold", "0", "--kinds", "stdio"]
    benchmark = subprocess.Popen(
        [
            sys.executable, "-m", "tests.benchmarks.false_alarms", *given,
            "--no-warm-up", "--out", str(tmp_path),
        ],
        cwd=gates.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while benchmark.poll() is None and not list(tmp_path.glob("runs/*/out/run.jsonl")):
        time.sleep(0.05)
    started = psutil.Process(benchmark.pid).children(recursive=True)
    benchmark.send_signal(sent)
    printed, said = benchmark.communicate()
    assert benchmark.returncode == false_alarms.INTERRUPTED
    assert "go on with --resume" in said
    assert "0 of 1 runs" in printed and (tmp_path / "false_alarms.md").exists()
    assert len(started) >= 2 and not any(one.is_running() for one in started)
