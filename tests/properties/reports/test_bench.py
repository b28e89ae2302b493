"""Speed: how sure a comparison is; tables, plots and the terminal of a measurement."""

from dataclasses import replace
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.events import Benched, BenchStarted, Finished, VocabularyLoaded, VocabularyOpened
from reports import bench
from reports.blocks import terminal
from reports.speeds import DOUBT, LEAST_ROUNDS, compared, tables

NASTY = "<script>alert(1)</script>\u202e"
SMALL, LARGE = SIZES = 1024, 1 << 20


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


def timed(row, seconds, mode="text", **other):
    """A cell of the large size, by what its rounds took."""
    timings = [{**timing("fresh", i, LARGE, one), **other} for i, one in enumerate(seconds)]
    return cell(row, LARGE, 1, mode=mode, timings=timings)


def record(*cells, complete=True, **other):
    started = BenchStarted(
        time="2026-01-01T00:00:00+00:00", command=f"tokgate bench {NASTY}", seed=0, rounds=3,
        cold=1, sizes=[*SIZES], texts={"source": f"source {NASTY}"}, modes=["text"],
        base={"text": ["tiktoken"]}, versions={"tiktoken": "0.14", NASTY: NASTY},
        homepages={"tiktoken": "https://example.org/", "evil": "javascript:alert(1)"},
        cpu="A CPU", machine="Linux",
    )  # fmt: skip
    vocabulary = VocabularyLoaded("v", "tiktoken", "bpe", 9, "f" * 64, None, [])
    end = Finished(complete, "pass", [], 3.0, 0, 0, 0)
    return [replace(started, **other), vocabulary, *cells, end]


def usual():
    speeds = {"slow": 2, "tiktoken": 8, "fast": 80}
    return record(
        *(cell(name, size, speed) for name, speed in speeds.items() for size in SIZES),
        *(cell("wrong", size, 40, answer="different") for size in SIZES),
        cell(NASTY, SMALL, 1),
        cell(NASTY, LARGE, 1, status="failed", note=f"crashed: {NASTY}", timings=[]),
        cell("never", SMALL, 1, status="unsupported", timings=[]),
    )


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


def printed(of):
    """What a terminal of a hundred columns shows, in one line."""
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(*terminal.render(bench.page(of).blocks), sep="\n")
    said = console.export_text()
    assert max(map(len, said.splitlines())) <= 100
    assert "\u202e" not in said
    return " ".join(said.split())


# --- how sure a comparison is ---------------------------------------------------------------------


def rounds(values):
    return dict(enumerate(values))


ROUNDS = st.dictionaries(st.integers(0, 20), st.floats(0.1, 10), min_size=1)


@given(ROUNDS, ROUNDS | st.just({}))
def test_the_rounds_that_both_have_are_compared(mine, base):
    found, speeds = compared(mine, base), mine.values()
    ratios = sorted(mine[one] / base[one] for one in mine.keys() & base.keys())
    assert (found.best, found.median, found.slowest) == (max(speeds), median(speeds), min(speeds))
    if len(ratios) < LEAST_ROUNDS:  # of few rounds the best are compared
        assert found.ratio == (max(speeds) / max(base.values()) if base else 0)
        assert (found.interval, found.verdict) == (None, "")
        assert found.between == pytest.approx(
            (found.ratio * min(speeds) / max(speeds), found.ratio)
        )
    else:
        low, high = found.between
        assert found.ratio == median(ratios)
        assert (low in ratios, high in ratios, low <= found.ratio <= high) == (True, True, True)
        sure = "ahead" if low > 1 else "behind" if high < 1 else "no difference"
        assert found.verdict == sure


@pytest.mark.parametrize(
    ("count", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (15, 4, 12), (31, 10, 22)]
)
def test_ranks_are_those_of_the_table(count, low, high):
    # Conover, table A3: the sign test at 5 %.
    found = compared(rounds(float(i) for i in range(1, count + 1)), rounds([1.0] * count))
    assert found.interval == (low, high)


