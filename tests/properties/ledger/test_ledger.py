"""The ledger keeps runs as they were, in SQLite and in PostgreSQL alike."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from harness.events import Benched, BenchStarted, Counted, Event, Started
from harness.ledger import trends
from harness.ledger.engine import Kept, LedgerError, open_database, parse
from harness.ledger.store import MAX_REPRODUCER, history, keep_run, keep_speeds
from harness.verdict.coverage import Coverage
from tests.doubles.made import WHOLE, batch, finished, found, grown, loaded, opened
from tests.doubles.postgres import server
from tests.properties.reports import ledgers

Opens = Callable[[], Engine]


@pytest.fixture(scope="module")
def new_database():
    with server() as urls:
        yield urls


@pytest.fixture(params=["sqlite", "postgresql"])
def opens(request, tmp_path):
    """Opens one database, again and again."""
    if request.param == "sqlite":
        url = str(tmp_path / "database.db")
    else:
        url = request.getfixturevalue("new_database")()
    return lambda: open_database(url)


def started(day, version="1.0", zone="+00:00"):
    return Started(
        f"2026-03-{day:02}T12:00:00{zone}", 2**60, "smoke", "45s", "tokgate run",
        {"tokgate": "0.1", "python": "3.11", "mine": version}, "Linux",
    )  # fmt: skip


def measured(*points, family="spaces"):
    return grown(points=list(points), family=family)


F1, F2 = found("x", id="f-1"), found("y", id="f-2")


def record(engine, *events):
    keep_run(engine, Coverage.of(events))


def test_a_run_comes_back_as_it_was(opens):
    record(
        opens(), started(1, zone="+05:00"), F1, replace(F2, replaces="f-1", input_b64="AP8="),
        found("z", id="f-3", expected="known"), Counted("y", 1), Counted("y", 7),
        measured([256, 1e-6], [1024, 4e-6]), measured(family="failed"), finished(),
    )  # fmt: skip
    (run,) = history(opens()).runs
    assert (run.began.time, run.began.seed) == ("2026-03-01T07:00:00+00:00", 2**60)
    assert run.began.versions == {"tokgate": "0.1", "python": "3.11", "mine": "1.0"}
    assert run.ended == finished()
    findings = run.coverage.findings.values()
    assert [(f.id, f.bucket, f.input, f.culprits, f.expected) for f in findings] == [
        ("f-2", "y", b"\x00\xff", ["mine"], None),
        ("f-3", "z", b"a", ["mine"], "known"),
    ]
    assert run.coverage.counts == {"y": 7}
    spaces, failed = run.coverage.growth.values()
    assert (spaces.points, failed.points) == ([[256, 1e-6], [1024, 4e-6]], [])


def test_what_another_version_has_written_is_passed_over(opens):
    record(opens(), started(1), F1, finished())
    with sa.orm.Session(opens()) as session, session.begin():
        (row,) = session.scalars(sa.select(Kept))
        lines = zlib.decompress(row.events) + b'\n{"event": "Unknown"}\n{"event": "Found"}'
        row.events = zlib.compress(lines)
    (run,) = history(opens()).runs
    assert list(run.coverage.findings) == ["f-1"]


def test_series_are_in_order_of_time_with_versions(opens):
    engine = opens()
    # A run that was killed before its end has left nothing, and is no point of a trend.
    record(engine, started(1), F1, measured([256, 5e-6]))
    assert history(engine).runs == []
    record(engine, started(2, "1.1"), measured([256, 2e-6], [1024, 8e-6]), finished())
    record(engine, started(1, "1.0"), measured([256, 1e-6]), finished())
    # Later by the clock on the wall, earlier in UTC. Of two families the worst counts.
    record(
        engine, started(2, "1.05", "+05:00"), measured([256, 3e-6], [512, 1.0]),
        measured([512, 1e-6], family="fast"), finished(),
    )  # fmt: skip
    (costs,) = trends.worst(history(engine))
    assert (costs.name, costs.unit) == ("mine on toy", "ns/byte")
    # 256 is the only size that all of them have.
    assert [(version, value) for _, version, value in costs.points] == [
        ("1.0", pytest.approx(1000 / 256)),
        ("1.05", pytest.approx(3000 / 256)),
        ("1.1", pytest.approx(2000 / 256)),
    ]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("no/such/kind://x", "no URL"),
        ("nothing://x", "no such kind of database"),
        ("/proc/none/x.db", "check the path"),
        ("postgresql://me:secret@127.0.0.1:9/none", "check the path or URL"),
        (__file__, "not a database"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_line(where, said):
    if "postgresql" in where:
        pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match=said) as error:
        open_database(where)
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


def test_findings_are_counted_and_were_seen_first_and_last(opens):
    engine = opens()
    for day, *findings in ((1, F1, replace(F2, expected="known")), (3, F1), (5,)):
        record(engine, started(day), *findings, finished())
    known = history(engine)
    counts = [[value for *_, value in one.points] for one in trends.findings(known)]
    assert counts == [[1, 1, 0], [1, 0, 0]]
    seen = {name: (a.day, b.day, runs) for name, (a, b, runs) in trends.seen(known).items()}
    assert seen == {"f-1": (1, 3, 2), "f-2": (1, 1, 1)}


def test_sqlite_is_of_one_shape_and_writes_ahead(tmp_path):
    assert parse("postgres://u@h/d").drivername == "postgresql+psycopg"
    assert parse("x.db").database == str(Path("x.db").absolute())
    url = str(tmp_path / "x.db")
    with open_database(url).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    with open_database(url).begin() as connection:
        connection.execute(sa.text("UPDATE tokgate_schema SET number = 99"))
    with pytest.raises(LedgerError, match="another version of tokgate"):
        open_database(url)


def test_tallies_are_the_sums_over_contracts(opens):
    wrong = replace(batch(mine=WHOLE, right=WHOLE), violations={"equivalence": {"mine": 3}})
    some = (10, 0, 0)
    record(
        opens(), started(1), loaded(source="a\udc80\x00b"), opened("right", "mine"),
        opened("right", "mine", mode="text"), wrong, batch(mine=(9, 1, 0), right=some),
        batch(mode="text", mine=some, right=some), finished(),
    )  # fmt: skip
    (run,) = history(opens()).runs
    told = {
        one.implementation: (one.cases, one.compared, one.wrong, one.deaths, one.trusted)
        for one in run.tallies
    }
    assert told == {"right": (1020, 1019, 0, 0, True), "mine": (1020, 1019, 3, 1, False)}
    assert {tuple(one.checks) for one in run.tallies} == {("equivalence", "survival")}
    assert {tuple(one.generators) for one in run.tallies} == {("edge",)}
    (vocabulary,) = run.coverage.vocabularies.values()
    assert vocabulary.source == "a\udc80\x00b"


def test_reproducers_are_kept_but_for_long_and_lost_ones(opens, tmp_path):
    (tmp_path / "repro.py").write_text("print(1)")
    (tmp_path / "long.py").write_text("#" * (MAX_REPRODUCER + 1))
    findings = [
        found("x", id=f"f-{name}", reproducer=f"{name}.py") for name in ("repro", "long", "lost")
    ]
    keep_run(opens(), Coverage.of((started(1), *findings, finished())), tmp_path)
    (run,) = history(opens()).runs
    assert run.scripts == {"f-repro": "print(1)"}
    assert len(run.coverage.findings) == 3


def test_speeds_are_kept_whole_and_are_no_runs(opens):
    *unfinished, end = ledgers.speeds(0, ["fast", "slow"], ["toy"])
    for events in ([*unfinished, replace(end, complete=False)], [*unfinished, end]):
        keep_speeds(opens(), events)
    known = history(opens())
    assert known.runs == []
    kept = [one for one in unfinished if isinstance(one, BenchStarted | Benched)]
    assert known.measurements == [[Event.from_json(one.to_json()) for one in kept]]
