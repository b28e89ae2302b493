"""Reports of a measurement of speed: what tables say, valid plots, a page that loads nothing."""

from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from harness.events import (
    Benched,
    BenchStarted,
    Finished,
    VocabularyLoaded,
    VocabularyOpened,
)
from reports import bench
from reports.bench import opening_sections
from reports.blocks import Items, Table, terminal
from reports.speeds import DOUBT, KINDS, LEAST_ROUNDS, compared, tables

NASTY = "<script>alert(1)</script>\u202e"


def timing(kind, number, size, cpu):
    return {"kind": kind, "round": number, "bytes": size, "passes": 1, "cpu": cpu, "wall": cpu}


def cell(row, size, speed, **other):
    """A cell whose best fresh speed is ``speed`` MiB/s, warm twice and cold half of it."""
    cpu = size / 2**20 / speed
    timings = [
        timing("cold", 0, size, cpu * 2),
        *(timing("warm", i, size, cpu / 2 * (1 + i)) for i in range(3)),
        *(timing("fresh", i, size, cpu * (1 + i)) for i in range(3)),
    ]
    whole = {
        "vocabulary": "v", "text": "source", "mode": "text", "row": row, "implementation": row,
        "size": size, "bytes": size, "status": "measured", "note": "", "answer": "equal",
        "trusted": "tiktoken", "tokens": 9, "timings": timings,
    }  # fmt: skip
    return Benched(**{**whole, **other})


def record(*cells, complete=True, **other):
    started = BenchStarted(
        time="2026-01-01T00:00:00+00:00", command=f"tokgate bench {NASTY}", seed=0, rounds=3,
        cold=1, sizes=[1024, 1 << 20], texts={"source": f"source {NASTY}"}, modes=["text"],
        base={"text": ["tiktoken"]}, versions={"tiktoken": "0.14", NASTY: NASTY},
        homepages={"tiktoken": "https://example.org/", "evil": "javascript:alert(1)"},
        cpu="A CPU", machine="Linux",
    )  # fmt: skip
    vocabulary = VocabularyLoaded("v", "tiktoken", "bpe", 9, "f" * 64, None, [])
    end = Finished(complete, "pass", [], 3.0, 0, 0, 0)
    return [replace(started, **other), vocabulary, *cells, end]


def usual():
    return record(
        *(cell("slow", size, 2) for size in (1024, 1 << 20)),
        *(cell("tiktoken", size, 8) for size in (1024, 1 << 20)),
        *(cell("fast", size, 80) for size in (1024, 1 << 20)),
        *(cell("wrong", size, 40, answer="different") for size in (1024, 1 << 20)),
        cell(NASTY, 1024, 1),
        cell(NASTY, 1 << 20, 1, status="failed", note=f"crashed: {NASTY}", timings=[]),
        cell("never", 1024, 1, status="unsupported", timings=[]),
    )


def printed(of):
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    for part in terminal.render(bench.page(of).blocks):
        console.print(part)
    return console.export_text()


def test_threads_are_measured_by_the_wall_and_beside_one():
    def of(mode, cpu, wall):
        timings = [{**timing("fresh", i, 1 << 20, cpu), "wall": wall} for i in range(3)]
        return cell("tiktoken", 1 << 20, 1, mode=mode, timings=timings)

    both = of("batch", cpu=1.0, wall=1.25), of("threads", cpu=1.5, wall=0.5)
    whole = record(*both, document=200, threads=2)
    alone, together = tables(whole)
    assert alone.lines[0].speed(1 << 20, "fresh").best == pytest.approx(1)
    assert together.lines[0].speed(1 << 20, "fresh").best == pytest.approx(2)
    assert (alone.lines[0].gain, together.lines[0].gain) == (0, pytest.approx(2.5))
    assert together.tag == "batches on 2 threads"
    text = " ".join(printed(whole).split())
    assert "in batches on 2 threads, of texts of 200 B" in text
    assert "by the clock on the wall" in text
    assert "× one thread" in text