@pytest.mark.parametrize("count", [LEAST_ROUNDS, 7, 9, 15, 31])
def test_equally_fast_ones_are_hardly_ever_told_apart(count):
    rng = np.random.default_rng(count)
    told = 0
    for _ in range(1000):
        speeds = np.exp(rng.normal(0, 0.05, (2, count)) - rng.exponential(0.1, (2, count)))
        told += compared(*map(rounds, speeds.tolist())).verdict != "no difference"
    # 50 are expected at the most; 4 standard deviations more.
    assert told <= 1000 * DOUBT + 28


# --- what is shown of it --------------------------------------------------------------------------


def test_threads_are_measured_by_the_wall_and_beside_one():
    both = (
        timed("tiktoken", [1.0] * 3, "batch", wall=1.25),
        timed("tiktoken", [1.5] * 3, "threads", wall=0.5),
    )
    whole = record(*both, document=200, threads=2)
    alone, together = tables(whole)
    speeds = [table.lines[0].speed(LARGE, "fresh").best for table in (alone, together)]
    assert speeds == pytest.approx([1, 2])
    assert (alone.lines[0].gain, together.lines[0].gain) == (0, pytest.approx(2.5))
    said = printed(whole)
    for part in (
        "in batches on 2 threads, of texts of 200 B",
        "of wall-clock time",
        "× one thread",
    ):
        assert part in said


def test_one_alone_is_compared_with_nobody():
    (alone,) = tables(record(cell("fast", SMALL, 80)))
    assert (alone.base, alone.lines[0].speed(SMALL, "fresh").ratio) == ("", 0)
    assert [*tables([])] == []


def test_the_terminal_shows_how_sure_a_ratio_is():
    assert ", ahead" not in printed(usual()), "three rounds tell nothing"
    base = [1 / 8, 1 / 7, 1 / 8, 1 / 6, 1 / 8, 1 / 7]
    for times, told in (("1.50", "ahead"), ("0.80", "behind"), ("1.00", "no difference")):
        other = timed("other", [one / float(times) for one in base])
        assert f"{times} {times} to {times}, {told}" in printed(
            record(timed("tiktoken", base), other)
        )
    assert "Interrupted" in printed(record(complete=False))
    assert "no base was measured" in printed(record(cell("fast", SMALL, 80)))


def drawn(*cells):
    """The plots of a table, and its figures."""
    (table,) = tables(record(*cells))
    names = [line.name for line in table.lines]
    figures = [*bench.by_size(table, names), *bench.ratios(table)]
    return [plot for figure in figures for plot in figure.blocks]


def test_plots_have_all_lines_with_their_spread():
    plot, ratios = drawn(*usual()[2:-1])
    lines = [(one.name, len(one.points), len(one.spread), one.wide) for one in plot.series[:3]]
    assert lines == [("fast", 2, 2, False), ("wrong ✗", 2, 2, False), ("tiktoken", 2, 2, True)]
    assert [one.name for one in ratios.series] == ["fresh", "warm", "cold"]
    assert ratios.x.names == ["fast", "wrong ✗", "tiktoken", "slow"]
    assert drawn(cell("failed", SMALL, 1, status="failed", note="x", timings=[])) == []
    # One size has ratios, and no column of dots.
    (ratios,) = drawn(cell("tiktoken", SMALL, 8), cell("fast", SMALL, 80))
    spreads = [spread for one in ratios.series for spread in one.spread]
    assert len(spreads) == 2 * 3
    # The slowest of three rounds takes three times as long.
    assert spreads[0][1] / spreads[0][2] == pytest.approx(1 / 3)


def test_the_page_says_who_is_the_fastest_of_those_that_are_right():
    wrong = record(cell("wrong", SMALL, 90, answer="different"))
    assert "No implementation with the right answers" in bench.leader([*tables(wrong)])
