"""What a person reads at the end of a run, and while it goes on: short, and the worst first."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.display import Display
from harness.cli.progress import CampaignProgress, Progress
from harness.events import Finished, Phase
from reports.last_words import COLUMNS, ROWS, closing, run_summary
from tests.doubles import made
from tests.properties.reports import records


def printed(blocks, **options):
    """What is seen of blocks on a terminal of 80 columns."""
    console = Display(width=COLUMNS, file=io.StringIO(), record=True, **options)
    console.show(blocks)
    return console.export_text().splitlines()


def ended(reasons=(), notes=()):
    return Finished(True, "fail", [*reasons], 60.0, 1_246_983, 20_580_437, 1, notes=[*notes],
                    prepared=6.0, compared=16)  # fmt: skip


LINES = st.lists(st.text(st.characters(codec="utf-8", categories=["L", "Zs"]), max_size=400))


@given(st.integers(0, 9), LINES, LINES, st.text(min_size=1, max_size=60))
def test_the_end_fits_on_twelve_lines(count, reasons, notes, text):
    found = [records.found(f"f-{number:08}", text.encode()) for number in range(count)]
    finished = ended([f"{count} unexpected findings: x", *reasons], notes)
    summary = run_summary(finished, count)
    shown = printed(closing(finished, summary, Path("out/report.html"), found), force_terminal=True)
    assert len(shown) <= ROWS
    assert all(len(line) <= COLUMNS for line in shown)
    assert shown[0].startswith("FAILED")
    assert shown[-1] == "  out/report.html"
    assert sum(line.startswith("  f-") for line in shown) >= min(count, 3)


@pytest.mark.parametrize("verbose", [False, True])
def test_a_log_has_findings_and_only_on_request_what_is_loaded(verbose, monkeypatch):
    monkeypatch.setattr(Display, "verbose", verbose)
    console = Display(width=COLUMNS, file=io.StringIO(), record=True)
    progress = Progress(seconds=1.0, console=console)
    for event in (
        Phase("loading toy"), made.found("x/y", id="f-1"),
        made.found("known", id="f-2", expected="by design"),
    ):  # fmt: skip
        progress.consume(event)
    monkeypatch.setattr(progress, "every", 0.0)
    progress.rarer = 0.0
    progress.consume(Phase("checking toy"))
    told = console.export_text()
    assert "finding x/y on " in told
    assert ("loading toy\n" in told, "expected known" in told) == (verbose, verbose)
    assert "0%, 0 of 1 s: checking toy" in told
    progress._began -= 3
    assert progress.progress() == (1.0, "2 s over 1 s")


def test_a_campaign_has_no_rate_before_its_first_case():
    progress = CampaignProgress("", None, [])
    assert progress.facts() == ""
    progress.prepared(1.0)
    assert progress.facts().startswith("0 cases (0/s)")
