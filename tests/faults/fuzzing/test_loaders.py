"""A quick look at the mutants of the loaders, and that the fuzzer counts what it is there for."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.breadth import thorough_from
from tests.faults.fuzzing.formats import FORMATS, mutant
from tests.faults.fuzzing.planted import FAULTS
from tests.faults.fuzzing.planted import FORMATS as PLANTED

ROOT = Path(__file__).parents[3]


def fuzzed(name, mutants, *options):
    """The exit status of the fuzzer, its rows as numbers, and its lines on faults."""
    command = [sys.executable, "-m", "tests.faults.fuzzing.loaders", "--format", name]
    done = subprocess.run(
        [*command, "--mutants", str(mutants), *options],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()[2:]
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    rows = {name: [int(one) for one in numbers] for name, *numbers in cells}
    return done.returncode, rows, [line for line in lines if line and not line.startswith("|")]


@pytest.mark.parametrize("name", thorough_from(1, FORMATS))
def test_mutants_are_refused_clearly_or_load_whole(name):
    status, rows, faults = fuzzed(name, 300)
    assert (status, faults) == (0, [])
    mutants, refused, accepted, other = rows[name]
    assert (mutants, other) == (300, 0)
    # Neither all damaged beyond recognition, nor hardly damaged at all.
    assert refused > 30
    assert accepted > 5


def test_a_seed_decides_the_mutants():
    for form in FORMATS.values():
        assert mutant(form, 3, 5) == mutant(form, 3, 5)
        assert len({mutant(form, 3, number) for number in range(20)}) > 10


def test_a_wrong_loader_is_caught():
    status, rows, faults = fuzzed("planted", 40, "--seconds", "0.5")
    assert status == 1
    for name, (_, told) in FAULTS.items():
        wrong = sum(mutant(PLANTED[name], 0, number) == b"0" for number in range(40))
        assert wrong > 0
        assert rows[name] == [40, 0, 40 - wrong, wrong]
        mine = [line for line in faults if line.startswith(f"{name} ")]
        assert [told in line for line in mine] == [True] * wrong


def test_json_is_utf8_where_nobody_reads_it_too(tmp_path):
    """A bug that these mutants found: whoever read the whole file later had a traceback."""
    path = tmp_path / "tokenizer.json"
    path.write_bytes(
        b'{"added_tokens": [{"id": 9, "content": "x"}],'
        b' "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "nobody\xec": 1}'
    )
    assert FORMATS["json-bpe"].use(path) is False