def test_lines_are_sorted_by_the_speed_of_fresh_text_at_the_largest_size():
    (table,) = tables(usual())
    assert [line.name for line in table.lines] == ["fast", "wrong", "tiktoken", "slow", NASTY]
    assert table.base == "tiktoken"
    fresh, warm, cold = (table.lines[0].speed(1 << 20, kind) for kind in KINDS)
    assert (fresh.best, fresh.median) == (pytest.approx(80), pytest.approx(40))
    assert fresh.ratio == pytest.approx(10)
    assert (warm.best, cold.best) == (pytest.approx(160), pytest.approx(40))


def test_rounds_enough_give_an_interval_and_a_word():
    def many(row, speeds):
        timings = [timing("fresh", i, 1 << 20, 1 / speed) for i, speed in enumerate(speeds)]
        return cell(row, 1 << 20, 1, timings=timings)

    base = [8.0, 7.0, 8.0, 6.0, 8.0, 7.5]
    made = record(
        many("tiktoken", base),
        many("fast", [one * 3 for one in base]),
        many("slow", [one / 2 for one in base]),
        many("like", [one * (1.1 if i % 2 else 0.9) for i, one in enumerate(base)]),
    )
    text = printed(made)
    assert "3.00 3.00 to 3.00, ahead" in text
    assert "0.50 0.50 to 0.50, behind" in text
    assert "0.90 to 1.10, no difference" in text
    # Three rounds tell nothing.
    assert ", ahead" not in printed(usual())


def test_without_a_base_there_are_no_ratios():
    (table,) = tables(record(cell("fast", 1024, 80)))
    assert table.base == ""
    assert table.lines[0].speed(1024, "fresh").ratio == 0
    assert "no base was measured" in printed(record(cell("fast", 1024, 80)))


def test_the_terminal_shows_marks_and_reasons():
    said = printed(usual())
    assert max(map(len, said.splitlines())) <= 100
    assert "wrong ✗" in said
    assert "gave other ids than the trusted implementation" in said
    assert "crashed: " in said
    assert "\u202e" not in said
    assert "Interrupted" in printed(record(complete=False))
    assert list(tables([])) == []


def drawn(table):
    """The plots of a table."""
    names = [line.name for line in table.lines]
    figures = [*bench.by_size(table, names), *bench.ratios(table)]
    return [plot for figure in figures for plot in figure.blocks]


def test_plots_have_all_lines_with_their_spread():
    (table,) = tables(usual())
    plot, ratios = drawn(table)
    lines = [(one.name, len(one.points), len(one.spread), one.wide) for one in plot.series[:3]]
    assert lines == [("fast", 2, 2, False), ("wrong ✗", 2, 2, False), ("tiktoken", 2, 2, True)]
    assert [one.name for one in ratios.series] == ["fresh", "warm", "cold"]
    assert ratios.x.names == ["fast", "wrong ✗", "tiktoken", "slow"]
    (empty,) = tables(record(cell("failed", 1024, 1, status="failed", note="x", timings=[])))
    assert drawn(empty) == []


def test_one_size_has_ratios_and_no_column_of_dots():
    one = record(cell("tiktoken", 1024, 8), cell("fast", 1024, 80))
    (table,) = tables(one)
    (ratios,) = drawn(table)
    spreads = [spread for one in ratios.series for spread in one.spread]
    assert len(spreads) == 2 * 3
    # The slowest of three rounds takes three times as long.
    _, low, high = spreads[0]
    assert low / high == pytest.approx(1 / 3, abs=0.01)


def test_the_page_says_who_is_the_fastest_of_those_that_are_right():
    assert bench.leader(list(tables(usual()))) == (
        "Fastest on source (1 MiB, v): fast with 80.0 MiB/s, 10.0 times tiktoken."
    )
    wrong = record(cell("wrong", 1024, 90, answer="different"))
    assert "No implementation with the right answers" in bench.leader(list(tables(wrong)))


