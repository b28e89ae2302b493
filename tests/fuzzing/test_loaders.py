"""A quick look at every loader's mutants, and that the fuzzer counts what it is there for."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.breadth import thorough, thorough_from
from tests.fuzzing.formats import FORMATS
from tests.fuzzing.loaders import NAMES, fuzz, mutant

ROOT = Path(__file__).parents[2]


def test_the_table_has_all_formats():
    assert tuple(FORMATS) == NAMES


@pytest.mark.parametrize("name", thorough_from(1, NAMES))
def test_mutants_are_refused_clearly_or_load_whole(name):
    tally = fuzz(name, mutants=300, seed=0)
    assert tally.faults == []
    assert tally.other == 0
    assert tally.mutants == 300
    # Neither all damaged beyond recognition, nor hardly damaged at all.
    assert tally.refused > 30
    assert tally.accepted > 5


def test_a_seed_decides_the_mutants():
    for form in FORMATS.values():
        assert mutant(form, 3, 5) == mutant(form, 3, 5)
        assert len({mutant(form, 3, number) for number in range(20)}) > 10


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ("traceback", "KeyError at planted.py"),
        thorough(("unclear", "Unclear at formats.py")),
        thorough(("broken", "AssertionError at formats.py")),
        thorough(("memory", "MemoryError at planted.py")),
        thorough(("hang", "more than 0.5 s")),
        ("death", "died by 6"),
    ],
)
def test_a_wrong_loader_is_caught(planted, fault):
    wrong = sum(mutant(form_of(planted), 0, number) == b"0" for number in range(40))
    assert wrong > 0
    tally = fuzz(planted, mutants=40, seed=0, seconds=0.5)
    assert (tally.other, tally.accepted, len(tally.faults)) == (wrong, 40 - wrong, wrong)
    assert all(fault in line for line in tally.faults)


def form_of(planted):
    from tests.fuzzing.loaders import named

    return named(planted)


def test_the_command_fails_where_there_is_an_other():
    command = [sys.executable, "-m", "tests.fuzzing.loaders", "--mutants", "20"]
    done = subprocess.run(
        [*command, "--format", "traceback"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "| traceback | 20 | 0 |" in done.stdout
    assert "KeyError at planted.py" in done.stdout
