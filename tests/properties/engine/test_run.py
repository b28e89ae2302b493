"""A fault in the middle of a run: what was found is reported, and the fault is said."""

import logging
import re

import pytest

from tests.breadth import thorough
from tests.doubles.command import here, summary


@pytest.mark.parametrize("debug", [[], thorough(["--debug"])], ids=["plain", "debug"])
def test_a_run_that_breaks_off_is_finished_and_reported(debug, tmp_path, monkeypatch, caplog):
    def fails(seen):
        raise ValueError("a fault\nof the harness")

    monkeypatch.setattr("harness.engine.judge.comparisons", fails)
    arguments = ["run", "--vocab=toy_bytes", "--impl=bpe.heap", "--impl=bpe.naive", *debug]
    done = here(*arguments, f"--out={tmp_path}")
    assert done.returncode == 3, done.stderr
    told = r"internal error \(ValueError: a fault, at test_run.py:\d+\): these are the results"
    assert re.search(told, done.stderr)
    assert "Traceback" not in done.stderr
    logging.getLogger("harness").setLevel(logging.NOTSET)
    assert ("the work broke off" in caplog.text) == ("in fails" in caplog.text) == bool(debug)
    assert summary(tmp_path)["complete"] is False
    assert {"report.html", "junit.xml"} <= {path.name for path in tmp_path.iterdir()}