def opened(name, cold, warm, **other):
    """Two rounds, the second of which took twice as long; memory as if nothing else ran."""
    openings = [
        {
            "kind": kind, "round": number, "code": 0.25, "cpu": cpu * (1 + number), "wall": 9.0,
            "before": 50 << 20, "own_before": 10 << 20, "after": 90 << 20, "own_after": 40 << 20,
            "worked": 95 << 20, "own_worked": 45 << 20,
        }
        for number in range(2)
        for kind, cpu in (("cold", cold), ("warm", warm))
    ]  # fmt: skip
    whole = {
        "vocabulary": "v", "implementation": name, "file": f"file {NASTY}", "text": "source",
        "bytes": 1 << 20, "status": "measured", "note": "", "openings": openings,
    }  # fmt: skip
    return VocabularyOpened(**{**whole, **other})


def test_openings_have_a_table_from_the_quickest_down():
    openings = [
        opened("slow", 3.0, 0.5),
        opened("tiktoken", 0.4, 0.3),
        opened(NASTY, 0.1, 0.1),
        opened("lost", 0, 0, status="failed", note=f"crashed: {NASTY}", openings=[]),
    ]
    (section,) = opening_sections(openings)
    (table,) = (one for one in section.blocks if isinstance(one, Table))
    (notes,) = (one for one in section.blocks if isinstance(one, Items))
    rows = [tuple(cells) for _, cells in table.lines]
    assert [cells[0].text for cells in rows] == [NASTY, "tiktoken", "slow"]
    told = ["0.25", "3.00", "0.50", "50.0", "40.0", "30.0", "5.0"]
    assert [cell.text for cell in rows[2][2:]] == told
    assert notes.entries[-1] == f"lost: crashed: {NASTY}"
    said = printed(record(*openings))
    assert max(map(len, said.splitlines())) <= 100
    assert "the least of 2 rounds" in " ".join(said.split())


def rounds(values):
    return dict(enumerate(values))


def test_the_rounds_that_both_have_are_compared():
    mine = dict.fromkeys(range(7), 3.0) | {9: 100.0}
    found = compared(mine, dict.fromkeys(range(1, 9), 1.0))
    assert (found.ratio, found.interval, found.verdict) == (3.0, (3.0, 3.0), "ahead")


def test_of_few_rounds_the_best_are_compared():
    found = compared({0: 8.0, 1: 4.0, 2: 9.0}, {1: 2.0, 2: 3.0, 3: 1.0})
    assert (found.ratio, found.interval, found.verdict) == (3.0, None, "")


@pytest.mark.parametrize(
    ("count", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (15, 4, 12), (31, 10, 22)]
)
def test_ranks_are_those_of_the_table(count, low, high):
    # Conover, table A3: the sign test at 5 %.
    found = compared(rounds([float(i) for i in range(1, count + 1)]), rounds([1.0] * count))
    assert found.interval == (low, high)


def test_a_disturbance_that_falls_on_both_decides_nothing():
    disturbed = [1.0, 0.2, 1.0, 0.5, 0.9, 0.3, 1.0]
    found = compared(rounds([2 * one for one in disturbed]), rounds(disturbed))
    assert (found.interval, found.verdict) == ((2.0, 2.0), "ahead")


@pytest.mark.parametrize("count", [LEAST_ROUNDS, 7, 9, 15, 31])
def test_equally_fast_ones_are_hardly_ever_told_apart(count):
    rng = np.random.default_rng(count)
    told = 0
    for _ in range(1000):
        speeds = np.exp(rng.normal(0, 0.05, (2, count)) - rng.exponential(0.1, (2, count)))
        found = compared(rounds(speeds[0].tolist()), rounds(speeds[1].tolist()))
        told += found.verdict != "no difference"
    # 50 are expected at the most; 4 standard deviations more.
    assert told <= 1000 * DOUBT + 28
