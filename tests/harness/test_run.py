"""A fault in the middle of a run: what was found is reported, and the fault is said."""

import logging
import re
import sys

import pytest

from harness.cli import application as cli
from harness.cluster.executor import Unit, UnitError
from harness.cluster.local import LocalExecutor
from harness.engine.ending import words_of
from tests.breadth import thorough
from tests.harness.command import summary


@pytest.mark.parametrize("debug", [[], thorough(["--debug"])], ids=["plain", "debug"])
def test_a_run_that_breaks_off_is_finished_and_reported(
    debug,
    tmp_path,
    monkeypatch,
    capfd,
    caplog,
):
    def fails(seen):
        raise ValueError("a fault\nof the harness")

    monkeypatch.setattr("harness.engine.judge.comparisons", fails)
    arguments = ["run", "--vocab=toy_bytes", "--impl=bpe.heap", "--impl=bpe.naive", *debug]
    monkeypatch.setattr(sys, "argv", ["tokgate", *arguments, f"--out={tmp_path}"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capfd.readouterr().err
    assert ended.value.code == 3, said
    assert re.search(
        r"broke off \(ValueError: a fault, at test_run.py:\d+\): what was found so far is here",
        said,
    )
    assert "Traceback" not in said
    logging.getLogger("harness").setLevel(logging.NOTSET)
    assert ("the work broke off" in caplog.text) == bool(debug)
    assert ("in fails" in caplog.text) == bool(debug)
    assert summary(tmp_path)["complete"] is False
    assert {"report.html", "junit.xml"} <= {path.name for path in tmp_path.iterdir()}


def test_a_fault_in_a_unit_of_work_is_told_with_its_own_line() -> None:
    def fails(keep: object) -> bytes:
        raise ValueError("a fault")

    executor = LocalExecutor(1)
    executor.submit(Unit("one", fails))
    with pytest.raises(UnitError) as raised:
        executor.next(60.0)
    executor.close()
    assert re.search(r"one: ValueError: a fault, at test_run.py:\d+", words_of(raised.value))
