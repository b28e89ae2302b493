"""``tokgate worst`` as a user runs it."""

import json
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.doubles.command import TOKGATE, here, tokgate
from tests.doubles.tables import rows

SLOW = f"{Path(__file__).parents[2] / 'doubles' / 'slow_on_punctuation.py'}:IMPLEMENTATION"
OPTIONS = ("worst", "--impl", SLOW, "--vocab", "toy_bytes", "--withhold", "all", "--size", "16KB")


def rounds(path):
    """Generations that were committed."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.OperationalError):
        query = "select value from campaign_parts where name = 'state'"
        for (value,) in connection.execute(query):
            return int(json.loads(value)["schedule"]["number"])
    return 0


@pytest.mark.thorough  # whole searches, by the clock
def test_it_finds_what_is_planted_and_goes_on_after_an_interruption(tmp_path):
    families = tmp_path / "families.toml"
    options = (*OPTIONS, "--families", str(families), "--out", "out")
    state = tmp_path / "out" / "search.db"
    first = subprocess.Popen([TOKGATE, *options, "--budget", "40s"], cwd=tmp_path)
    end = time.monotonic() + 150
    while not rounds(state) and time.monotonic() < end:
        time.sleep(0.2)
    first.send_signal(signal.SIGINT)
    assert first.wait(timeout=300) == 130
    before = rounds(state)
    done = tokgate(*options, "--budget", "40s", "--json", folder=tmp_path, seconds=400)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads((tmp_path / "out" / "worst.json").read_text())
    assert report["complete"]
    assert report["generations"] > before
    worst = max(entry["a_byte"] for entry in report["found"] if entry["a_byte"])
    # A run of the whole input costs some hundred times as much as prose; a part of one will do.
    assert worst > 5 * report["control"]["a_byte"], report["found"]
    assert '<div class="plot"' in (tmp_path / "out" / "worst.html").read_text()
    assert families.read_text().count("[[family]]") == len(report["found"])


MISTAKES = """
--budget 20000cases | give a time
--size 2MB          | 4KB to 1MB
--withhold nothing  | no such family
--grey              | own source
--impl bpe.naive    | one implementation
"""


def test_mistakes_are_one_line(tmp_path):
    for options, fault in rows(MISTAKES):
        done = here(*OPTIONS, *options.split(), folder=tmp_path)
        assert done.returncode == 2, done.stderr
        assert fault in done.stderr
        assert "Traceback" not in done.stderr
