"""Every command and public interface is as it was: names, structure, exit status.

Where a change is meant, ``python -m tests.contracts.renew NAME`` keeps it.
"""

import difflib
from pathlib import Path

import pytest

from tests.contracts.interfaces import INTERFACES
from tests.contracts.observed import READERS
from tests.contracts.scenarios import GOLDEN, SCENARIOS, House, golden, text_of
from tests.doubles.command import here

QUICK = frozenset({"run", "protocol", "fuzz", "expect", "preflight", "replay"}) | {
    name for name in SCENARIOS if name.startswith("list-")
}
FORMATS = {
    "json": "summary.json",
    "junit": "junit.xml",
    "sarif": "report.sarif",
    "markdown": "summary.md",
    "html": "report.html",
}


def difference(name, seen):
    """How what was seen differs from what is kept, line by line; "" where it does not."""
    lines = [text_of(one).splitlines() for one in (golden(name), seen)]
    return "\n".join(difflib.unified_diff(*lines, "kept", "seen", lineterm="", n=5))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return House(tmp_path_factory.mktemp("house"))


@pytest.mark.parametrize(
    "name",
    [one if one in QUICK else pytest.param(one, marks=pytest.mark.thorough) for one in SCENARIOS],
)
def test_a_command_comes_to_what_it_came_to(name, house):
    told = difference(name, house.look(name))
    assert not told, f"if it is meant: python -m tests.contracts.renew {name}\n{told}"


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_is_printed_as_it_stands_in_the_folder(name, house):
    kept = house.look("run")[FORMATS[name]]
    done = here("report", "run", "--format", name, folder=house.folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert READERS[Path(FORMATS[name]).suffix](done.stdout) == kept


def test_annotations_are_lines_for_github(house):
    house.look("run")
    told = here("report", "run", "--format", "annotations", folder=house.folder).stdout
    assert told.count("::error ") >= 2
    assert all(line.startswith("::") for line in told.splitlines())


@pytest.mark.parametrize("name", INTERFACES)
def test_an_interface_is_what_it_was(name):
    told = difference(name, INTERFACES[name]())
    assert not told, f"if it is meant: python -m tests.contracts.renew {name}\n{told}"


def test_every_golden_file_is_of_something_and_a_difference_shows():
    assert {path.stem for path in GOLDEN.glob("*.json")} == SCENARIOS.keys() | INTERFACES.keys()
    options = golden("options")
    options["run"].remove("--budget <str>")
    assert '-  "--budget <str>"' in difference("options", options)
