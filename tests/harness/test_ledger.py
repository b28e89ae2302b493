"""The ledger keeps runs as they were, in SQLite and in PostgreSQL alike."""

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from harness.events import Counted, Started
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
from tests.harness.made import WHOLE, batch, finished, found, grown, loaded, opened
from tests.harness.postgres import server
from tests.reports import ledgers

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
    return keep_run(engine, Coverage.of(events))


def test_a_run_comes_back_as_it_was(opens):
    run = record(
        opens(), started(1), F1, replace(F2, replaces="f-1", input_b64="AP8="),
        found("z", id="f-3", expected="known"), Counted("y", 1), Counted("y", 7),
        measured([256, 1e-6], [1024, 4e-6]), measured(family="failed"), finished(),
    )  # fmt: skip
    with sa.orm.Session(opens()) as session:
        kept = session.get_one(Run, run)
        of_start = (kept.started, kept.seed, kept.verdict)
        assert of_start == ("2026-03-01T12:00:00+00:00", 2**60, "fail")
        of_end = (kept.complete, kept.exit_status, kept.reasons)
        assert of_end == (True, 1, ["1 unexpected finding"])
        assert (kept.seconds, kept.cases, kept.comparisons) == (3.5, 10, 20)
        findings = session.scalars(sa.select(RunFinding).order_by(RunFinding.id)).all()
        assert [(f.id, f.bucket, f.data, f.culprits, f.expected, f.count) for f in findings] == [
            ("f-2", "y", b"\x00\xff", ["mine"], False, 7),
            ("f-3", "z", b"a", ["mine"], True, 1),
        ]
        spaces = session.get_one(RunGrowth, (run, "mine", "toy", "spaces"))
        assert (spaces.bytes, spaces.seconds) == (1024, 4e-6)
        versions = session.scalars(sa.select(RunVersion.version)).all()
        assert sorted(versions) == ["0.1", "1.0", "3.11"]


def test_a_run_is_there_whole_or_not_at_all(opens):
    """A run that was killed before its end has left nothing, and is no point of a trend."""
    engine = opens()
    record(engine, started(1), F1, measured([256, 1e-6]))
    with pytest.raises(LedgerError):
        record(engine, started(1), replace(F1, bucket=None), finished())
    known = history(engine)
    assert trends.series(known) == []
    assert (known.runs, known.versions) == ([], [])


def test_series_are_in_order_of_time_with_versions(opens):
    engine = opens()
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


def test_findings_are_counted_and_were_seen_first_and_last(opens):
    engine = opens()
    record(engine, started(1), F1, replace(F2, expected="known"), finished())
    record(engine, started(3), F1, found("z", id="f-3"), finished())
    record(engine, started(5), finished())
    known = history(engine)
    unexpected, expected = trends.findings(known)
    assert [value for *_, value in unexpected.points] == [1, 2, 0]
    assert [value for *_, value in expected.points] == [1, 0, 0]
    assert {
        name: (first.day, last.day, runs)
        for name, (first, last, runs) in trends.seen(known).items()
    } == {"f-1": (1, 3, 2), "f-2": (1, 1, 1), "f-3": (3, 3, 1)}


def test_times_sort_as_strings():
    assert in_utc("2026-01-01T01:00:00+02:00") == "2025-12-31T23:00:00+00:00"


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


def test_a_database_of_another_shape_is_refused(tmp_path):
    engine = open_database(str(tmp_path / "x.db"))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE tokgate_schema SET number = 99"))
    with pytest.raises(LedgerError, match="another version of tokgate"):
        open_database(str(tmp_path / "x.db"))


def test_urls():
    assert parse("postgres://u@h/d").drivername == "postgresql+psycopg"
    assert parse("x.db").database == str(Path("x.db").absolute())


def test_sqlite_writes_ahead_and_syncs(tmp_path):
    with open_database(str(tmp_path / "x.db")).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_tallies_are_the_sums_over_contracts(opens):
    wrong = replace(batch(mine=WHOLE, right=WHOLE), violations={"equivalence": {"mine": 3}})
    some = (10, 0, 0)
    record(
        opens(), started(1), loaded(source="a\udc80\x00b"), opened("right", "mine"),
        opened("right", "mine", mode="text"), wrong, batch(mine=(9, 1, 0), right=some),
        batch(mode="text", mine=some, right=some), finished(),
    )  # fmt: skip
    known = history(opens())
    told = {
        one.implementation: (one.cases, one.compared, one.wrong, one.deaths, one.trusted)
        for one in known.tallies
    }
    assert told == {"right": (1020, 1019, 0, 0, True), "mine": (1020, 1019, 3, 1, False)}
    assert {tuple(one.checks) for one in known.tallies} == {("equivalence", "survival")}
    assert {tuple(one.generators) for one in known.tallies} == {("edge",)}
    (vocabulary,) = known.vocabularies
    assert vocabulary.source == "a\\udc80\\x00b"


def test_a_finding_is_kept_in_full_once_a_version_and_again_where_smaller(opens, tmp_path):
    (tmp_path / "repro.py").write_text("print(1)")
    (tmp_path / "long.py").write_text("#" * (MAX_REPRODUCER + 1))

    def seen(day, data, version, script="repro.py"):
        one = replace(F1, input_b64=base64.b64encode(data).decode(), reproducer=script)
        keep_run(opens(), Coverage.of((started(day, version), one, finished())), tmp_path)

    def kept():
        with opens().connect() as connection:
            asked = sa.select(FindingDetail.versions, FindingDetail.size, FindingDetail.reproducer)
            return sorted(tuple(row) for row in connection.execute(asked))

    seen(1, b"four", "1.0")
    seen(2, b"four", "1.0")
    seen(3, b"longer", "1.0")
    assert kept() == [("mine 1.0", 4, "print(1)")]
    seen(4, b"two", "1.0")
    seen(5, b"longer", "2.0", "long.py")
    assert kept() == [
        ("mine 1.0", 3, "print(1)"),
        ("mine 1.0", 4, "print(1)"),
        ("mine 2.0", 6, None),
    ]
    (last,) = history(opens()).details
    assert (base64.b64decode(last.found.input_b64), last.reproducer) == (b"longer", None)


def test_a_database_from_before_gets_the_tables_that_are_missing(opens):
    record(opens(), started(1), F1, finished())
    with opens().begin() as connection:
        for table in (FindingDetail, RunTally, RunVocabulary):
            connection.execute(sa.schema.DropTable(table.__table__))
    record(opens(), started(2), F1, finished())
    known = history(opens())
    assert (len(known.runs), len(known.findings), len(known.details)) == (2, 2, 1)


def test_speeds_are_kept_whole_and_are_no_runs(opens):
    *unfinished, end = ledgers.speeds(0, ["fast", "slow"], ["toy"])
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
