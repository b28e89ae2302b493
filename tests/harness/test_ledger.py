"""The ledger keeps runs as they were, in SQLite and in PostgreSQL alike."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    Event,
    Finished,
    Found,
    Measured,
    Started,
    VocabularyLoaded,
)
from harness.ledger import trends
from harness.ledger.engine import LedgerError, open_database, parse
from harness.ledger.history import history
from harness.ledger.models import (
    FindingDetail,
    Run,
    RunFinding,
    RunGrowth,
    RunTally,
    RunVersion,
    RunVocabulary,
)
from harness.ledger.recorder import MAX_REPRODUCER, in_utc, keep_run, keep_speeds
from harness.verdict.coverage import Coverage
from tests.harness.command import tokgate
from tests.harness.postgres import server
from tests.reports import ledgers

Opens = Callable[[], Engine]


@pytest.fixture(scope="module")
def new_database() -> Iterator[Callable[[], str]]:
    with server() as urls:
        yield urls


@pytest.fixture(params=["sqlite", "postgresql"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Opens:
    """Opens one database, again and again."""
    if request.param == "sqlite":
        url = str(tmp_path / "database.db")
    else:
        url = request.getfixturevalue("new_database")()
    return lambda: open_database(url)


def started(day: int, version: str = "1.0", zone: str = "+00:00") -> Started:
    return Started(
        time=f"2026-03-{day:02}T12:00:00{zone}",
        seed=2**60,
        suite="smoke",
        budget="45s",
        command="tokgate run",
        versions={"tokgate": "0.1", "python": "3.11", "tiktoken": version},
        machine="Linux",
    )


def found(
    name: str, bucket: str, expected: str | None = None, replaces: str | None = None
) -> Found:
    return Found(
        id=name, check="equivalence", stage="ids", bucket=bucket, contract="toy/raw",
        vocabulary="toy", mode="raw", culprits=["b", "a"], partition=[],
        input_b64=base64.b64encode(b"\x00\xff").decode(), difference="", first_difference=None,
        generator="raw", seed=0, index=0, original_bytes=2, minimal=True, expected=expected,
        link=None, reproducer=None, replaces=replaces,
    )  # fmt: skip


def measured(family: str, points: list[list[float]], exponent: float | None = 1.0) -> Measured:
    return Measured("tiktoken", "toy", family, exponent, 0.9, 1.1, "linear", points)


def finished(*, complete: bool = True) -> Finished:
    return Finished(complete, "fail", ["1 unexpected finding"], 3.5, 10, 20, 1)


def record(engine: Engine, *events: Event) -> str:
    return keep_run(engine, Coverage.of(events))


def test_a_run_comes_back_as_it_was(opens: Opens) -> None:
    events = (
        started(1),
        found("f-1", "x/any"),
        found("f-2", "x/L", replaces="f-1"),
        found("f-3", "y/L", expected="known"),
        Counted("x/L", 1),
        Counted("x/L", 7),
        measured("spaces", [[256, 1e-6], [1024, 4e-6]]),
        measured("failed", [], None),
        finished(),
    )
    run = record(opens(), *events)
    with sa.orm.Session(opens()) as session:
        kept = session.get_one(Run, run)
        assert (kept.started, kept.seed, kept.verdict) == (
            "2026-03-01T12:00:00+00:00",
            2**60,
            "fail",
        )
        assert (kept.complete, kept.exit_status, kept.reasons) == (
            True,
            1,
            ["1 unexpected finding"],
        )
        assert (kept.seconds, kept.cases, kept.comparisons) == (3.5, 10, 20)
        findings = session.scalars(sa.select(RunFinding).order_by(RunFinding.id)).all()
        shown = [(f.id, f.bucket, f.data, f.culprits, f.expected, f.count) for f in findings]
        assert shown == [
            ("f-2", "x/L", b"\x00\xff", ["b", "a"], False, 7),
            ("f-3", "y/L", b"\x00\xff", ["b", "a"], True, 1),
        ]
        spaces = session.get_one(RunGrowth, (run, "tiktoken", "toy", "spaces"))
        assert (spaces.bytes, spaces.seconds) == (1024, 4e-6)
        versions = session.scalars(sa.select(RunVersion.version)).all()
        assert sorted(versions) == ["0.1", "1.0", "3.11"]


def test_a_run_is_there_whole_or_not_at_all(opens: Opens) -> None:
    """A run that was killed before its end has left nothing, and is no point of a trend."""
    engine = opens()
    record(engine, started(1), found("f-1", "x/L"), measured("spaces", [[256, 1e-6]]))
    assert trends.findings(history(engine)) == []
    assert trends.worst(history(engine)) == []
    with sa.orm.Session(engine) as session:
        assert session.scalars(sa.select(Run)).all() == []
    unwritable = replace(found("f-1", "x"), bucket=cast("str", None))
    with pytest.raises(LedgerError):
        record(engine, started(1), unwritable, finished())
    with sa.orm.Session(engine) as session:
        assert session.scalars(sa.select(Run)).all() == []
        assert session.scalars(sa.select(RunVersion)).all() == []


def test_series_are_in_order_of_time_with_versions(opens: Opens) -> None:
    engine = opens()
    record(engine, started(2, "1.1"), measured("spaces", [[256, 2e-6], [1024, 8e-6]]), finished())
    record(engine, started(1, "1.0"), measured("spaces", [[256, 1e-6]]), finished())
    # Later by the clock on the wall, earlier in UTC.
    early = started(2, "1.05", "+05:00")
    record(engine, early, measured("spaces", [[256, 3e-6], [512, 1.0]]), finished())
    (costs,) = trends.worst(history(engine))
    assert (costs.name, costs.unit) == ("tiktoken on toy", "ns/byte")
    # 256 is the only size that all of them have.
    assert [(version, value) for _, version, value in costs.points] == [
        ("1.0", pytest.approx(1000 / 256)),
        ("1.05", pytest.approx(3000 / 256)),
        ("1.1", pytest.approx(2000 / 256)),
    ]


def test_the_worst_is_over_all_families(opens: Opens) -> None:
    engine = opens()
    slow, fast = measured("slow", [[1000, 9e-6]]), measured("fast", [[500, 1e-6]])
    record(engine, started(1), slow, fast, finished())
    (series,) = trends.worst(history(engine))
    assert series.name == "tiktoken on toy"
    assert [value for *_, value in series.points] == [pytest.approx(9.0)]


def test_findings_are_counted(opens: Opens) -> None:
    engine = opens()
    record(engine, started(1), found("f-1", "x"), found("f-2", "y", "known"), finished())
    record(engine, started(3), found("f-1", "x"), found("f-3", "z"), finished())
    record(engine, started(5), finished())
    unexpected, expected = trends.findings(history(engine))
    assert [value for *_, value in unexpected.points] == [1, 2, 0]
    assert [value for *_, value in expected.points] == [1, 0, 0]


def test_times_sort_as_strings() -> None:
    assert in_utc("2026-01-01T01:00:00+02:00") == "2025-12-31T23:00:00+00:00"


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("no/such/kind://x", "no URL"),
        ("nothing://x", "no such kind of database"),
        ("/proc/none/x.db", "check the path"),
        ("postgresql://nobody@127.0.0.1:9/none", "check the path or URL"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_line(where: str, said: str) -> None:
    if "postgresql" in where:
        pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match=said) as error:
        open_database(where)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database, " * 100)
    with pytest.raises(LedgerError, match="not a database"):
        open_database(str(tmp_path / "x.db"))


def test_a_database_of_another_shape_is_refused(tmp_path: Path) -> None:
    engine = open_database(str(tmp_path / "x.db"))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE tokgate_schema SET number = 99"))
    with pytest.raises(LedgerError, match="another version of tokgate"):
        open_database(str(tmp_path / "x.db"))


def test_a_password_is_not_shown() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError) as error:
        open_database("postgresql://me:secret@127.0.0.1:9/none")
    assert "secret" not in str(error.value)


def test_urls() -> None:
    assert parse("postgres://u@h/d").drivername == "postgresql+psycopg"
    assert parse("x.db").database == str(Path("x.db").absolute())


def test_sqlite_writes_ahead_and_syncs(tmp_path: Path) -> None:
    with open_database(str(tmp_path / "x.db")).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


@pytest.mark.thorough  # several whole runs
def test_a_run_writes_into_the_ledger(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    wrong = f"{Path(__file__).parents[1]}/mutants/in_process.py:AlwaysWrong"
    ended = tokgate(
        "run", "--vocab=toy_bytes", "--impl=bpe.naive", f"--impl={wrong}", "--budget=50cases",
        f"--ledger={where}", f"--out={tmp_path / 'out'}",
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    engine = open_database(str(where))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    with sa.orm.Session(engine) as session:
        (run,) = session.scalars(sa.select(Run)).all()
        assert (run.verdict, run.cases, run.complete) == ("fail", summary["cases"], True)
        kept = set(session.scalars(sa.select(RunFinding.id)))
        assert kept == {finding["id"] for finding in summary["findings"]}


# --- what a site shows ----------------------------------------------------------------------------


def batch(mode: str, cases: int, wrong: int = 0, deaths: int = 0) -> BatchDone:
    judged = {check: {"tiktoken": cases, "mine": cases} for check in ("equivalence", "survival")}
    faults = {"equivalence": {"mine": wrong}, "survival": {"mine": deaths}}
    return BatchDone(f"toy/{mode}", "raw", cases, cases, cases, judged, faults)


def opened(mode: str) -> ContractOpened:
    both = ["tiktoken", "mine"]
    return ContractOpened(f"toy/{mode}", "bpe", "toy", mode, both, ["tiktoken"], {}, [])


def test_tallies_are_the_sums_over_contracts(opens: Opens) -> None:
    record(
        opens(),
        started(1),
        VocabularyLoaded("toy", "tiktoken", "bpe", 7, "ab", None, [], source="a\udc80\x00b"),
        opened("text"),
        opened("raw"),
        batch("text", 100, wrong=3),
        batch("text", 50, deaths=1),
        batch("raw", 10),
        finished(),
    )
    known = history(opens())
    told = {
        one.implementation: (one.cases, one.compared, one.wrong, one.deaths, one.trusted)
        for one in known.tallies
    }
    assert told == {"tiktoken": (160, 160, 0, 0, True), "mine": (160, 160, 3, 1, False)}
    assert {tuple(one.checks) for one in known.tallies} == {("equivalence", "survival")}
    assert {tuple(one.generators) for one in known.tallies} == {("raw",)}
    (vocabulary,) = known.vocabularies
    assert vocabulary.source == "a\\udc80\\x00b"


def test_a_finding_is_kept_in_full_once_a_version_and_again_where_smaller(
    opens: Opens, tmp_path: Path
) -> None:
    (tmp_path / "repro.py").write_text("print(1)")
    (tmp_path / "long.py").write_text("#" * (MAX_REPRODUCER + 1))

    def seen(day: int, data: bytes, version: str, script: str = "repro.py") -> None:
        one = replace(
            found("f-1", "b"), input_b64=base64.b64encode(data).decode(), culprits=["tiktoken"],
            reproducer=script,
        )  # fmt: skip
        keep_run(opens(), Coverage.of((started(day, version), one, finished())), tmp_path)

    def kept() -> list[tuple[str, int, str | None]]:
        with opens().connect() as connection:
            asked = sa.select(FindingDetail.versions, FindingDetail.size, FindingDetail.reproducer)
            return sorted(tuple(row) for row in connection.execute(asked))

    seen(1, b"four", "1.0")
    seen(2, b"four", "1.0")
    seen(3, b"longer", "1.0")
    assert kept() == [("tiktoken 1.0", 4, "print(1)")]
    seen(4, b"two", "1.0")
    seen(5, b"longer", "2.0", "long.py")
    assert kept() == [
        ("tiktoken 1.0", 3, "print(1)"),
        ("tiktoken 1.0", 4, "print(1)"),
        ("tiktoken 2.0", 6, None),
    ]
    (last,) = history(opens()).details
    assert (base64.b64decode(last.found.input_b64), last.reproducer) == (b"longer", None)


def test_a_database_from_before_gets_the_tables_that_are_missing(opens: Opens) -> None:
    record(opens(), started(1), found("f-1", "b"), finished())
    with opens().begin() as connection:
        for table in (FindingDetail, RunTally, RunVocabulary):
            connection.execute(sa.schema.DropTable(table.__table__))  # type: ignore[arg-type]
    record(opens(), started(2), found("f-1", "b"), finished())
    known = history(opens())
    assert (len(known.runs), len(known.findings), len(known.details)) == (2, 2, 1)


def test_speeds_are_kept_whole_and_are_no_runs(opens: Opens) -> None:
    *unfinished, end = ledgers.speeds(0, ["fast", "slow"], ["toy"])
    assert isinstance(end, Finished)
    for events in ([*unfinished, replace(end, complete=False)], [*unfinished, end]):
        keep_speeds(opens(), events)
    known = history(opens())
    assert known.runs == []
    assert len(known.speeds) == 3 * 2 * 3, "three rows at two sizes, of three kinds"
    fresh = [one for one in known.speeds if (one.row, one.kind) == ("fast", "fresh")]
    assert {one.size for one in fresh} == {1 << 12, 1 << 16}
    for one in fresh:
        assert [one.best, one.median, one.slowest] == pytest.approx([20, 10, 20 / 3])
        assert (one.rounds, one.version, one.answer) == (3, "1.0.0", "equal")


def test_each_finding_was_seen_first_and_last(opens: Opens) -> None:
    record(opens(), started(2), found("f-1", "b"), finished())
    record(opens(), started(5), found("f-1", "b"), found("f-2", "c"), finished())
    told = {
        name: (first.day, last.day, runs)
        for name, (first, last, runs) in trends.seen(history(opens())).items()
    }
    assert told == {"f-1": (2, 5, 2), "f-2": (5, 5, 1)}
